// Copy buttons: hidden until they can work, and they say so when they have.
export function offerCopies(root) {
  for (const button of root.querySelectorAll("button[data-copy]")) button.hidden = !navigator.clipboard;
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button[data-copy]");
  if (!button) return;
  let said = "Copied";
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    said = "Not allowed";
  }
  button.textContent = said;
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
});
