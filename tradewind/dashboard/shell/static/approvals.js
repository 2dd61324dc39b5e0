// Approvals by keyboard: j and k move, x selects, o opens, a goes to the button that approves.
const amounts = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
let current = -1;

function rows() {
  return [...document.querySelectorAll("tr[data-row]")];
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  current = Math.min(Math.max(current + step, 0), all.length - 1);
  for (const row of all) row.classList.toggle("current", row === all[current]);
  all[current].querySelector("a")?.focus({ preventScroll: true });
  all[current].scrollIntoView({ block: "nearest" });
}

function select() {
  const box = rows()[current]?.querySelector("input[type=checkbox]");
  if (!box) return;
  box.checked = !box.checked;
  box.dispatchEvent(new Event("change", { bubbles: true }));
}

// The button says how many are selected, and how much they are together.
function showSelected() {
  const button = document.querySelector("[data-approve-selected]");
  if (!button) return;
  const boxes = [...document.querySelectorAll("input[data-fen]:checked")];
  const fen = boxes.reduce((sum, box) => sum + Number(box.dataset.fen), 0);
  button.textContent = boxes.length
    ? `Approve ${boxes.length} selected (CNY ${amounts.format(fen / 100)})`
    : "Approve selected";
}

const actions = {
  j: () => move(1),
  k: () => move(-1),
  x: select,
  o: () => rows()[current]?.querySelector("a")?.click(),
  a: () => document.querySelector("[data-approve], [data-approve-selected]")?.focus(),
};

export function listenForApprovals() {
  document.addEventListener("change", showSelected);
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input:not([type=checkbox]), select, textarea, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!document.querySelector("[data-keys]") || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  });
}

export function offerKeys(root) {
  for (const hint of root.querySelectorAll("[data-keys]")) hint.hidden = false;
  showSelected();
}
