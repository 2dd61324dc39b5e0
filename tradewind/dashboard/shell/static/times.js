// Times in the viewer's zone; the exact UTC is their title. Those with the class `ago` count.
const exact = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
// Under the bars of a chart.
const hour = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];
const OLD = 7 * 86400;

function said(element, now) {
  const moment = new Date(element.dateTime);
  if (Number.isNaN(moment.getTime())) return element.textContent;
  const seconds = Math.round((moment - now) / 1000);
  if (!element.classList.contains("ago") || Math.abs(seconds) > OLD) return exact.format(moment);
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? UNITS.at(-1);
  return relative.format(Math.trunc(seconds / size), unit);
}

export function showTimes(root) {
  const now = Date.now();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const text = said(element, now);
    if (element.textContent !== text) element.textContent = text;
  }
  for (const label of root.querySelectorAll("text[data-moment]")) {
    const moment = new Date(label.dataset.moment);
    const time = hour.format(moment);
    label.textContent = label.closest("[data-span=week]") ? `${day.format(moment)} ${time}` : time;
  }
}

setInterval(() => showTimes(document), 15000);
