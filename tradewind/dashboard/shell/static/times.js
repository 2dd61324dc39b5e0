// Shows times in the time zone of the viewer; the exact UTC time is their title.
// Times of the class `ago` are relative ("5 min ago"; of the class `due` never in the past), those of the class `clock` are
// a time of day if they are today.
const exact = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});
const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
const OLD = 7 * 86400;

function relative(seconds) {
  if (seconds === 0) return "now";
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  const amount = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds > 0 ? `in ${amount}` : `${amount} ago`;
}

function textOf(element, now) {
  const moment = new Date(element.dateTime);
  if (Number.isNaN(moment.getTime())) return element.textContent;
  const seconds = Math.round((moment - now) / 1000);
  if (element.classList.contains("due") && seconds < 0) return "now";
  if (element.classList.contains("ago") && Math.abs(seconds) <= OLD) return relative(seconds);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  return element.classList.contains("clock") && isToday ? timeOfDay.format(moment) : exact.format(moment);
}

export function showTimes(root) {
  const now = Date.now();
  for (const element of root.querySelectorAll("time[datetime]")) {
    const text = textOf(element, now);
    if (element.textContent !== text) element.textContent = text;
  }
  for (const label of root.querySelectorAll("text[data-moment]")) {
    const moment = new Date(label.dataset.moment);
    const time = timeOfDay.format(moment);
    label.textContent = label.closest("[data-range=week]") ? `${weekday.format(moment)} ${time}` : time;
  }
}

setInterval(() => showTimes(document), 15000);
