// Tables whose heads sort them.

function key(row, column) {
  const cell = row.cells[column];
  const number = cell.classList.contains("number") && cell.textContent.replace("−", "-").match(/^[+-]?[\d.]+/);
  return number ? Number(number[0]) : cell.textContent;
}

function order(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), "en", { numeric: true });
}

function sortBy(head) {
  const first = head.dataset.first ?? "ascending";
  const other = first === "ascending" ? "descending" : "ascending";
  const direction = head.getAttribute("aria-sort") === first ? other : first;
  for (const cell of head.parentElement.cells) cell.setAttribute("aria-sort", "none");
  head.setAttribute("aria-sort", direction);
  const sign = direction === "ascending" ? 1 : -1;
  const body = head.closest("table").tBodies[0];
  const rows = [...body.rows].map((row) => [key(row, head.cellIndex), row]);
  // What has no number stays last in either direction.
  const missing = ([value]) => head.classList.contains("number") && typeof value !== "number";
  rows.sort((a, b) => missing(a) - missing(b) || sign * order(a[0], b[0]));
  body.append(...rows.map(([, row]) => row));
}

for (const head of document.querySelectorAll("th[aria-sort]")) {
  head.querySelector("button").addEventListener("click", () => sortBy(head));
}
