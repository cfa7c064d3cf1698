"""The page of the study of audits: `page.md` filled with tables and with sentences counted from them."""

from itertools import pairwise
from pathlib import Path
from string import Template

import pandas as pd

from mlspl import __version__

__all__ = ["BINS", "METHODS", "write_page"]

BINS = (0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0)
METHODS = (
    "audit", "audit, labels alone", "class-conditional only", "cleanlab", "cleanlab, our probabilities",
    "cleanlab adjusted, our probabilities", "audit of cleanlab's probabilities", "neighbours",
)  # fmt: skip
NOISES = ("real", "flip 0.1", "lost 0.2", "both", "ambiguous 0.1", "annotator 0.1")
STRONGEST = 5


def write_page(results: pd.DataFrame, folder: Path, page: Path, planned: int) -> None:
    """Write the page of all results there are, of `planned` settings."""
    tested = results[results["noise"] != "none"]
    there = len(results.drop_duplicates(["dataset", "noise"]))
    part = f"This page has {there} of {planned} settings." if there < planned else ""
    template = Template((Path(__file__).parent / "page.md").read_text(encoding="utf-8"))
    counts, counted = _counts(tested)
    means, summary = _summarise(tested)
    text = template.substitute(
        part=part,
        version=__version__,
        ranking=_ranking(tested),
        means=means,
        summary=summary,
        precision=_precision(tested),
        counts=counts,
        counted=counted,
        calibration=_calibration(tested, page.parent / "images" / "audits-calibration.svg"),
        rated=_rates(tested),
        clean=_clean(results),
        strongest=_strongest(folder),
    )
    page.write_text(text, encoding="utf-8")


def _kind(noise: str) -> str:
    return "real" if noise == "real" else f"planted: {noise}"


def _ranking(tested: pd.DataFrame) -> str:
    rows = []
    for dataset, noise, part in _settings(tested):
        ap = part.set_index("method")["ap"].round(3)
        cells = [f"**{ap[m]:.3f}**" if ap[m] == ap.max() else f"{ap[m]:.3f}" for m in METHODS]
        rows.append([dataset, _kind(noise), *cells])
    return _hidden("Average precision in each setting", ["set", "errors", *METHODS], rows)


def _precision(tested: pd.DataFrame) -> str:
    shown = ("audit", "class-conditional only", "cleanlab", "cleanlab, our probabilities")
    rows = []
    for dataset, noise, part in _settings(tested):
        of = part.set_index("method")
        cells = [" ".join(f"{of.loc[m, p]:.2f}" for p in ("p50", "p100", "p500")) for m in shown]
        rows.append([dataset, _kind(noise), *cells])
    title = "Precision among the first 50, 100 and 500 suspicions"
    return _hidden(title, ["set", "errors", *shown], rows)


def _summarise(tested: pd.DataFrame) -> tuple[str, str]:
    """Return the means of real and of planted errors, and who is ahead where."""
    ap = tested.pivot(index=["dataset", "noise"], columns="method", values="ap")
    parts = {"real": ap[_is_real(ap)], "planted": ap[~_is_real(ap)]}
    parts = {kind: part for kind, part in parts.items() if len(part)}
    sentences = []
    for kind, part in parts.items():
        behind = [
            [" ".join(at) for at in part.index[part["audit"] < part[rival] - 0.02]]
            for rival in ("cleanlab", "cleanlab, our probabilities")
        ]
        sentences.append(
            f"Of {len(part)} settings with {kind} errors, those in which the audit is more than 0.02 behind "
            f"cleanlab's recipe: {_count(behind[0])}; behind self-confidence of its own probabilities: "
            f"{_count(behind[1])}."
        )
    head = ["method", *(f"{kind} errors ({len(part)} settings)" for kind, part in parts.items())]
    rows = [[method, *(f"{part[method].mean():.3f}" for part in parts.values())] for method in METHODS]
    return _table(head, rows), "\n\n".join(sentences)


def _is_real(table):
    return table.index.get_level_values("noise") == "real"


