// Province, city and district as lists that depend on each other. Without this they are text fields.
const LEVELS = ["province", "city", "district"];
const OTHER = "\u0000other";

class Divisions {
  constructor(group, names) {
    this.group = group;
    this.names = names;
    this.show(0, LEVELS.map((level) => this.field(level).value));
    group.addEventListener("change", (event) => this.changed(event.target));
  }

  field(level) {
    return this.group.querySelector(`[name="${level}"]`);
  }

  // The names of a level below what is chosen; none where people have to type.
  namesOf(index) {
    const [province, city] = LEVELS.map((level) => this.field(level).value);
    if (index === 0) return Object.keys(this.names);
    const cities = this.names[province] ?? {};
    return index === 1 ? Object.keys(cities) : (cities[city] ?? []);
  }

  // Show this level and those below it with these values.
  show(from, values) {
    for (let index = from; index < LEVELS.length; index += 1) {
      const names = this.namesOf(index);
      const isOpen = index === 0 || this.field(LEVELS[index - 1]).value !== "";
      let value = values[index] ?? "";
      if (!value && names.length === 1) [value] = names;
      if (!value && index === 2 && names.length === 0) value = this.field("city").value;
      if (names.length || !isOpen) this.showList(index, names, value);
      else this.showText(index, value);
    }
  }

  showList(index, names, value) {
    const select = document.createElement("select");
    select.append(new Option("Choose…", ""));
    for (const name of names) select.append(new Option(name, name));
    // What was saved or typed stays, also if the list does not have it.
    if (value && !names.includes(value)) select.append(new Option(value, value));
    if (index === 2 && names.length) select.append(new Option("Other…", OTHER));
    select.value = value;
    this.replace(index, select);
  }

  showText(index, value) {
    const input = document.createElement("input");
    input.type = "text";
    input.maxLength = 50;
    input.autocomplete = "off";
    input.value = value;
    this.replace(index, input);
    return input;
  }

  replace(index, field) {
    const old = this.field(LEVELS[index]);
    field.name = old.name;
    field.id = old.id;
    field.required = old.required;
    for (const name of ["aria-describedby", "aria-invalid"]) {
      if (old.hasAttribute(name)) field.setAttribute(name, old.getAttribute(name));
    }
    const hadFocus = document.activeElement === old;
    old.replaceWith(field);
    if (hadFocus) field.focus();
  }

  changed(field) {
    const index = LEVELS.indexOf(field.name);
    if (index < 0) return;
    if (field.value === OTHER) this.showText(index, "").focus();
    else this.show(index + 1, []);
  }
}

export async function offerDivisions(root) {
  for (const group of root.querySelectorAll("[data-divisions]")) {
    const response = await fetch(group.dataset.divisions);
    if (response.ok) new Divisions(group, await response.json());
  }
}
