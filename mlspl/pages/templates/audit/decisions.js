// What the reviewer decided: kept in the browser under the fingerprint of the data, undone, exported, imported.
const STATUS = ["open", "accepted", "rejected", "unsure"];
const STORE = `mlspl-audit:${audit.fingerprint}`;
const COLUMNS = ["fingerprint", "row", "id", "label", "given", "suggested", "suspicion", "decision", "options"];
const keyOf = (row, label) => row * N_LABELS + label;
const pairOf = new Map(Array.from({ length: N_PAIRS }, (_, i) => [keyOf(pairs.row[i], pairs.label[i]), i]));

const status = new Uint8Array(N_PAIRS);
const counts = [N_PAIRS, 0, 0, 0];
// Decisions on pairs that this page does not list, from an earlier audit of the same data: kept and exported too.
const elsewhere = new Map();
const undoable = [];

function setStatus(pair, code) {
  counts[status[pair]] -= 1;
  counts[code] += 1;
  status[pair] = code;
}

// One step, of one or many pairs, that `undo` takes back as a whole.
function decide(changes) {
  const real = changes.filter(([pair, code]) => status[pair] !== code);
  if (!real.length) return;
  undoable.push(real.map(([pair]) => [pair, status[pair]]));
  for (const [pair, code] of real) setStatus(pair, code);
  saveSoon();
}

function undo() {
  const step = undoable.pop();
  if (!step) return null;
  for (const [pair, code] of step) setStatus(pair, code);
  saveSoon();
  return step[0][0];
}

function saveSoon() {
  clearTimeout(saveSoon.timer);
  saveSoon.timer = setTimeout(save, 200);
}

function save() {
  clearTimeout(saveSoon.timer);
  saveSoon.timer = undefined;
  const kept = {};
  for (const [key, record] of elsewhere) kept[key] = record;
  for (let i = 0; i < N_PAIRS; i++) {
    if (status[i]) kept[keyOf(pairs.row[i], pairs.label[i])] = [status[i], pairs.given[i], pairs.suggested[i]];
  }
  try {
    localStorage.setItem(STORE, JSON.stringify(kept));
  } catch {
    announce("This browser does not keep your decisions. Export them before you leave the page.");
  }
}

function restore() {
  let kept = {};
  try {
    kept = JSON.parse(localStorage.getItem(STORE) ?? "{}");
  } catch {
    announce("Earlier decisions could not be read from this browser.");
  }
  for (const [key, record] of Object.entries(kept)) {
    const pair = pairOf.get(Number(key));
    if (!Array.isArray(record) || !STATUS[record[0]]) continue;
    if (pair === undefined) elsewhere.set(Number(key), record);
    else setStatus(pair, record[0]);
  }
}

// Spreadsheets run what begins like a formula; an apostrophe in front makes it text.
const safeCell = (text) => ((/^[\t\r]/.test(text) || /^\s*[=+\-@＝＋－＠]/.test(text)) && Number.isNaN(Number(text)) ? `'${text}` : text);
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function decisionsCsv() {
  const lines = [COLUMNS.join(",")];
  const add = (row, label, given, suggested, suspicion, code) => {
    const id = itemOf.has(row) && items.id ? (items.id[itemOf.get(row)] ?? "") : "";
    const cells = [audit.fingerprint, row, safeCell(id), safeCell(labels.name[label])];
    // The first line alone tells how the file was read.
    cells.push(given ?? "", suggested, suspicion ?? "", STATUS[code], lines.length > 1 ? "" : safeCell(JSON.stringify(audit.options ?? [])));
    lines.push(cells.map((cell) => quoted(String(cell))).join(","));
  };
  for (let i = 0; i < N_PAIRS; i++) {
    if (!status[i]) continue;
    add(pairs.row[i], pairs.label[i], pairs.given[i], pairs.suggested[i], pairs.suspicion[i], status[i]);
  }
  for (const [key, [code, given, suggested]] of elsewhere) {
    add(Math.floor(key / N_LABELS), key % N_LABELS, given, suggested, null, code);
  }
  return lines.join("\n") + "\n";
}

function parseCsv(text) {
  const rows = [];
  let row = [], cell = "", inside = false;
  for (let i = text.startsWith("\ufeff") ? 1 : 0; i < text.length; i++) {
    const sign = text[i];
    if (inside) {
      if (sign !== '"') cell += sign;
      else if (text[i + 1] === '"') { cell += '"'; i += 1; }
      else inside = false;
    } else if (sign === '"' && !cell) inside = true;
    else if (sign === "," || sign === "\n") {
      row.push(cell.replace(/\r$/, ""));
      cell = "";
      if (sign === "\n") { rows.push(row); row = []; }
    } else cell += sign;
  }
  if (cell || row.length) rows.push([...row, cell]);
  return rows.filter((cells) => cells.length > 1 || cells[0]);
}

// Take decisions from a decisions.csv; an Error says why it is not one of these data.
function importCsv(text) {
  const [head = [], ...rows] = parseCsv(text);
  const at = Object.fromEntries(COLUMNS.map((name) => [name, head.indexOf(name)]));
  for (const name of ["fingerprint", "row", "label", "decision"]) {
    if (at[name] < 0) throw new Error(`There is no column ${name}: this is no decisions.csv.`);
  }
  const labelOf = new Map(labels.name.map((name, j) => [safeCell(name), j]));
  const changes = [], others = [];
  rows.forEach((cells, i) => {
    if (cells[at.fingerprint] !== audit.fingerprint) throw new Error("These decisions were made for other data.");
    const code = STATUS.indexOf(cells[at.decision]);
    const label = labelOf.get(cells[at.label]) ?? labelOf.get(safeCell(cells[at.label]));
    const row = Number(cells[at.row]);
    if (code < 1 || label === undefined || !Number.isInteger(row)) throw new Error(`Line ${i + 2} is no decision.`);
    const pair = pairOf.get(keyOf(row, label));
    const number = (name) => (at[name] < 0 || cells[at[name]] === "" ? null : Number(cells[at[name]]));
    if (pair !== undefined) changes.push([pair, code]);
    else others.push([keyOf(row, label), [code, number("given"), number("suggested")]]);
  });
  for (const [key, record] of others) elsewhere.set(key, record);
  decide(changes);
  saveSoon();
  return changes.length + others.length;
}

// Wilson's interval of a share.
function interval(hits, total) {
  const z = 1.96, p = hits / total, d = 1 + (z * z) / total;
  const centre = (p + (z * z) / (2 * total)) / d;
  const half = (z / d) * Math.sqrt((p * (1 - p)) / total + (z * z) / (4 * total * total));
  return [Math.max(0, centre - half), Math.min(1, centre + half)];
}
