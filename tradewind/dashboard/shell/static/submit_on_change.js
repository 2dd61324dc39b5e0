// Sends a form as soon as one of its fields was changed; its button is for browsers without script.
export function submitOnChange(root) {
  for (const form of root.querySelectorAll("form[data-submit-on-change]")) {
    for (const button of form.querySelectorAll("[data-without-script]")) button.hidden = true;
    form.addEventListener("change", () => form.requestSubmit());
  }
}
