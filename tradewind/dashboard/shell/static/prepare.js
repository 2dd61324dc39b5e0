// Prepares a page, or a fragment swapped into it: times, time fields, dialogs, rows, copy buttons, "select all", keys, pictures, totals.
import { offerKeys } from "./approvals.js";
import { offerCopies } from "./copy.js";
import { offerDialogs } from "./dialogs.js";
import { preparePictureSearch } from "./picture_search.js";
import { countPieces } from "./pieces.js";
import { offerRows } from "./rows.js";
import { offerSelectAll } from "./select.js";
import { submitOnChange } from "./submit_on_change.js";
import { offerLocalTimes } from "./time_fields.js";
import { showTimes } from "./times.js";

export function prepare(root) {
  showTimes(root);
  offerLocalTimes(root);
  offerDialogs(root);
  offerRows(root);
  offerCopies(root);
  offerSelectAll(root);
  offerKeys(root);
  preparePictureSearch(root);
  countPieces(root);
  submitOnChange(root);
}
