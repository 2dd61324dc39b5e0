// Keyboard shortcuts: "/" and Ctrl-K (or Command-K) go to the search.
export function listenForShortcuts() {
  document.addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, select, textarea, [contenteditable]");
    const slash = event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey;
    const ctrlK = event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.altKey;
    const search = document.querySelector("#search");
    if (!search || !(slash || ctrlK)) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}
