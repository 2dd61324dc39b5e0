// Live updates: when something changed, fetches the page again and swaps the elements marked `data-live`.
import { markChanges } from "./changes.js";
import { prepare } from "./prepare.js";

const RETRY_SECONDS = 5;

let fetching = false;
let fetchAgain = false;
let retry = null;

// An element in use is not swapped: typing, checked boxes, selected text, an open confirmation.
function isInUse(element) {
  const active = document.activeElement;
  const typing = active && element.contains(active) && active.matches("input, select, textarea");
  const chosen = element.querySelector("input[type=checkbox]:checked:not([checked])");
  const selection = document.getSelection();
  const selecting = selection && !selection.isCollapsed && element.contains(selection.anchorNode);
  return typing || chosen || selecting || element.querySelector("details.confirm[open]");
}

// Which of the details inside are open; those with an id may have moved.
function openStates(element) {
  const states = new Map([...element.querySelectorAll("details")].map((details, index) => [details.id || index, details.open]));
  return (details, index) => states.get(details.id || index);
}

function focusWithin(element) {
  if (!element.contains(document.activeElement)) return null;
  const able = "a[href], button, summary, [tabindex]";
  const index = [...element.querySelectorAll(able)].indexOf(document.activeElement);
  return (fresh) => (index < 0 ? fresh : fresh.querySelectorAll(able)[index] ?? fresh).focus({ preventScroll: true });
}

// A message about the last thing that was done ("another person must approve it") ends with the status it speaks of.
function endMessages(old, fresh) {
  if (old.dataset.status === fresh.dataset.status) return;
  for (const message of document.querySelectorAll("[data-flash]")) message.remove();
}

function swap(old, fresh) {
  const shown = document.importNode(fresh, true);
  prepare(shown);
  endMessages(old, shown);
  if (shown.innerHTML === old.innerHTML || isInUse(old)) return;
  const open = openStates(old);
  const refocus = focusWithin(old);
  const { scrollLeft, scrollTop } = old;
  // Where everything changes at intervals, nothing stands out.
  if (!old.dataset.refreshSeconds) markChanges(old, shown);
  old.replaceWith(shown);
  shown.querySelectorAll("details").forEach((details, index) => { details.open = open(details, index) ?? details.open; });
  Object.assign(shown, { scrollLeft, scrollTop });
  refocus?.(shown);
}

// The server is away or busy. It reported the change already, and does not report it again.
function updateLater() {
  retry = setTimeout(() => { if (!document.hidden) update(); }, 1000 * RETRY_SECONDS);
}

// The page as it is now; null if there is none, perhaps only for a moment.
async function fetchPage() {
  try {
    const response = await fetch(location.href, { headers: { "X-Tradewind-Live": "1" }, credentials: "same-origin" });
    if (response.redirected && new URL(response.url).pathname === "/sign-in") { location.reload(); return null; }
    if (response.status === 429 || response.status >= 500) updateLater();
    return response.ok ? await response.text() : null;
  } catch {
    updateLater();
    return null;
  }
}

async function update() {
  if (fetching) { fetchAgain = true; return; }
  fetching = true;
  clearTimeout(retry);
  try {
    const page = await fetchPage();
    if (page === null) return;
    const fresh = new DOMParser().parseFromString(page, "text/html");
    for (const old of document.querySelectorAll("[data-live][id]")) {
      const replacement = fresh.getElementById(old.id);
      if (replacement) swap(old, replacement);
    }
  } finally {
    fetching = false;
    if (fetchAgain) { fetchAgain = false; update(); }
  }
}

export function listen() {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource("/live");
    source.addEventListener("change", update);
    // From now on no change is missed; one update covers the time since the page was rendered.
    source.addEventListener("watching", () => { if (document.querySelector("[data-live]")) update(); });
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) { source = null; update(); }
    });
  };
  const close = () => { source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close(); else { open(); update(); }
  });
  addEventListener("pagehide", close);
  open();
  // What changes all the time and belongs to nobody, such as rates, is fetched at intervals.
  const refreshed = document.querySelector("[data-refresh-seconds]");
  if (refreshed) setInterval(() => { if (!document.hidden) update(); }, 1000 * refreshed.dataset.refreshSeconds);
}
