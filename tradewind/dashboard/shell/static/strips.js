// Scrolls the navigation strips of narrow screens to the current page.
export function scrollToCurrent(root) {
  for (const strip of root.querySelectorAll(".side, .tabs")) {
    const current = strip.querySelector("[aria-current]");
    if (current) strip.scrollLeft += current.getBoundingClientRect().left - strip.getBoundingClientRect().left - (strip.clientWidth - current.offsetWidth) / 2;
  }
}
