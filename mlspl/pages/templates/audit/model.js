"use strict";

// The document that Python wrote into the page, as columns; `pairs.row[i]`, `pairs.label[i]`, … are pair i.
const audit = JSON.parse(document.getElementById("audit").textContent);
const { pairs, labels, items } = audit;
const N_PAIRS = pairs.row.length;
const N_LABELS = labels.name.length;
const itemOf = new Map(items.row.map((row, i) => [row, i]));
const DIRECTIONS = ["missing", "spurious", "unknown"];

const $ = (id) => document.getElementById(id);

// An element with attributes and children. Strings become text nodes: nothing from the data is ever markup.
function make(name, attributes = {}, ...children) {
  const svg = make.svg.has(name);
  const element = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "style") element.style.cssText = value;
    else if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}
make.svg = new Set(["svg", "g", "line", "circle", "rect", "path", "polyline", "text", "title"]);

// Names from the data may change the direction of text: controls are made visible, and the rest is isolated from
// the text beside it (FSI … PDI).
const isolate = (text) => `\u2068${text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd")}\u2069`;
const shownLabels = labels.name.map(isolate);
const labelName = (label) => shownLabels[label];

const whole = (number) => number.toLocaleString("en");
const percent = (share) => {
  if (share === null || share === undefined) return "–";
  const value = 100 * share;
  return `${value > 0 && value < 9.95 ? value.toFixed(1) : Math.round(value)}\u00a0%`;
};
const amount = (value) => {
  if (value === null) return "–";
  if (value !== 0 && (Math.abs(value) < 1e-3 || Math.abs(value) >= 1e6)) return value.toExponential(1);
  return String(Number(value.toPrecision(Math.abs(value) < 0.1 ? 2 : 3))).replace("-", "−");
};
const plural = (number, what) => `${whole(number)} ${what}${number === 1 ? "" : "s"}`;

// Typed copies of what the filters look at a hundred thousand times. 0 probably missing, 1 spurious, 2 unknown so far.
const labelAt = Int32Array.from(pairs.label);
const directionAt = Uint8Array.from(pairs.given, (given) => given ?? 2);
// Pairs from here on are the most probable missing labels below the least suspicion; they are listed when asked for.
const FIRST_LOW = audit.low ?? N_PAIRS;

const pairsOfRow = new Map();
pairs.row.forEach((row, pair) => {
  if (pairsOfRow.has(row)) pairsOfRow.get(row).push(pair);
  else pairsOfRow.set(row, [pair]);
});
const suspicionOfRow = new Map([...pairsOfRow].map(([row, those]) =>
  [row, those.reduce((sum, pair) => sum + (pair < FIRST_LOW ? pairs.suspicion[pair] : 0), 0)]));

function rowName(row) {
  const item = itemOf.get(row);
  const id = item === undefined || !items.id ? null : items.id[item];
  return id === null || id === "" ? `row ${row}` : isolate(id);
}

function textOf(row) {
  const item = itemOf.get(row);
  return item === undefined || !items.text ? null : items.text[item];
}

function imageOf(row) {
  const item = itemOf.get(row);
  return item === undefined || !items.image ? null : items.image[item];
}

// The picture of a row, if it has one; a file that is not there leaves its name.
function picture(row) {
  const source = imageOf(row);
  if (!source) return null;
  const image = make("img", { src: source, alt: `Picture of ${rowName(row)}`, loading: "lazy", decoding: "async" });
  image.addEventListener("error", () => image.replaceWith(make("span", { class: "absent" }, "no picture")));
  return image;
}

function announce(text) {
  $("said").textContent = text;
  $("said").classList.add("fresh");
  clearTimeout(announce.timer);
  announce.timer = setTimeout(() => $("said").classList.remove("fresh"), 4000);
}
