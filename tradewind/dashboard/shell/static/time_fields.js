// Time fields of forms: filled in and read in the time zone of the viewer, sent in UTC. Without this script they are UTC.
import { zoneName } from "./times.js";

const pad = (number) => String(number).padStart(2, "0");

function localText(moment) {
  const day = `${moment.getFullYear()}-${pad(moment.getMonth() + 1)}-${pad(moment.getDate())}`;
  return `${day}T${pad(moment.getHours())}:${pad(moment.getMinutes())}:${pad(moment.getSeconds())}`;
}

export function offerLocalTimes(root) {
  for (const field of root.querySelectorAll("input[type=datetime-local]:not([data-local])")) {
    const moment = field.value ? new Date(`${field.value}Z`) : null;
    field.dataset.local = "";
    if (moment && !Number.isNaN(moment.getTime())) field.value = localText(moment);
    const zone = root.querySelector(`label[for="${CSS.escape(field.id)}"] .field-zone`);
    if (zone) zone.textContent = zoneName(moment ?? new Date());
  }
}

document.addEventListener("formdata", (event) => {
  for (const field of event.target.querySelectorAll("input[data-local][name]")) {
    const moment = field.value ? new Date(field.value) : null;
    if (moment && !Number.isNaN(moment.getTime())) event.formData.set(field.name, `${moment.toISOString().slice(0, 19)}Z`);
  }
});
