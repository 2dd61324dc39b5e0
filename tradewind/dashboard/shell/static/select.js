// "Select all" checkboxes: hidden until they can work, and in step with the rows of their form.
function boxesOf(all) {
  const form = CSS.escape(all.dataset.selectAll);
  return [...document.querySelectorAll(`input[type=checkbox][form="${form}"]`)];
}

function showState(all) {
  const boxes = boxesOf(all);
  const selected = boxes.filter((box) => box.checked).length;
  all.hidden = boxes.length === 0;
  all.checked = selected > 0 && selected === boxes.length;
  all.indeterminate = selected > 0 && selected < boxes.length;
}

export function offerSelectAll(root) {
  for (const all of root.querySelectorAll("input[data-select-all]")) showState(all);
}

document.addEventListener("change", (event) => {
  const all = event.target.closest?.("input[data-select-all]");
  if (all) for (const box of boxesOf(all)) box.checked = all.checked;
  offerSelectAll(document);
});
