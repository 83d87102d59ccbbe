"use strict";

// Filters: what names data sets or methods is hidden unless it names the chosen one.
const filters = document.querySelector(".filters");

function filter() {
  const chosen = {
    datasets: filters.elements.dataset.value,
    methods: filters.elements.method.value,
  };
  for (const element of document.querySelectorAll("[data-datasets], [data-methods]")) {
    element.hidden = Object.entries(chosen).some(([name, value]) => {
      const names = element.dataset[name];
      return value && names !== undefined && !names.split("|").includes(value);
    });
  }
}
filters.addEventListener("change", filter);
filters.addEventListener("submit", (event) => event.preventDefault());

// Sorting: a tbody is what moves; a number or a word sorts it, and what has none is last.
function key(body, column) {
  const text = body.querySelector(`[data-column="${column}"]`)?.dataset.sort ?? "";
  return text !== "" && !isNaN(text) ? Number(text) : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b));
}

function sort(header) {
  const table = header.closest("table");
  const column = header.dataset.column;
  const numbers = header.classList.contains("value");
  const before = header.ariaSort;
  const order = before ? (before === "descending" ? 1 : -1) : numbers ? -1 : 1;
  for (const other of table.querySelectorAll("th[aria-sort]")) {
    other.removeAttribute("aria-sort");
  }
  header.ariaSort = order > 0 ? "ascending" : "descending";
  const keyed = [...table.tBodies].map((body) => [key(body, column), body]);
  keyed.sort(([a], [b]) => (a === "") - (b === "") || order * compare(a, b));
  table.append(...keyed.map(([, body]) => body));
}
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => sort(button.closest("th")));
}

// A link to a record opens it.
function open() {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (place?.tagName === "DETAILS") {
    place.open = true;
    place.scrollIntoView();
  }
}
addEventListener("hashchange", open);
open();
