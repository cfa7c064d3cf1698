"""The rest of `make run`: self-pacing when labels are wrong, and the planted errors that an audit finds.

Run by hand: ``python -m studies.tour results/run``. Embedded data, and emotions where it can be had.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from mlspl import SelfPacedForestClassifier, curriculum, datasets, metrics
from mlspl.errors import UserError
from mlspl.model_selection import protocol_split

__all__ = ["main"]

# A set kept for development: what is shown here chose nothing.
SPLIT = 100
CORRUPTIONS = (("right", None, 0.0), ("a fifth flipped", "flip", 0.2), ("two fifths lost", "missing", 0.4))


def main(out: Path) -> None:
    """Print both parts, and write the picture of the wrongly labelled digits."""
    console = Console()
    names = ["digits-traits", "emotions"]
    console.print("\n[bold]Self-pacing when labels are wrong[/] (average precision, higher is better)")
    table, gains = _compare(names)
    console.print(table)
    console.print(_sum_up(gains), highlight=False)
    console.print("\n[bold]An audit of labels[/]: one in twenty of the digits' labels was turned around")
    found, planted, digits = _audit()
    for line in _describe(found, planted):
        console.print(line, highlight=False)
    picture = out / "audit.png"
    out.mkdir(parents=True, exist_ok=True)
    _draw(found, planted, digits).savefig(picture, dpi=110)
    console.print(f"The strongest suspicions as pictures: {picture}")
    if (page := out / "report.html").exists():
        console.print(f"\nThe methods' results as a page, to open in a browser: {page}", soft_wrap=True)


def _compare(names) -> tuple[Table, dict[str, list[float]]]:
    """A forest per label as it is and paced, on right and on corrupted labels; its gains by title too."""
    gains: dict[str, list[float]] = {title: [] for title, _, _ in CORRUPTIONS}
    table = Table(box=None, pad_edge=False)
    for heading in ("data set", "training labels", "forest", "paced forest", "gain"):
        table.add_column(heading, justify="left" if heading in ("data set", "training labels") else "right")
    for name in names:
        try:
            data = datasets.load_dataset(name)
        except UserError:
            continue  # the embedded data are always there
        train, test = protocol_split(len(data.Y), SPLIT)
        for title, kind, rate in CORRUPTIONS:
            Y = np.asarray(data.Y[train])
            if kind is not None:
                Y, _ = datasets.corrupt(Y, kind, rate, random_state=SPLIT)
            plain, paced = (
                _average_precision(data, Y, train, test, pace_function)
                for pace_function in (None, "gaussian")
            )
            table.add_row(name, title, f"{plain:.3f}", f"{paced:.3f}", f"{paced - plain:+.3f}")
            gains[title].append(paced - plain)
    return table, gains


def _sum_up(gains) -> str:
    means = ", ".join(f"{np.mean(values):+.3f} ({title})" for title, values in gains.items())
    return (
        f"Mean gain: {means}. Pacing leaves out what contradicts the easy pairs: that helps where labels are "
        "turned around and the data are noisy, and costs where nearly all that is left out was right."
    )


def _average_precision(data, Y, train, test, pace_function) -> float:
    model = SelfPacedForestClassifier(100, pace_function, n_jobs=-1, random_state=0)
    model.fit(data.X[train], Y)
    return metrics.average_precision(data.Y[test], model.decision_function(data.X[test]))


def _audit():
    digits = datasets.load_dataset("digits-traits")
    Y, planted = datasets.corrupt(np.asarray(digits.Y[:600]), "flip", 0.05, random_state=SPLIT)
    frame = pd.DataFrame(Y, columns=digits.label_names)
    return curriculum.audit(digits.X[:600], frame, n_jobs=-1, random_state=0), planted, digits


def _describe(found, planted) -> list[str]:
    order = np.argsort(-found.suspicion, axis=None, kind="stable")
    hits = np.cumsum(planted.ravel()[order])
    n_planted = int(planted.sum())
    sure = found.suspicion >= 0.8
    return [
        f"{planted.size:,} labels, {n_planted} of them wrong; the audit expects {found.expected_errors:.0f}.",
        f"Of the {sure.sum()} with a suspicion of .8 or more, {planted[sure].sum()} are wrong.",
        f"Looking at the {n_planted} strongest suspicions finds {hits[n_planted - 1]} of them, "
        f"at {2 * n_planted} {hits[2 * n_planted - 1]}.",
    ]


def _draw(found, planted, digits):
    """The twelve strongest suspicions: picture, label, what was given, and whether it was planted."""
    figure, axes = plt.subplots(2, 6, figsize=(11, 4.6), layout="constrained")
    for ax, issue in zip(axes.flat, found.issues.itertuples(), strict=False):
        ax.imshow(digits.X[issue.row_number].reshape(8, 8), cmap="gray_r")
        given = "" if issue.given else "not "
        truth = "planted" if planted[issue.row_number, issue.label_number] else "not planted"
        ax.set_title(f"“{given}{issue.label}”\n{issue.suspicion:.0%} wrong, {truth}", fontsize=8)
        ax.set_axis_off()
    figure.suptitle("Labels that the audit suspects most")
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]))
