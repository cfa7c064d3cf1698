// Filters, order, keys and tabs: what ties the parts together.
const ORDERS = {
  // What is unknown comes after what is wrong: it is a proposal, not a suspicion.
  "suspicion": (a, b) => (directionAt[a] === 2) - (directionAt[b] === 2) || pairs.suspicion[b] - pairs.suspicion[a],
  "label, then suspicion": (a, b) => rank[pairs.label[a]] - rank[pairs.label[b]] || pairs.suspicion[b] - pairs.suspicion[a],
  "what a review tells most": (a, b) => (tells.get(a) ?? N_PAIRS) - (tells.get(b) ?? N_PAIRS) || pairs.suspicion[b] - pairs.suspicion[a],
  "difficulty, hard first": (a, b) => pairs.difficulty[b] - pairs.difficulty[a],
  "difficulty, easy first": (a, b) => pairs.difficulty[a] - pairs.difficulty[b],
  "row, most suspected first": (a, b) =>
    suspicionOfRow.get(pairs.row[b]) - suspicionOfRow.get(pairs.row[a]) || pairs.row[a] - pairs.row[b] || pairs.suspicion[b] - pairs.suspicion[a],
  "row": (a, b) => pairs.row[a] - pairs.row[b] || pairs.suspicion[b] - pairs.suspicion[a],
};
// Pairs whose review would tell most about the noise in all others, by their place.
const tells = new Map((audit.informative ?? []).map((pair, place) => [pair, place]));
const rank = new Int32Array(N_LABELS);
labels.name.map((_, j) => j)
  .sort((a, b) => labels.name[a].localeCompare(labels.name[b], "en", { numeric: true }))
  .forEach((j, place) => { rank[j] = place; });

const filter = { label: -1, direction: -1, status: -1, order: "suspicion", low: false, found: null };
const orders = new Map();
const phone = matchMedia("(max-width: 48rem)");
const list = new VirtualList($("list"), drawPair, (pair, opened) => openPair(pair, opened));

function sorted(name) {
  if (!orders.has(name)) orders.set(name, Int32Array.from({ length: N_PAIRS }, (_, i) => i).sort(ORDERS[name]));
  return orders.get(name);
}

const inScope = (i) => (filter.low || i < FIRST_LOW) && (!filter.found || filter.found(i));
const passes = (i) =>
  inScope(i) &&
  (filter.label < 0 || labelAt[i] === filter.label) &&
  (filter.direction < 0 || directionAt[i] === filter.direction) &&
  (filter.status < 0 || status[i] === filter.status);

// Show what passes the filters, at this pair if it does, else at this place.
function refresh(pair, place = 0, decided = false) {
  const view = decided && filter.status < 0 ? list.view : sorted(filter.order).filter(passes);
  const found = pair === undefined ? -1 : view.indexOf(pair);
  list.show(view, found >= 0 ? found : place);
  drawDetail($("detail"), view[list.at], answer, move);
  showCounts();
  clearTimeout(refresh.timer);
  // After a decision the next pair comes first, the numbers behind the filters a moment later.
  if (decided) refresh.timer = setTimeout(showChoices, 100);
  else showChoices();
}

function openPair(pair, opened) {
  drawDetail($("detail"), pair, answer, move);
  if (opened && phone.matches) {
    document.body.classList.add("opened");
    $("detail").focus();
  }
}

function move(by) {
  if (by === null) {
    document.body.classList.remove("opened");
    $("list").focus();
  } else list.go(list.at + by, document.body.classList.contains("opened"));
}

