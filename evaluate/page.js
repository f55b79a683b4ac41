"use strict";
const data = JSON.parse(document.getElementById("data").textContent);

const number = (value, digits = 3) => value === null || value === undefined ? "" : String(Number(value.toPrecision(digits)));
const whole = value => value === null || value === undefined ? "" : value.toLocaleString("en");
const seconds = value => value === null || value === undefined ? "" : value >= 0.995 ? value.toFixed(2) + " s" : (value * 1e3).toPrecision(3).replace(/e\+?(\d+)/, "e$1") + " ms";
const small = value => value === null || value === undefined ? "" : value.toExponential(1);
const mebibytes = value => value === null || value === undefined ? "" : (value / 1048576).toFixed(1);
const times = value => value === null || value === undefined ? "" : value.toFixed(value < 10 ? 2 : 0) + " ×";
const percent = value => value === null || value === undefined ? "" : Math.round(100 * value) + " %";

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function optionsCell(text) {
  if (!text) return "";
  const button = element("button", {type: "button", title: "copy the options", "aria-label": "copy " + text}, "copy");
  button.addEventListener("click", () => {
    const done = () => { button.textContent = "copied"; setTimeout(() => { button.textContent = "copy"; }, 1500); };
    const select = () => { getSelection().selectAllChildren(button.previousSibling); };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select); else select();
  });
  const fragment = document.createDocumentFragment();
  // A line ends between words, never after the dash of an option.
  const code = element("code");
  text.split(" ").forEach((word, place) => code.append(place ? " " : "", element("span", {}, word)));
  fragment.append(code, button);
  return fragment;
}

// A table whose columns are {key, title, show, kind}; kind: number, name, options, outcome or text. Sorts by click on a head; missing values stay last.
class Table {
  constructor(table, columns, rows, start) {
    this.table = table; this.columns = columns; this.rows = rows; this.visible = rows;
    this.sort = start || {key: columns[0].key, up: true};
    const head = element("tr");
    for (const column of columns) {
      const button = element("button", {type: "button", "data-key": column.key}, column.title);
      button.addEventListener("click", () => this.sortBy(column.key));
      head.append(element("th", {scope: "col", class: column.kind === "number" ? "number" : ""}, button));
    }
    this.body = element("tbody");
    table.append(element("thead", {}, head), this.body);
    this.draw();
  }
  sortBy(key) {
    const column = this.columns.find(column => column.key === key);
    this.sort = {key, up: this.sort.key === key ? !this.sort.up : !column.falling};
    this.draw();
  }
  filter(test) { this.visible = this.rows.filter(test); this.draw(); }
  draw() {
    const {key, up} = this.sort;
    const missing = value => value === null || value === undefined || value === "";
    const ordered = this.visible.map((row, place) => [row, place]).sort(([a, i], [b, j]) => {
      const x = a[key], y = b[key];
      if (missing(x) || missing(y)) return missing(x) - missing(y) || i - j;
      const order = typeof x === "number" ? x - y : String(x).localeCompare(String(y), "en", {numeric: true});
      return (up ? order : -order) || i - j;
    });
    this.table.querySelectorAll("thead th").forEach((head, place) => {
      if (this.columns[place].key === key) head.setAttribute("aria-sort", up ? "ascending" : "descending"); else head.removeAttribute("aria-sort");
    });
    this.body.replaceChildren(...ordered.map(([row]) => element("tr", {}, ...this.columns.map((column, place) => this.cell(row, column, place)))));
  }
  cell(row, column, place) {
    const value = row[column.key];
    if (column.kind === "outcome") return element("td", {}, element("span", {class: "badge " + value}, value));
    if (column.kind === "options") return element("td", {class: "options"}, optionsCell(value));
    const text = column.show ? column.show(value, row) : value ?? "";
    if (place === 0) return element("th", {scope: "row"}, text);
    return element("td", {class: column.kind || ""}, text);
  }
}

