// The map of labels by difficulty and noise, their table, and what reviewing the strongest suspicions finds.
const decimals = (value) => (value === null ? "–" : value.toFixed(3));
const HEADS = [
  ["name", "label", (value) => value], ["prevalence", "prevalence", percent], ["difficulty", "difficulty", decimals], ["noise", "wrong, estimated", percent],
  ["lost", "lost positives", percent], ["false", "false positives", percent], ["auc", "AUC", decimals],
  ["suspects", "to review", whole],
];
const byHead = { head: 3, sign: -1 };

function drawLabels(box, review) {
  labels.suspects = new Array(N_LABELS).fill(0);
  for (const label of pairs.label.slice(0, FIRST_LOW)) labels.suspects[label] += 1;
  box.replaceChildren(
    make("h2", {}, "How much to review"),
    effortChart(),
    make("h2", {}, "Labels"),
    make("p", {}, "Labels by how hard they are to predict and how many of their given values are probably wrong; larger circles are more frequent labels."),
    labelMap(review),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Labels" }, make("table", { id: "label-table" })),
  );
  if (audit.annotators) box.append(...drawAnnotators(audit.annotators));
  drawLabelTable(review);
}

function drawAnnotators(people) {
  const rate = (name, a) => `${percent(people[name][a])} (${percent(people[`${name}_low`][a])} to ${percent(people[`${name}_high`][a])})`;
  return [make("h2", {}, "Annotators"),
    make("p", {}, "Sensitivity: the share of the labels that are truly there which the annotator gave. Specificity: the share of those that are not there which the annotator did not give. With 95 % intervals."),
    make("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Annotators" }, make("table", { id: "annotator-table" },
      make("thead", {}, make("tr", {}, ["annotator", "rows", "sensitivity", "specificity"].map((title, i) => make("th", { scope: "col", class: i ? "number" : null }, title)))),
      make("tbody", {}, people.name.map((name, a) => make("tr", {}, make("th", { scope: "row" }, isolate(name)),
        [whole(people.rows[a]), rate("sensitivity", a), rate("specificity", a)].map((text) => make("td", { class: "number" }, text)))))))];
}

function drawLabelTable(review) {
  const [key] = HEADS[byHead.head];
  const value = (j) => labels[key][j];
  const order = labels.name.map((_, j) => j).sort((a, b) => {
    if (key === "name") return byHead.sign * value(a).localeCompare(value(b), "en", { numeric: true });
    // What is not known stays last either way.
    return (value(a) === null) - (value(b) === null) || byHead.sign * (value(a) - value(b));
  });
  const sortBy = (head) => {
    byHead.sign = byHead.head === head ? -byHead.sign : head ? -1 : 1;
    byHead.head = head;
    drawLabelTable(review);
    $("label-table").querySelectorAll("thead button")[head].focus();
  };
  $("label-table").replaceChildren(
    make("thead", {}, make("tr", {}, HEADS.map(([, title], head) =>
      make("th", {
          scope: "col", class: head ? "number" : null,
          "aria-sort": head !== byHead.head ? "none" : byHead.sign > 0 ? "ascending" : "descending",
        }, make("button", { type: "button", onclick: () => sortBy(head) }, title))))),
    make("tbody", {}, order.map((j) => make("tr", {}, HEADS.map(([name, , format], head) =>
      head
        ? make("td", { class: "number" }, format(labels[name][j]))
        : make("th", { scope: "row" }, make("button", { type: "button", class: "plain", onclick: () => review(j) }, labelName(j))))))),
  );
}

// Ends of an axis with some room around the values, and round ticks between them.
function axis(values) {
  const low = Math.min(...values), high = Math.max(...values), room = 0.08 * (high - low) || 0.01;
  const [start, end] = [low === 0 ? 0 : Math.max(0, low - room), high + room];
  const unit = 10 ** Math.floor(Math.log10((end - start) / 3));
  const step = [1, 2, 5, 10].map((d) => d * unit).find((s) => (end - start) / s <= 6);
  const first = Math.ceil(start / step - 1e-9);
  return [start, end, Array.from({ length: Math.floor(end / step + 1e-9) - first + 1 }, (_, i) => (first + i) * step)];
}

