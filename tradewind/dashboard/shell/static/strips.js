// Strips that scroll sideways on narrow screens begin where one is.
export function showHere(root) {
  for (const strip of root.querySelectorAll(".side, .tabs")) {
    const here = strip.querySelector("[aria-current]");
    if (here) strip.scrollLeft += here.getBoundingClientRect().left - strip.getBoundingClientRect().left - (strip.clientWidth - here.offsetWidth) / 2;
  }
}
