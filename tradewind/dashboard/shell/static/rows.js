// Rows of tables open the page they are about when they are clicked. The keyboard uses the link itself: the one in the first
// cell (after a checkbox), or the only button of the row.
const LINK = "td:first-child a[href], td.tight:first-child + td a[href], td.tight:last-child > a.button";

export function offerRows(root) {
  for (const row of root.querySelectorAll("tbody tr")) {
    if (row.querySelector(LINK)) row.classList.add("opens");
  }
}

document.addEventListener("click", (event) => {
  const row = event.target.closest?.("tr.opens");
  if (!row || event.button !== 0 || event.defaultPrevented) return;
  if (event.target.closest("a, button, input, label, select, textarea, summary, details, dialog")) return;
  if (!document.getSelection().isCollapsed) return;
  const { href } = row.querySelector(LINK);
  if (event.ctrlKey || event.metaKey) open(href, "_blank", "noopener");
  else location.href = href;
});
