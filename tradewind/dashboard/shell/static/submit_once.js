// Sends each form once: a second press, while the first request is under way, does nothing.
export function submitOnce() {
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if ("submitted" in form.dataset) event.preventDefault();
    form.dataset.submitted = "";
  });
  // A page that the browser shows again, after "back", can be used again.
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-submitted]")) delete form.dataset.submitted;
  });
}
