// Everything known about one pair, and the three answers to it.
const QUESTIONS = ["Is this label missing?", "Is this label spurious?", "Does this label belong here?"];
const MOST_FEATURES = 4;
const PRESENCE = ["absent", "present"];

function answersTo(pair) {
  const add = pairs.suggested[pair] === 1;
  return [
    ["accepted", "a", "Accept", add ? "add the label" : "take the label off"],
    ["rejected", "r", "Reject", pairs.given[pair] === null ? "stays unknown" : "it is right as given"],
    ["unsure", "u", "Unsure", "mark it unknown"],
  ];
}

function drawDetail(box, pair, answer, move) {
  if (pair === undefined) {
    box.replaceChildren(
      make("p", { class: "empty", id: "question" }, N_PAIRS ? "Nothing here under these filters." : "No label is suspected."),
    );
    return;
  }
  const row = pairs.row[pair], label = pairs.label[pair], direction = directionAt[pair];
  const detail = audit.details[pair];
  const given = pairs.given[pair] === null ? "unknown" : PRESENCE[pairs.given[pair]];
  const buttons = answersTo(pair).map(([name, key, verb, effect]) =>
    make(
      "button",
      {
        type: "button", class: `answer ${name}`, "data-answer": name, "aria-pressed": String(STATUS[status[pair]] === name),
        onclick: () => answer(STATUS.indexOf(name), true),
      },
      make("span", { class: "verb" }, verb, " ", make("kbd", {}, key)), make("span", { class: "effect" }, effect),
    ),
  );
  box.replaceChildren(
    make("div", { class: "paging" },
      make("button", { type: "button", class: "back", onclick: () => move(null) }, "‹ List"),
      make("button", { type: "button", "aria-label": "Previous", onclick: () => move(-1) }, "‹"),
      make("button", { type: "button", "aria-label": "Next", onclick: () => move(1) }, "›"),
    ),
    make("div", { class: "facts-of" },
      make("p", { class: "question" }, QUESTIONS[direction]),
      make("h2", { id: "question" }, labelName(label), make("span", { class: "at" }, ` on ${rowName(row)}`)),
      make("p", { class: "verdict" },
        "given ", make("b", {}, given), ", suggested ", make("b", {}, PRESENCE[pairs.suggested[pair]]),
        make("span", { class: "sure" }, ` ${percent(pairs.suspicion[pair])} suspicion`),
      ),
      pairs.why[pair] === null ? null : make("p", { class: "why" }, audit.reasons[pairs.why[pair]]),
      drawVotes(row, label),
      drawRowContent(row, label, detail),
      detail ? drawEvidence(detail, label) : make("p", { class: "note" }, "Features and nearest rows are on the page for the strongest suspicions only."),
      detail ? drawNeighbours(detail, label) : null,
      drawOthers(pair, answer),
      make("p", { class: "note" }, difficultyOf(pair)),
    ),
    make("div", { class: "answers", role: "group", "aria-label": "Your decision" }, buttons),
  );
}

function difficultyOf(pair) {
  const rank = pairs.difficulty[pair];
  return rank === null ? "" : `Difficulty: ${percent(rank)} of all given labels are easier to predict than this one.`;
}

// Who gave the label and who did not, with how often each finds a label that is there, and leaves one that is not.
function drawVotes(row, label) {
  const votes = audit.votes?.[row], people = audit.annotators;
  if (!votes) return null;
  const said = ([, given, unjudged]) => (given.includes(label) ? "present" : unjudged.includes(label) ? "not judged" : "absent");
  return make("ul", { class: "chips votes", "aria-label": "What annotators said" }, votes.map((vote) =>
    make("li", { class: { present: "asked", absent: "" }[said(vote)] ?? "unknown" }, make("b", {}, isolate(people.name[vote[0]])), ` ${said(vote)} `,
      make("span", { class: "note" }, `finds ${percent(people.sensitivity[vote[0]])}, leaves ${percent(people.specificity[vote[0]])}`))));
}

// The other suspicions of the same row, each with its three answers.
function drawOthers(pair, answer) {
  const others = pairsOfRow.get(pairs.row[pair]).filter((other) => other !== pair && (other < FIRST_LOW || filter.low || status[other]));
  if (!others.length) return null;
  return make("div", {},
    make("h3", {}, "Other suspicions on this row"),
    make("ul", { class: "others" }, others.map((other) =>
      make("li", {},
        make("span", { class: "what" }, make("b", {}, labelName(pairs.label[other])), " ",
          make("span", { class: `chip ${DIRECTIONS[directionAt[other]]}` }, ASKED[directionAt[other]]),
          make("span", { class: "note" }, ` ${percent(pairs.suspicion[other])}`)),
        make("span", { class: "small", role: "group", "aria-label": `Decision on ${labelName(pairs.label[other])}` },
          answersTo(other).map(([name, , verb, effect]) =>
            make("button", {
              type: "button", class: `answer ${name}`, title: effect, "aria-pressed": String(STATUS[status[other]] === name),
              onclick: () => answer(STATUS.indexOf(name), true, other),
            }, make("span", { class: "verb" }, verb))))))));
}

