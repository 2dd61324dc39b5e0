// Live: when something changed, looks at the page again and swaps what is marked `data-live`.
import { dress } from "./dress.js";

let looking = false;
let again = false;

// What a person is in the middle of is left alone: what they type, choose, select or confirm.
function isInUse(element) {
  const active = document.activeElement;
  const typing = active && element.contains(active) && active.matches("input, select, textarea");
  const chosen = element.querySelector("input[type=checkbox]:checked:not([checked])");
  const selection = document.getSelection();
  const selecting = selection && !selection.isCollapsed && element.contains(selection.anchorNode);
  return typing || chosen || selecting || element.querySelector("details.confirm[open]");
}

function openOnes(element) {
  return [...element.querySelectorAll("details")].map((one) => one.open);
}

function focusWithin(element) {
  if (!element.contains(document.activeElement)) return null;
  const able = "a[href], button, summary, [tabindex]";
  const place = [...element.querySelectorAll(able)].indexOf(document.activeElement);
  return (fresh) => (place < 0 ? fresh : fresh.querySelectorAll(able)[place] ?? fresh).focus({ preventScroll: true });
}

function swap(old, fresh) {
  const shown = document.importNode(fresh, true);
  dress(shown);
  if (shown.innerHTML === old.innerHTML || isInUse(old)) return;
  const open = openOnes(old);
  const refocus = focusWithin(old);
  const { scrollLeft } = old;
  old.replaceWith(shown);
  shown.querySelectorAll("details").forEach((one, at) => { one.open = open[at] ?? one.open; });
  shown.scrollLeft = scrollLeft;
  shown.classList.add("swapped");
  refocus?.(shown);
}

async function look() {
  if (looking) { again = true; return; }
  looking = true;
  try {
    const answer = await fetch(location.href, { headers: { "X-Tradewind-Live": "1" }, credentials: "same-origin" });
    if (answer.redirected && new URL(answer.url).pathname === "/sign-in") { location.reload(); return; }
    if (!answer.ok) return;
    const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const old of document.querySelectorAll("[data-live][id]")) {
      const found = fresh.getElementById(old.id);
      if (found) swap(old, found);
    }
  } catch {
    // The next change, or the next connection, looks again.
  } finally {
    looking = false;
    if (again) { again = false; look(); }
  }
}

export function listen() {
  let source = null;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource("/live");
    source.addEventListener("change", look);
    // From here on nothing is missed; what changed since the page was made is looked for once.
    source.addEventListener("watching", () => { if (document.querySelector("[data-live]")) look(); });
    source.addEventListener("error", () => {
      if (source?.readyState === EventSource.CLOSED) { source = null; look(); }
    });
  };
  const close = () => { source?.close(); source = null; };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) close(); else { open(); look(); }
  });
  addEventListener("pagehide", close);
  open();
}