const holds = (row, keys, text) => text.toLowerCase().split(/\s+/).every(word => keys.some(key => String(row[key] ?? "").toLowerCase().includes(word)));

const recommendations = new Table(document.getElementById("recommendations"), [
  {key: "problem", title: "Problem"},
  {key: "rows", title: "Rows", kind: "number", show: whole},
  {key: "structure", title: "Structure"},
  {key: "options", title: "Options to take", kind: "options"},
  {key: "seconds", title: "Time", kind: "number", show: seconds},
  {key: "iterations", title: "Iterations", kind: "number", show: whole},
  {key: "ties", title: "As fast", kind: "name", show: value => value.join(", ")},
  {key: "baseline_ratio", title: "Gain", kind: "number", show: times, falling: true},
  {key: "next", title: "Next best", kind: "name", show: (value, row) => value ? value + " (" + seconds(row.next_seconds) + ")" : row.nearest ? "nothing solved it; nearest " + row.nearest : row.configuration ? "" : "nothing solved it"},
  {key: "solved", title: "Solved by", kind: "number", show: (value, row) => value + " of " + row.tried, falling: true},
], data.recommendations);
document.getElementById("find-recommended").addEventListener("input", event =>
  recommendations.filter(row => holds(row, ["problem", "structure", "options", "configuration"], event.target.value)));

new Table(document.getElementById("kinds"), [
  {key: "group", title: "Kind of problem"},
  {key: "problems", title: "Problems", kind: "number", show: whole, falling: true},
  {key: "solvable", title: "Solved by any", kind: "number", show: whole, falling: true},
  {key: "options", title: "Best options", kind: "options"},
  {key: "solves", title: "They solve", kind: "number", show: whole, falling: true},
  {key: "speed", title: "Speed", kind: "number", show: percent, falling: true},
  {key: "ties", title: "As fast", kind: "name", show: value => value.join(", ")},
  {key: "surest", title: "Solves most", kind: "name", show: (value, row) => value ? value + " (" + row.surest_solves + ", speed " + percent(row.surest_speed) + ")" : "nothing"},
], data.rules);

const cases = new Table(document.getElementById("cases"), [
  {key: "problem", title: "Problem"},
  {key: "rows", title: "Rows", kind: "number", show: whole},
  {key: "nonzeros", title: "Non-zeros", kind: "number", show: whole},
  {key: "configuration", title: "Configuration", kind: "name"},
  {key: "type", title: "Type"},
  {key: "outcome", title: "Outcome", kind: "outcome"},
  {key: "iterations", title: "Iterations", kind: "number", show: whole},
  {key: "residual", title: "Residual", kind: "number", show: small},
  {key: "setup_seconds", title: "Set-up", kind: "number", show: seconds},
  {key: "solve_seconds", title: "Solve", kind: "number", show: seconds},
  {key: "total_seconds", title: "Both", kind: "number", show: seconds},
  {key: "times_fastest", title: "× fastest", kind: "number", show: times},
  {key: "memory_bytes", title: "MiB", kind: "number", show: mebibytes},
  {key: "reason", title: "Reason", kind: "reason"},
], data.rows);

const find = document.getElementById("find"), type = document.getElementById("type"), outcome = document.getElementById("outcome");
for (const [select, key] of [[type, "type"], [outcome, "outcome"]])
  for (const value of [...new Set(data.rows.map(row => row[key]))].sort()) select.append(element("option", {value}, value));
function refilter() {
  cases.filter(row => (!type.value || row.type === type.value) && (!outcome.value || row.outcome === outcome.value) &&
    holds(row, ["problem", "configuration", "type", "outcome", "reason", "options", "structure"], find.value));
  document.getElementById("count").textContent = cases.visible.length.toLocaleString("en") + " of " + data.rows.length.toLocaleString("en");
}
for (const control of [find, type, outcome]) control.addEventListener("input", refilter);
document.getElementById("clear").addEventListener("click", () => { find.value = type.value = outcome.value = ""; refilter(); find.focus(); });
refilter();
