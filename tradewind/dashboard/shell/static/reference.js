// The API reference: search, tabs of languages, copying, and trying operations out. The API key is
// in a variable of this module and nowhere else: following a link replaces the page's content
// without loading another page, so that the key lasts as long as the tab shows the reference.

let language = "curl";
const keyField = document.querySelector("#api-key");

/** Show what works only with JavaScript, in a part of the page that was just put there. */
function prepare(root) {
  for (const each of root.querySelectorAll("[data-key], [data-find], [data-copy], [data-try]")) each.hidden = false;
  for (const samples of root.querySelectorAll("[data-samples]")) addTabs(samples);
  choose(language);
}

function addTabs(samples) {
  const tabs = document.createElement("div");
  tabs.className = "tabs";
  tabs.setAttribute("role", "group");
  tabs.setAttribute("aria-label", "Language");
  for (const section of samples.querySelectorAll("[data-language]")) {
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = section.dataset.language;
    tab.dataset.choose = section.dataset.language;
    tabs.append(tab);
    section.querySelector("h3").hidden = true;
  }
  samples.prepend(tabs);
}

function choose(wanted) {
  language = wanted;
  for (const section of document.querySelectorAll("[data-language]")) section.hidden = section.dataset.language !== wanted;
  for (const tab of document.querySelectorAll("[data-choose]")) tab.setAttribute("aria-pressed", String(tab.dataset.choose === wanted));
}

function find(words) {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const link of document.querySelectorAll(".tree [data-words]")) {
    const text = link.dataset.words.toLowerCase();
    const matches = wanted.every((word) => text.includes(word));
    link.parentElement.hidden = !matches;
    count += matches ? 1 : 0;
  }
  for (const group of document.querySelectorAll(".tree details")) {
    const matches = group.querySelector("li:not([hidden])") !== null;
    group.parentElement.hidden = !matches;
    if (wanted.length > 0) group.open = matches;
    else group.open = group.querySelector(`a[href^="${location.pathname}#"]`) !== null;
  }
  document.querySelector("[data-found]").textContent = wanted.length > 0 ? `${count} found` : "";
}

let opened = 0;

/** Follow a link within the reference without loading another page. */
async function open(url, push) {
  opened += 1;
  const number = opened;
  const response = await fetch(url, { credentials: "same-origin" });
  const text = await response.text();
  // Somebody who went back twice sees the second page, whichever is loaded first.
  if (number !== opened) return;
  if (!response.ok) {
    location.assign(url);
    return;
  }
  const loaded = new DOMParser().parseFromString(text, "text/html");
  if (push) history.pushState(null, "", url);
  document.title = loaded.title;
  document.querySelector("main").replaceWith(loaded.querySelector("main"));
  document.querySelector("[data-markdown]").href = loaded.querySelector("[data-markdown]").href;
  for (const link of document.querySelectorAll(".tree [aria-current]")) link.removeAttribute("aria-current");
  document.querySelector(`.tree a[href="${new URL(url, location.href).pathname}"]`)?.setAttribute("aria-current", "page");
  prepare(document.querySelector("main"));
  scrollToAnchor();
}

function scrollToAnchor() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) target.scrollIntoView();
  else scrollTo(0, 0);
  const main = document.querySelector("main");
  main.focus({ preventScroll: true });
}

/** Send the request of a form, and show the response. */
async function send(form) {
  const panel = form.closest("[data-try]");
  const { method, media } = panel.dataset;
  let path = panel.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of form.querySelectorAll("[data-place]")) {
    const value = field.value.trim();
    if (field.dataset.place === "path") path = path.replace(`{${field.name}}`, encodeURIComponent(value));
    else if (value && field.dataset.place === "query") query.append(field.name, value);
    else if (value) headers[field.name] = value;
  }
  if (keyField.value.trim()) headers["x-api-key"] = keyField.value.trim();
  const body = form.querySelector("[data-body]")?.value ?? form.querySelector("[data-file]")?.files[0];
  if (body) headers["Content-Type"] = media === "application/json" ? media : body.type || "text/csv";
  const target = query.size > 0 ? `${path}?${query}` : path;
  const button = form.querySelector(".send");
  button.disabled = true;
  try {
    const began = performance.now();
    const response = await fetch(target, { method, headers, body: body || undefined, credentials: "omit" });
    const took = Math.round(performance.now() - began);
    show(panel, `${response.status} ${response.statusText} in ${took} ms`, await response.text());
  } catch (error) {
    show(panel, "The request could not be sent.", String(error));
  } finally {
    button.disabled = false;
  }
}

function show(panel, title, text) {
  const result = panel.querySelector("[data-result]");
  const heading = document.createElement("h3");
  heading.textContent = title;
  const code = document.createElement("pre");
  code.tabIndex = 0;
  code.setAttribute("role", "region");
  code.setAttribute("aria-label", "Response");
  code.textContent = pretty(text);
  const box = document.createElement("div");
  box.className = "code";
  box.append(code);
  result.replaceChildren(heading, box);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

document.addEventListener("click", (event) => {
  const tab = event.target.closest("[data-choose]");
  if (tab) choose(tab.dataset.choose);
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    navigator.clipboard.writeText(copy.parentElement.querySelector("pre").textContent);
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  }
  const link = event.target.closest("a[href]");
  const plain = event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
  if (!link || !plain || link.origin !== location.origin || !/^\/docs(\/[a-z0-9-]+)?$/.test(link.pathname)) return;
  event.preventDefault();
  if (link.pathname === location.pathname) {
    history.pushState(null, "", link.href);
    scrollToAnchor();
  } else {
    open(link.href, true);
  }
});
document.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.closest("[data-try]")) send(event.target);
});
document.querySelector("#find").addEventListener("input", (event) => find(event.target.value));
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !event.target.closest("input, textarea, select")) {
    event.preventDefault();
    document.querySelector("#find").focus();
  }
});
addEventListener("popstate", () => open(location.href, false));
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("main .about details")) each.open = true;
});
// Earlier versions of the reference kept a key in the browser's storage.
localStorage.removeItem("authorized");
prepare(document);