// The text with the words that count for and against the label marked.
function highlight(text, detail) {
  const sides = new Map();
  for (const side of ["for", "against"]) {
    for (const [feature, here] of detail?.[side] ?? []) if (here) sides.set(audit.features[feature].toLowerCase(), side);
  }
  if (!sides.size) return [text];
  const words = [...sides.keys()].sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"));
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])(${words.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  return text.split(pattern).map((part, i) =>
    i % 2 ? make("mark", { class: sides.get(part.toLowerCase().replace(/\s+/g, " ")) }, part) : part);
}

function drawRowContent(row, label, detail) {
  const item = itemOf.get(row), text = textOf(row), parts = text ? highlight(text, detail) : [];
  return make("div", { class: "content" },
    picture(row),
    make("div", {},
      text ? make("p", { class: "text" }, parts) : null,
      parts.length > 1 ? make("p", { class: "note" }, make("mark", { class: "for" }, "words"), " that count for the label, ", make("mark", { class: "against" }, "words"), " that count against it") : null,
      make("h3", {}, "Its labels as given"),
      item === undefined ? null : chips(items.labels[item], label, items.unknown[item])));
}

function chips(present, label, unknown = []) {
  if (!present.length && !unknown.length) return make("p", { class: "note" }, "none");
  const chip = (j, kind) => make("li", { class: `${kind}${j === label ? " asked" : ""}` }, labelName(j), kind ? make("span", { class: "note" }, " unknown") : null);
  return make("ul", { class: "chips" }, present.map((j) => chip(j, "")), unknown.map((j) => chip(j, "unknown")));
}

function drawEvidence(detail, label) {
  const name = labelName(label);
  const side = (title, rows) =>
    make("div", {},
      make("h3", {}, title),
      rows.length
        ? make("table", { class: "evidence" },
            make("thead", {}, make("tr", {},
              make("th", { scope: "col" }, "feature"), make("th", { scope: "col", class: "number" }, "here"),
              make("th", { scope: "col", class: "number" }, "with"), make("th", { scope: "col", class: "number" }, "without"),
              make("th", { scope: "col", class: "strip" }, make("span", { class: "hidden" }, "picture")),
            )),
            make("tbody", {}, rows.slice(0, MOST_FEATURES).map(([feature, here, having, lacking]) =>
              make("tr", {},
                make("th", { scope: "row" }, audit.features[feature]), make("td", { class: "number" }, amount(here)),
                make("td", { class: "number" }, amount(having)), make("td", { class: "number" }, amount(lacking)),
                make("td", { class: "strip" }, strip(here, having, lacking)),
              ))),
          )
        : make("p", { class: "note" }, "no feature"),
    );
  return make("div", { class: "sides", "aria-label": `Features beside the mean of the rows with and without ${name}` },
    side("Features that count for the label", detail.for), side("Features that count against it", detail.against),
    make("p", { class: "note legend", "aria-hidden": "true" }, make("i", { class: "here" }), "here", make("i", { class: "having" }),
      "mean with the label", make("i", { class: "lacking" }), "mean without"));
}

// Where this row stands (bar) between the means of rows with (full) and without the label (hollow).
function strip(here, having, lacking) {
  const known = [here, having, lacking].filter((value) => value !== null);
  const low = Math.min(...known), span = Math.max(...known) - low || 1;
  const x = (value) => (6 + (68 * (value - low)) / span).toFixed(1);
  return make("svg", { viewBox: "0 0 80 14", "aria-hidden": "true" },
    make("line", { x1: 4, x2: 76, y1: 7, y2: 7, class: "axis" }),
    lacking === null ? null : make("circle", { cx: x(lacking), cy: 7, r: 3.5, class: "lacking" }),
    having === null ? null : make("circle", { cx: x(having), cy: 7, r: 3.5, class: "having" }),
    here === null ? null : make("rect", { x: x(here) - 1.25, y: 1, width: 2.5, height: 12, class: "here" }),
  );
}

function drawNeighbours(detail, label) {
  const side = (title, rows) =>
    make("div", {},
      make("h3", {}, title),
      rows.length
        ? make("ol", { class: "neighbours" }, rows.map(([row, distance]) => {
            const item = itemOf.get(row);
            return make("li", {},
              picture(row),
              make("div", {},
                make("p", { class: "head" }, make("b", {}, rowName(row)), make("span", { class: "note" }, ` distance ${amount(distance)}`)),
                textOf(row) ? make("p", { class: "text short" }, textOf(row).slice(0, 300)) : null,
                item === undefined ? null : chips(items.labels[item], label),
              ));
          }))
        : make("p", { class: "note" }, "no row"),
    );
  return make("div", { class: "sides" },
    side("Nearest rows with the label", detail.with), side("Nearest rows without it", detail.without));
}
