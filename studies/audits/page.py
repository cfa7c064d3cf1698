"""The page of the benchmark of audits: `page.md` filled with tables and with sentences counted from them."""

from pathlib import Path
from string import Template

import pandas as pd

from mlspl import __version__

__all__ = ["write_page"]

METHODS = (
    "audit", "audit, labels alone", "cleanlab", "cleanlab, our probabilities",
    "cleanlab's probabilities, ours", "small loss", "neighbours",
)  # fmt: skip
RATED = {
    "audit": "audit",
    "cleanlab, our probabilities": "confident learning, our probabilities",
    "cleanlab": "confident learning, cleanlab's recipe",
}
NOISES = ("flip .05", "flip .1", "flip .2", "lost .1", "lost .2", "lost .4", "both")
STRONGEST = 5


def write_page(results: pd.DataFrame, folder: Path, page: Path, planned: int) -> None:
    """Write the page of all results there are, of `planned` settings."""
    planted = results[results["noise"] != "none"]
    seeds = results["seed"].nunique()
    times = "once" if seeds == 1 else f"with {seeds} seeds"
    there = len(results.drop_duplicates(["dataset", "noise", "seed"]))
    part = f"; this page has {there} of the {planned} settings there are" if there < planned else ""
    template = Template((Path(__file__).parent / "page.md").read_text(encoding="utf-8"))
    counts, counted = _counts(planted)
    rates, rated = _rates(planted)
    page.write_text(
        template.substitute(
            sets=", ".join(results["dataset"].drop_duplicates()),
            seeds=f"Each setting was run {times}{part}.",
            version=__version__,
            ranking=_ranking(planted),
            precision=_precision(planted),
            summary=_summarise(planted),
            counts=counts,
            counted=counted,
            rates=rates,
            rated=rated,
            clean=_clean(results),
            strongest=_strongest(folder),
        ),
        encoding="utf-8",
    )


def _ranking(planted: pd.DataFrame) -> str:
    rows = []
    for dataset, noise, part in _settings(planted):
        means = part.groupby("method")[["ap", "auroc"]].mean().round(3)
        best = means["ap"].max()
        cells = [f"{means.loc[m, 'ap']:.3f} ({means.loc[m, 'auroc']:.3f})" for m in METHODS]
        marks = ["**" if means.loc[m, "ap"] == best else "" for m in METHODS]
        rows.append([dataset, noise, *(mark + cell + mark for mark, cell in zip(marks, cells, strict=True))])
    return _table(["set", "planted", *METHODS], rows)


def _precision(planted: pd.DataFrame) -> str:
    rows = []
    for dataset, noise, part in _settings(planted):
        means = part.groupby("method")[["p1", "p5"]].mean()
        rows.append(
            [dataset, noise, *(f"{means.loc[m, 'p1']:.2f} {means.loc[m, 'p5']:.2f}" for m in METHODS)]
        )
    return _table(["set", "planted", *METHODS], rows)


def _summarise(planted: pd.DataFrame) -> str:
    """Who is ahead where."""
    ap = planted.groupby(["dataset", "noise", "method"])["ap"].mean().unstack()
    recipe, equal = (
        [" ".join(setting) for setting in ap.index[ap["audit"] < ap[rival]]]
        for rival in ("cleanlab", "cleanlab, our probabilities")
    )
    means = ", ".join(f"{method} {ap[method].mean():.3f}" for method in METHODS)
    return (
        f"Of {len(ap)} settings, the audit is behind cleanlab's recipe in {_count(recipe)}, and behind "
        f"cleanlab's ranking of the audit's own probabilities in {_count(equal)}. "
        f"Mean average precision: {means}."
    )


def _counts(planted: pd.DataFrame) -> tuple[str, str]:
    """The table of expected and sure errors, and where they are off."""
    rows, off, unsure = [], [], []
    for dataset, noise, part in _settings(planted[planted["method"] == "audit"]):
        sums = part[["planted", "expected", "sure", "sure_right"]].sum()
        right = sums["sure_right"] / sums["sure"] if sums["sure"] else 1.0
        cells = [f"{sums[name]:.0f}" for name in ("planted", "expected", "sure")]
        rows.append([dataset, noise, *cells, f"{right:.2f}" if sums["sure"] else "–"])
        if not 2 / 3 <= sums["expected"] / sums["planted"] <= 4 / 3:
            off.append(f"{dataset} {noise}")
        if right < 0.7:
            unsure.append(f"{dataset} {noise}")
    sentence = (
        f"The expected number is off by more than a third in {_count(off)} of {len(rows)} settings. "
        f"Fewer than 70 % of the pairs with a suspicion of .8 or more are planted errors in {_count(unsure)}."
    )
    if unsure:
        sentence += " There, pairs that are hard look lost, or were wrong as published."
    return _table(
        ["set", "planted", "errors", "expected", "suspicion ≥ .8", "of these wrong"], rows
    ), sentence


def _rates(planted: pd.DataFrame) -> tuple[str, str]:
    """The table of errors of the rates, and their means."""
    errors = (
        planted.groupby(["dataset", "method"], sort=False)[["lost_error", "false_error"]].mean().unstack()
    )
    rows = [
        [dataset, *(f"{row['lost_error', m]:.3f} {row['false_error', m]:.3f}" for m in RATED)]
        for dataset, row in errors.iterrows()
    ]
    means = planted.groupby("method")[["lost_error", "false_error"]].mean().mean(axis=1)
    sentence = "Over all: " + ", ".join(f"{name} {means[m]:.3f}" for m, name in RATED.items()) + "."
    return _table(["set", *RATED.values()], rows), sentence


def _clean(results: pd.DataFrame) -> str:
    clean = results[(results["noise"] == "none") & (results["method"] == "audit")]
    rows = [
        [r.dataset, f"{r.pairs:,}", f"{r.expected:.0f}", f"{r.sure:.0f}", f"{100 * r.sure / r.pairs:.3f} %"]
        for r in clean.itertuples()
    ]
    return _table(["set", "pairs", "expected errors", "suspicion ≥ .8", "share"], rows)


def _strongest(folder: Path) -> str:
    rows = [
        [r.dataset, str(r.row), str(r.label), str(r.given), f"{r.suspicion:.2f}", str(r.why)]
        for path in sorted(folder.glob("strongest-*.csv"))
        for r in pd.read_csv(path).head(STRONGEST).itertuples()
    ]
    return _table(["set", "row", "label", "given", "suspicion", "why"], rows)


def _settings(results: pd.DataFrame):
    """Yield (set, noise, its rows), in the order of the page."""
    for dataset in results["dataset"].drop_duplicates():
        for noise in NOISES:
            part = results[(results["dataset"] == dataset) & (results["noise"] == noise)]
            if len(part):
                yield dataset, noise, part


def _count(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"


def _table(head, rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in lines) + "\n"
