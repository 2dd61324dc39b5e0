// Makes a page, or a piece that was swapped into it, ready: its times and its copy buttons.
import { offerCopies } from "./copy.js";
import { showTimes } from "./times.js";

export function dress(root) {
  showTimes(root);
  offerCopies(root);
}
