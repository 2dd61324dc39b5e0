// Copy buttons: hidden until the clipboard is available.
export function offerCopies(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = !navigator.clipboard;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  if (!button) return;
  let label = "Copied";
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    label = "Not allowed";
  }
  button.textContent = label;
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});
