// Prepares a page, or a fragment swapped into it: times, copy buttons and "select all".
import { offerCopies } from "./copy.js";
import { offerSelectAll } from "./select.js";
import { showTimes } from "./times.js";

export function prepare(root) {
  showTimes(root);
  offerCopies(root);
  offerSelectAll(root);
}