def _counts(tested: pd.DataFrame) -> tuple[str, str]:
    """Return the table of expected errors, and where they are off."""
    rows, outside = [], []
    off: dict[str, list[str]] = {"real": [], "planted": []}
    for dataset, noise, part in _settings(tested[tested["method"] == "audit"]):
        errors, expected = part["errors"].iloc[0], part["expected"].iloc[0]
        ratio = expected / errors
        interval = "{:.0f} to {:.0f}".format(*part[["low", "high"]].iloc[0])
        if not part["low"].iloc[0] <= errors <= part["high"].iloc[0]:
            outside.append(f"{dataset} {noise}")
        rows.append([dataset, _kind(noise), f"{errors:.0f}", f"{expected:.0f}", f"{ratio:.2f}", interval])
        kind, least, most = ("real", 1 / 2, 2) if noise == "real" else ("planted", 2 / 3, 4 / 3)
        if not least <= ratio <= most:
            off[kind].append(f"{dataset} {noise}")
    sentence = (
        f"Real errors: it is off by more than a factor of two in {_count(off['real'])}. "
        f"Planted errors: it is off by more than a third in {_count(off['planted'])}. "
        f"The number of errors is outside its 90 % interval in {_count(outside)}."
    )
    head = ["set", "errors", "wrong pairs", "expected", "expected / wrong", "interval"]
    return _hidden("Wrong pairs and expected errors in each setting", head, rows), sentence


def _calibration(tested: pd.DataFrame, picture: Path) -> str:
    """Return the table of wrong shares by suspicion, and draw it."""
    audits = tested[tested["method"] == "audit"]
    ranges = [f"{low:g} to {high:g}" for low, high in pairwise(BINS)]
    rows, curves = [], {}
    for noise in NOISES:
        sums = audits[audits["noise"] == noise].sum(numeric_only=True)
        if sums.get("pairs", 0) == 0:
            continue
        cells, points = [], []
        for b in range(len(ranges)):
            pairs = sums[f"pairs_{b}"]
            if pairs < 20:
                cells.append("–")
                continue
            points.append((sums[f"expected_{b}"] / pairs, sums[f"wrong_{b}"] / pairs))
            cells.append("{:.2f}\u00a0→\u00a0{:.2f}".format(*points[-1]))
        rows.append([_kind(noise), *cells])
        curves[_kind(noise)] = points
    _draw(curves, picture)
    return _table(["errors", *ranges], rows)


def _draw(curves, picture: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4.5), layout="constrained")
    ax = figure.subplots()
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for name, points in curves.items():
        ax.plot(*zip(*points, strict=True), marker="o", markersize=4, linewidth=3 if name == "real" else 1.2,
                label=name)  # fmt: skip
    ax.set(xlabel="mean suspicion", ylabel="share of wrong pairs", xlim=(0, 1), ylim=(0, 1))
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
    picture.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": "audits"}):
        figure.savefig(picture, metadata={"Date": None})


def _rates(tested: pd.DataFrame) -> str:
    planted = tested[tested["noise"] != "real"].dropna(subset=["lost_error"])
    if planted.empty:
        return ""
    means = planted.groupby("method")[["lost_error", "false_error"]].mean().mean(axis=1)
    return (
        "Mean absolute error of the estimated noise rates (planted errors, mean over labels and settings): "
        f"audit {means['audit']:.3f}, confident learning on our probabilities "
        f"{means['cleanlab, our probabilities']:.3f}, on those of cleanlab's recipe {means['cleanlab']:.3f}."
    )


def _clean(results: pd.DataFrame) -> str:
    rows = [
        [r.dataset, f"{r.pairs:,}", f"{r.least:.0f}", f"{r.most:.0f}", f"{r.expected:.0f}", f"{r.sure:.0f}"]
        for r in results[results["noise"] == "none"].itertuples()
    ]
    head = ["set", "pairs", "errors, if none depends on the features", "if all uncertain labels are errors"]
    return _table([*head, "expected", "suspicion of 0.8 or more"], rows)


def _strongest(folder: Path) -> str:
    rows = [
        [r.dataset, str(r.row), str(r.label), str(r.given), f"{r.suspicion:.2f}", f"{r.probability:.2f}"]
        for path in sorted(folder.glob("strongest_*.csv"))
        for r in pd.read_csv(path).head(STRONGEST).itertuples()
    ]
    head = ["set", "row", "label", "given", "suspicion", "probability by the models"]
    return _hidden("The strongest suspicions of each set (rows count from 0)", head, rows)


def _settings(results: pd.DataFrame):
    """Yield (set, noise, its rows), in the order of the page."""
    for noise in NOISES:
        for dataset, part in results[results["noise"] == noise].groupby("dataset", sort=False):
            yield dataset, noise, part


def _count(names: list[str]) -> str:
    return f"{len(names)} ({', '.join(names)})" if names else "none"


def _table(head, rows) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in row) + " |" for row in lines) + "\n"


def _hidden(title: str, head, rows) -> str:
    """Return a table that a click on its title opens."""
    return f"```{{dropdown}} {title}\n{_table(head, rows)}```\n"