// A pressed button takes its answer back; a key that says the same again only goes on.
function answer(code, pressed = false, other = null) {
  if (other !== null) {
    decide([[other, status[other] === code ? 0 : code]]);
    refresh(list.view[list.at], list.at, true);
    announce(`${STATUS[status[other]]}: ${labelName(pairs.label[other])} on ${rowName(pairs.row[other])}.`);
    return;
  }
  const pair = list.view[list.at];
  if (pair === undefined) return;
  const focused = document.activeElement?.dataset?.answer;
  const place = list.at;
  const taken = pressed && status[pair] === code;
  decide([[pair, taken ? 0 : code]]);
  // Where the filter takes the pair away the next one slides into its place.
  const stays = passes(pair);
  refresh(stays && !taken ? list.view[Math.min(place + 1, list.view.length - 1)] : stays ? pair : undefined, place, true);
  if (focused) $("detail").querySelector(`[data-answer=${focused}]`)?.focus();
  announce(`${taken ? "Open again" : STATUS[code][0].toUpperCase() + STATUS[code].slice(1)}: ${labelName(pairs.label[pair])} on ${rowName(pairs.row[pair])}.`);
}

function takeBack() {
  const pair = undo();
  if (pair === null) return;
  refresh(pair, list.at, true);
  announce(`Undone: ${labelName(pairs.label[pair])} on ${rowName(pairs.row[pair])}.`);
}

function showCounts() {
  const reviewed = N_PAIRS - counts[0], decided = counts[1] + counts[2];
  let lowDecided = 0;
  for (let i = FIRST_LOW; i < N_PAIRS; i++) lowDecided += status[i] !== 0;
  const total = filter.low ? N_PAIRS : FIRST_LOW + lowDecided;
  $("progress").max = Math.max(1, total);
  $("progress").value = reviewed;
  $("reviewed").textContent = `${whole(reviewed)} of ${whole(total)} reviewed`;
  if (decided) {
    const [low, high] = interval(counts[1], decided);
    $("precision").textContent = `precision ${percent(counts[1] / decided)} (${whole(counts[1])} of ${whole(decided)}; ${Math.round(100 * low)}–${Math.round(100 * high)} %)`;
  } else $("precision").textContent = "";
  $("undo").disabled = !undoable.length;
  $("export").disabled = !reviewed && !elsewhere.size;
}

// Every choice says how many pairs it would show beside the other filters as they are.
function showChoices() {
  const byLabel = new Int32Array(N_LABELS), byDirection = new Int32Array(3), byStatus = new Int32Array(4);
  const { label, direction, status: wanted } = filter;
  for (let i = 0; i < N_PAIRS; i++) {
    if (!inScope(i)) continue;
    const inLabel = label < 0 || labelAt[i] === label;
    const inDirection = direction < 0 || directionAt[i] === direction;
    const inStatus = wanted < 0 || status[i] === wanted;
    if (inDirection && inStatus) byLabel[labelAt[i]] += 1;
    if (inLabel && inStatus) byDirection[directionAt[i]] += 1;
    if (inLabel && inDirection) byStatus[status[i]] += 1;
  }
  const update = (select, numbers) => {
    for (const option of select.options) {
      const value = Number(option.value);
      const number = value < 0 ? numbers.reduce((sum, part) => sum + part, 0) : numbers[value];
      const text = `${option.dataset.name} (${whole(number)})`;
      if (option.textContent !== text) option.textContent = text;
    }
  };
  update($("by-label"), byLabel);
  update($("by-direction"), byDirection);
  update($("by-status"), byStatus);
  const chosen = ["by-label", "by-direction", "by-status"].map((id) => $(id).selectedOptions[0]).filter((option) => option.value !== "-1");
  $("chosen").textContent = `: ${chosen.map((option) => option.dataset.name).join(", ") || "everything"}, by ${filter.order}`;
}

function fill(select, choices, field) {
  select.replaceChildren(...choices.map(([value, name]) => make("option", { value, "data-name": name }, name)));
  select.addEventListener("change", () => {
    filter[field] = field === "order" ? select.value : Number(select.value);
    refresh(field === "order" ? undefined : list.view[list.at]);
    announce(`${plural(list.view.length, "pair")} shown.`);
  });
}

