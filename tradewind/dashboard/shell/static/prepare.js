// Prepares a page, or a fragment swapped into it: times, copy buttons, "select all", pictures.
import { offerCopies } from "./copy.js";
import { preparePictureSearch } from "./picture_search.js";
import { offerSelectAll } from "./select.js";
import { showTimes } from "./times.js";

export function prepare(root) {
  showTimes(root);
  offerCopies(root);
  offerSelectAll(root);
  preparePictureSearch(root);
}
