// Marks what a live update changed: cells, figures and entries, not whole regions.
const UNITS = "td, dd, .needs li, .timeline > li, .side a";

// Times that only grow older are no change.
function textOf(unit) {
  const copy = unit.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
  return copy.textContent.replace(/\s+/g, " ").trim();
}

// What a unit is about, so that a row that moved is not a change.
function keyOf(unit) {
  const row = unit.closest("tr");
  if (row) return `${(row.querySelector("a[href]")?.href ?? row.firstElementChild.textContent)}|${[...row.children].indexOf(unit)}`;
  if (unit.matches("dd")) return `dd|${unit.previousElementSibling?.textContent}`;
  return `${unit.localName}|${unit.querySelector("time")?.dateTime ?? ""}|${unit.closest("a")?.href ?? unit.querySelector("a[href], strong")?.textContent}`;
}

function mark(unit) {
  unit.dataset.changed = "";
  setTimeout(() => { delete unit.dataset.changed; }, 3000);
}

export function markChanges(old, fresh) {
  const before = new Map([...old.querySelectorAll(UNITS)].map((unit) => [keyOf(unit), textOf(unit)]));
  for (const unit of fresh.querySelectorAll(UNITS)) {
    if (before.get(keyOf(unit)) !== textOf(unit)) mark(unit);
  }
}
