// Confirmations as dialogs: `details.confirm` opens its form in a dialog over the page, with Cancel. Without this script it unfolds.
export function offerDialogs(root) {
  for (const details of root.querySelectorAll("details.confirm:not([data-dialog])")) {
    const form = details.querySelector(":scope > form");
    const summary = details.querySelector(":scope > summary");
    if (!form || typeof HTMLDialogElement === "undefined") continue;
    const dialog = document.createElement("dialog");
    const title = document.createElement("h2");
    const cancel = document.createElement("button");
    dialog.className = "confirm-dialog";
    dialog.setAttribute("aria-label", summary.textContent.trim());
    Object.assign(cancel, { type: "button", textContent: details.dataset.dismiss ?? "Cancel" });
    cancel.dataset.cancel = "";
    form.before(dialog);
    dialog.append(title, form);
    [...form.querySelectorAll("button")].at(-1).after(" ", cancel);
    details.dataset.dialog = "";
  }
}

function openDialog(details) {
  const dialog = details.querySelector("dialog");
  details.open = true;
  dialog.querySelector("h2").textContent = dialog.getAttribute("aria-label");
  if (!dialog.open) dialog.showModal();
  // The first thing to fill in, else Cancel: nothing is done by pressing Enter once too often.
  (dialog.querySelector("[aria-invalid=true], input:not([type=hidden]), select, textarea") ?? dialog.querySelector("[data-cancel]"))?.focus();
}

document.addEventListener("click", (event) => {
  const summary = event.target.closest?.("details.confirm[data-dialog] > summary");
  if (summary) {
    event.preventDefault();
    openDialog(summary.parentElement);
    return;
  }
  const dialog = event.target.closest?.("dialog.confirm-dialog");
  if (dialog && (event.target === dialog || event.target.closest("[data-cancel]"))) {
    event.preventDefault();
    dialog.close();
  }
});

// Escape, Cancel and a click beside it all end here. The browser returns the focus to the button, and reports
// the end a moment later: by then the dialog may be open again.
document.addEventListener("close", (event) => {
  if (!event.target.matches?.("dialog.confirm-dialog") || event.target.open) return;
  event.target.querySelector("h2").textContent = "";
  event.target.parentElement.open = false;
}, true);

// A form that was rejected comes back open.
export function openRejected() {
  const details = document.querySelector("details.confirm[data-dialog][open]");
  if (details) openDialog(details);
}
