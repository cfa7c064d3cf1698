// A list of which only the rows in sight are in the document: a hundred thousand pairs scroll as ten do.
class VirtualList {
  constructor(box, draw, choose) {
    this.box = box;
    this.canvas = box.firstElementChild;
    this.draw = draw;
    this.choose = choose;
    this.view = new Int32Array(0);
    this.at = -1;
    this.drawn = new Map();
    box.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule(this.measure())).observe(box);
    box.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.go(Number(option.dataset.position), true);
    });
    box.addEventListener("keydown", (event) => this.key(event));
  }

  // Rows are taller on a phone; says whether they have changed.
  measure() {
    const before = this.height;
    this.height = parseFloat(getComputedStyle(this.box).getPropertyValue("--row"));
    this.canvas.style.height = `${this.view.length * this.height}px`;
    return this.height !== before;
  }

  // Show these pairs, and stay at one of them, or at the place where one was.
  show(view, at) {
    this.view = view;
    this.at = view.length ? Math.min(Math.max(at, 0), view.length - 1) : -1;
    this.measure();
    this.reveal();
    this.render(true);
  }

  go(position, opened = false) {
    if (!this.view.length) return;
    this.at = Math.min(Math.max(position, 0), this.view.length - 1);
    this.reveal();
    this.render(true);
    this.choose(this.view[this.at], opened);
  }

  reveal() {
    if (this.at < 0) return;
    const top = this.at * this.height, bottom = top + this.height;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = bottom - this.box.clientHeight;
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.box.clientHeight / this.height) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page };
    if (event.key in steps) this.go(this.at + steps[event.key]);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.view.length - 1);
    else if (event.key === "Enter" || event.key === " ") this.go(this.at, true);
    else return;
    event.preventDefault();
  }

  schedule(fresh = false) {
    this.stale ||= fresh;
    this.frame ??= requestAnimationFrame(() => this.render(this.stale));
  }

  render(fresh) {
    cancelAnimationFrame(this.frame);
    this.frame = undefined;
    this.stale = false;
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 4);
    const last = Math.min(this.view.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 4);
    for (const [position, option] of this.drawn) {
      if (fresh || position < first || position >= last) {
        option.remove();
        this.drawn.delete(position);
      }
    }
    for (let position = first; position < last; position++) {
      if (this.drawn.has(position)) continue;
      const option = make(
        "div",
        {
          role: "option", id: `option-${position}`, "data-position": position, "aria-posinset": position + 1,
          "aria-setsize": this.view.length, "aria-selected": String(position === this.at),
          class: position % 2 ? "odd" : "even",
        },
        this.draw(this.view[position]),
      );
      option.style.transform = `translateY(${position * this.height}px)`;
      this.drawn.set(position, option);
      this.canvas.append(option);
    }
    if (this.drawn.has(this.at)) this.box.setAttribute("aria-activedescendant", `option-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}

const ASKED = ["missing?", "spurious?", "present?"];
const MARKS = ["", "✓", "✗", "?"];

function drawPair(pair) {
  const row = pairs.row[pair], code = status[pair], direction = directionAt[pair];
  const share = pairs.suspicion[pair];
  const gauge = make("span", { class: "gauge", "aria-hidden": "true" }, make("span", { style: `width:${100 * share}%` }));
  return [
    make("span", { class: "share" }, make("b", {}, percent(share)), gauge),
    picture(row),
    make(
      "span", { class: "what" },
      make("span", { class: "line" },
        make("span", { class: "label" }, labelName(pairs.label[pair])),
        make("span", { class: `chip ${DIRECTIONS[direction]}` }, ASKED[direction]),
      ),
      make("span", { class: "row" }, textOf(row) ? `${rowName(row)}: ${textOf(row).slice(0, 200)}` : rowName(row)),
    ),
    make("span", { class: `status ${STATUS[code]}`, "aria-label": code ? STATUS[code] : null }, MARKS[code]),
  ];
}
