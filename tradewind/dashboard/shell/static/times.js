// Shows times in the time zone of the viewer, and tells the server which zone that is.
// Their title has the exact time with the zone, and in UTC. Times of the class `ago` are relative ("5 min ago"; of the class
// `due` are "now" for half a minute), those of the class `clock` are a time of day if they are today, those of the class `day` are a date.
const exact = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit",
});
const zoned = new Intl.DateTimeFormat(undefined, {
  year: "numeric", month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZoneName: "short",
});
const timeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const zonedTimeOfDay = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
const date = new Intl.DateTimeFormat(undefined, { year: "numeric", month: "short", day: "numeric" });
const dayAndMonth = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const weekday = new Intl.DateTimeFormat(undefined, { weekday: "short" });
const { timeZone } = zoned.resolvedOptions();
const UNITS = [["d", 86400], ["h", 3600], ["min", 60], ["s", 1]];
const OLD = 7 * 86400;

export function zoneName(moment = new Date()) {
  return zoned.formatToParts(moment).find((part) => part.type === "timeZoneName").value;
}

function relative(seconds) {
  if (seconds === 0) return "now";
  const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length);
  const amount = `${Math.floor(Math.abs(seconds) / size)} ${unit}`;
  return seconds > 0 ? `in ${amount}` : `${amount} ago`;
}

function textOf(element, moment, now) {
  const seconds = Math.round((moment - now) / 1000);
  if (element.classList.contains("due") && seconds < 0 && seconds > -30) return "now";
  if (element.classList.contains("ago") && Math.abs(seconds) <= OLD) return relative(seconds);
  if (element.classList.contains("day")) return date.format(moment);
  const isToday = moment.toDateString() === new Date(now).toDateString();
  if (element.classList.contains("clock") && isToday) return timeOfDay.format(moment);
  // A table has no room for the zone in every row; the sidebar names it.
  return (element.closest("td, .timeline, .needs") ? exact : zoned).format(moment);
}

function showTime(element, now) {
  const moment = new Date(element.dateTime);
  if (Number.isNaN(moment.getTime())) return;
  const text = textOf(element, moment, now);
  if (element.textContent !== text) element.textContent = text;
  element.dataset.utc ??= element.title;
  element.title = `${zoned.format(moment)} · ${element.dataset.utc}`;
}

function showChartTime(label) {
  const moment = new Date(label.dataset.moment);
  const format = label.closest("[data-time-format]")?.dataset.timeFormat;
  if (label.localName !== "title") {
    const time = timeOfDay.format(moment);
    label.textContent = format === "week" ? dayAndMonth.format(moment) : format === "weekday" ? `${weekday.format(moment)} ${time}` : time;
    return;
  }
  const time = zonedTimeOfDay.format(moment);
  const name = format === "week" ? `Week of ${date.format(moment)}` : format === "weekday" ? `${weekday.format(moment)} ${time}` : time;
  label.textContent = `${name}: ${label.dataset.figures}`;
}

export function showTimes(root) {
  const now = Date.now();
  for (const element of root.querySelectorAll("time[datetime]")) showTime(element, now);
  for (const label of root.querySelectorAll("[data-moment]")) showChartTime(label);
  for (const label of root.querySelectorAll("[data-zone]")) label.textContent = label.dataset.zone === "long" ? `${timeZone} (${zoneName()})` : zoneName();
}

// The server groups by day and week in the zone of this cookie.
if (timeZone) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  document.cookie = `tradewind_zone=${timeZone}; Path=/; Max-Age=31536000; SameSite=Lax${secure}`;
}
setInterval(() => showTimes(document), 15000);