function labelMap(review) {
  const W = phone.matches ? 360 : 720, H = phone.matches ? 320 : 400, left = 56, right = 20, top = 16, bottom = 44;
  const shown = labels.name.map((_, j) => j).filter((j) => labels.difficulty[j] !== null && labels.noise[j] !== null);
  if (!shown.length) return make("p", { class: "note" }, "No label could be placed.");
  const [lowX, highX, ticksX] = axis(shown.map((j) => labels.difficulty[j]));
  const [lowY, highY, ticksY] = axis([0, ...shown.map((j) => labels.noise[j])]);
  const x = (value) => left + ((W - left - right) * (value - lowX)) / (highX - lowX);
  const y = (value) => H - bottom - ((H - top - bottom) * (value - lowY)) / (highY - lowY);
  const radius = (j) => 3 + 9 * Math.sqrt(labels.prevalence[j] ?? 0);
  const byNoise = [...shown].sort((a, b) => labels.noise[b] - labels.noise[a]);
  const dots = byNoise.map((j) =>
    make("g", { class: "spot", onclick: () => review(j) },
      make("circle", { cx: x(labels.difficulty[j]).toFixed(1), cy: y(labels.noise[j]).toFixed(1), r: radius(j).toFixed(1) }),
      make("title", {}, `${labelName(j)}: difficulty ${amount(labels.difficulty[j])}, ${percent(labels.noise[j])} wrong`)));
  return make("svg", { viewBox: `0 0 ${W} ${H}`, class: "map", role: "img",
      "aria-label": `Labels by difficulty and noise; most noisy: ${byNoise.slice(0, 5).map((j) => `${labelName(j)} ${percent(labels.noise[j])}`).join(", ")}. The table below has all.` },
    ticksX.map((t) => make("g", {}, make("line", { x1: x(t), x2: x(t), y1: top, y2: H - bottom, class: "grid" }),
      make("text", { x: x(t), y: H - bottom + 16, "text-anchor": "middle" }, amount(t)))),
    ticksY.map((t) => make("g", {}, make("line", { x1: left, x2: W - right, y1: y(t), y2: y(t), class: "grid" }),
      make("text", { x: left - 8, y: y(t) + 4, "text-anchor": "end" }, percent(t)))),
    make("text", { x: (left + W - right) / 2, y: H - 8, "text-anchor": "middle", class: "title" }, "difficulty →"),
    make("text", { transform: `translate(14 ${(top + H - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, "probably wrong →"),
    dots, names(byNoise, x, y, radius, W - right),
  );
}

// Names beside their circles, above or below, the most noisy first; what would cover another name or circle is
// left to the table.
function names(order, x, y, radius, edge) {
  const seats = order.map((j) => ({ name: labels.name[j], cx: x(labels.difficulty[j]), cy: y(labels.noise[j]), r: radius(j) }));
  const taken = seats.map(({ cx, cy, r }) => [cx - r, cx + r, cy - r, cy + r]), texts = [];
  for (const [own, { name, cx, cy, r }] of seats.slice(0, 200).entries()) {
    const short = isolate(name.length > 24 ? `${name.slice(0, 23)}…` : name), width = 6.6 * short.length;
    const places = [[cx + r + 4, cy, "start", 0], [cx - r - 4, cy, "end", 1], [cx, cy - r - 9, "middle", 0.5], [cx, cy + r + 9, "middle", 0.5]];
    for (const [at, middle, anchor, part] of places) {
      const box = [at - part * width, at + (1 - part) * width, middle - 6, middle + 6];
      if (box[1] > edge || box[0] < 56) continue;
      if (taken.some(([a, b, c, d], k) => k !== own && box[0] < b && box[1] > a && box[2] < d && box[3] > c)) continue;
      taken.push(box);
      texts.push(make("text", { x: at.toFixed(1), y: (middle + 4).toFixed(1), "text-anchor": anchor, class: "name" }, short));
      break;
    }
  }
  return texts;
}

// Errors expected among the pairs reviewed so far, the strongest suspicion first: steep where reviewing pays.
function effortChart() {
  const shares = pairs.suspicion.filter((_, i) => i < FIRST_LOW && directionAt[i] < 2).sort((a, b) => b - a);
  if (!shares.length) return make("p", { class: "note" }, "No label is suspected.");
  const found = [0];
  for (const share of shares) found.push(found.at(-1) + share);
  const W = phone.matches ? 360 : 720, H = 220, left = 56, right = 20, top = 12, bottom = 44;
  const [, highX, ticksX] = axis([0, shares.length]), [, highY, ticksY] = axis([0, found.at(-1)]);
  const x = (value) => left + ((W - left - right) * value) / highX, y = (value) => H - bottom - ((H - top - bottom) * value) / highY;
  const step = Math.max(1, Math.ceil(found.length / 300));
  const points = found.map((sum, i) => [i, sum]).filter(([i]) => i % step === 0 || i === shares.length);
  const half = found.findIndex((sum) => sum >= 0.5 * found.at(-1));
  const text = `The first ${plural(half, "pair")} hold half of the ${plural(Math.round(found.at(-1)), "error")} expected among the ${whole(shares.length)} suspected pairs.`;
  return make("div", {}, make("p", {}, text),
    make("svg", { viewBox: `0 0 ${W} ${H}`, class: "map effort", role: "img", "aria-label": text },
      ticksX.map((t) => make("g", {}, make("line", { x1: x(t), x2: x(t), y1: top, y2: H - bottom, class: "grid" }),
        make("text", { x: x(t), y: H - bottom + 16, "text-anchor": "middle" }, whole(Math.round(t))))),
      ticksY.map((t) => make("g", {}, make("line", { x1: left, x2: W - right, y1: y(t), y2: y(t), class: "grid" }),
        make("text", { x: left - 8, y: y(t) + 4, "text-anchor": "end" }, t < 10 ? amount(t) : whole(t)))),
      make("polyline", { points: points.map(([i, sum]) => `${x(i).toFixed(1)},${y(sum).toFixed(1)}`).join(" ") }),
      make("text", { x: (left + W - right) / 2, y: H - 8, "text-anchor": "middle", class: "title" }, "pairs reviewed, strongest suspicion first →"),
      make("text", { transform: `translate(14 ${(top + H - bottom) / 2}) rotate(-90)`, "text-anchor": "middle", class: "title" }, "errors found →")));
}