// Keep the pairs whose label, row name or text contains what is searched for.
function search() {
  const wanted = $("search").value.trim().toLowerCase();
  if (!wanted) filter.found = null;
  else {
    const inLabels = labels.name.map((name) => name.toLowerCase().includes(wanted));
    const inRows = new Set(items.row.filter((row, i) =>
      rowName(row).toLowerCase().includes(wanted) || (items.text?.[i] ?? "").toLowerCase().includes(wanted)));
    filter.found = (i) => inLabels[labelAt[i]] || inRows.has(pairs.row[i]);
  }
  refresh(list.view[list.at]);
  announce(`${plural(list.view.length, "pair")} found.`);
}

function reviewLabel(label) {
  filter.label = label;
  $("by-label").value = String(label);
  showTab($("tab-review"));
  refresh();
  $("list").focus();
}

function showTab(tab) {
  for (const other of document.querySelectorAll("[role=tab]")) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = !chosen;
  }
  document.body.dataset.view = tab.getAttribute("aria-controls");
  if (tab.id === "tab-labels") drawLabels($("labels"), reviewLabel);
}

function download() {
  const address = URL.createObjectURL(new Blob([decisionsCsv()], { type: "text/csv" }));
  const link = make("a", { href: address, download: "decisions.csv" });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  announce("Exported: decisions.csv. Apply it with mlspl correct.");
}

const KEYS = { j: () => move(1), k: () => move(-1), a: () => answer(1), r: () => answer(2), u: () => answer(3), z: takeBack };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || $("review").hidden) return;
  if (event.target.closest("input, select, textarea")) return;
  if (event.key === "Escape" && document.body.classList.contains("opened")) move(null);
  else if (event.key.toLowerCase() in KEYS) KEYS[event.key.toLowerCase()]();
  else return;
  event.preventDefault();
});

for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.addEventListener("click", () => showTab(tab));
  tab.addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    const all = [...document.querySelectorAll("[role=tab]")];
    const next = all[(all.indexOf(tab) + by + all.length) % all.length];
    showTab(next);
    next.focus();
  });
}
$("undo").addEventListener("click", takeBack);
$("export").addEventListener("click", download);
$("import").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", async () => {
  const [file] = $("file").files;
  if (!file) return;
  try {
    const number = importCsv(await file.text());
    refresh(list.view[list.at]);
    announce(`Imported ${plural(number, "decision")}.`);
  } catch (error) {
    announce(`Nothing was imported. ${error.message}`);
  }
  $("file").value = "";
});
// What was decided in the last moment before leaving is kept too.
addEventListener("pagehide", () => { if (saveSoon.timer !== undefined) save(); });
addEventListener("visibilitychange", () => { if (document.hidden && saveSoon.timer !== undefined) save(); });

const everyone = [-1, "all"];
fill($("by-label"), [[-1, "all labels"], ...[...rank.keys()].sort((a, b) => rank[a] - rank[b]).map((j) => [j, labelName(j)])], "label");
const directions = [[0, "probably missing"], [1, "probably spurious"], [2, "unknown so far"]];
fill($("by-direction"), [everyone, ...directions.filter(([d]) => d < 2 || pairs.given.includes(null))], "direction");
fill($("by-status"), [everyone, [0, "to review"], [1, "accepted"], [2, "rejected"], [3, "unsure"]], "status");
fill($("by-order"), Object.keys(ORDERS).map((name) => [name, name]), "order");
$("by-low").closest("label").hidden = FIRST_LOW === N_PAIRS;
$("low-number").textContent = whole(N_PAIRS - FIRST_LOW);
$("by-low").checked = false;
$("by-low").addEventListener("change", () => {
  filter.low = $("by-low").checked;
  refresh(list.view[list.at]);
  announce(`${plural(list.view.length, "pair")} shown.`);
});
$("search").value = "";
$("search").addEventListener("input", () => {
  clearTimeout(search.timer);
  search.timer = setTimeout(search, 150);
});
$("filters").open = !phone.matches;
$("facts").textContent = [
  `${plural(audit.rows, "row")}, ${plural(N_LABELS, "label")}`,
  audit.estimated === null ? null : `about ${plural(Math.round(audit.estimated), "given value")} probably wrong`,
  `${plural(FIRST_LOW, "pair")} to review`,
].filter(Boolean).join(" · ");
restore();
showTab($("tab-review"));
refresh();
