// The running total of a product page: pieces, their price, and what is missing to a better one.
const number = new Intl.NumberFormat("en");
const amount = new Intl.NumberFormat("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const money = (fen) => `CNY ${amount.format(fen / 100)}`;
const pieces = (count) => `${number.format(count)} ${count === 1 ? "piece" : "pieces"}`;

function chosen(form) {
  return [...form.querySelectorAll("input[name^='pieces[']")]
    .map((input) => ({ input, count: /^\d{1,7}$/.test(input.value.trim()) ? Number(input.value) : 0 }));
}

function note(form, count, ranges) {
  const minimum = Number(form.dataset.minimum);
  if (count < minimum) return `before freight; ${number.format(minimum - count)} more for the minimum order of ${number.format(minimum)}`;
  const next = ranges.find(([from]) => from > count);
  if (!next) return "before freight";
  const missing = next[0] - count;
  return `before freight; ${number.format(missing)} more ${missing === 1 ? "piece reaches" : "pieces reach"} the ${money(next[1])} price`;
}

function show(form) {
  const ranges = JSON.parse(form.dataset.ranges).sort((one, other) => one[0] - other[0]);
  const lines = chosen(form);
  const count = lines.reduce((sum, line) => sum + line.count, 0);
  const reached = ranges.filter(([from]) => from <= count).pop() ?? ranges[0];
  const total = lines.reduce((sum, line) => {
    if (!line.count) return sum;
    const price = line.input.dataset.price ?? reached?.[1];
    return price === undefined ? NaN : sum + line.count * Number(price);
  }, 0);
  const [strong, soft] = ["strong", "span"].map((name) => document.createElement(name));
  soft.className = "soft";
  strong.textContent = count ? `${pieces(count)}${Number.isNaN(total) ? "" : ` · ${money(total)}`}` : "No pieces chosen";
  soft.textContent = count ? note(form, count, ranges) : "Enter how many pieces you want of each variant.";
  form.querySelector("[data-total]").replaceChildren(strong, " ", soft);
  for (const { input } of lines) {
    const isWrong = input.value.trim() !== "" && !/^\d{1,7}$/.test(input.value.trim());
    if (isWrong) input.setAttribute("aria-invalid", "true"); else input.removeAttribute("aria-invalid");
  }
}

export function countPieces(root) {
  for (const form of root.querySelectorAll("form[data-pieces]")) {
    for (const button of form.querySelectorAll("[data-without-script]")) button.hidden = true;
    show(form);
    form.addEventListener("input", () => show(form));
  }
}
