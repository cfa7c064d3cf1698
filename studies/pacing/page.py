"""`docs/study.md`: what the study's trials show, written from its results file."""

from collections.abc import Mapping
from pathlib import Path
from string import Template

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments import PAPER_CRITERIA, Store, criterion_head, markdown_table, save_figure
from studies.pacing.figure import gain_figure
from studies.pacing.scores import ALPHA, collect, compare, goal, pacing_gains
from studies.pacing.trials import DATASETS, OPPONENTS, OURS, PAIRS
from studies.pacing.verdicts import verdicts

__all__ = ["study_page", "write_page"]

_TEMPLATE = Path(__file__).with_name("page.md")


def write_page(store: Store, datasets: Mapping[str, Dataset], path: Path) -> None:
    """Write the page, and its figure to the folder `images` beside it; of what is finished.

    Parameters
    ----------
    store : Store
        The results.
    datasets : mapping
        The data sets by name.
    path : Path
        The page.
    """
    scores, missing = collect(store, datasets)
    images = path.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    save_figure(gain_figure(pacing_gains(scores)), images, "study_pacing")
    path.write_text(study_page(scores, missing), encoding="utf-8")


def study_page(scores: pd.DataFrame, missing: int = 0) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    scores : DataFrame
        From :func:`collect`.
    missing : int
        How many trials are not finished.
    """
    lines = [f"- **{'Reached' if ok else 'Not reached'}.** {text}" for ok, text in verdicts(scores)]
    unfinished = (
        f"\n**Not finished:** {missing} of {missing + len(scores)} trials are still to be run; every table "
        "says on how many splits it stands, and the verdicts below are those of what there is.\n"
    )
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        unfinished=unfinished if missing else "",
        verdicts="\n".join(lines),
        tables="\n\n".join(_score_table(scores, name) for name in _run_on(scores)),
        tests=_test_table(scores),
        gains=_gain_table(pacing_gains(scores)),
    )


def _run_on(scores) -> list[str]:
    """The data sets with clean results."""
    names = set(scores.xs("", level="corruption").index.get_level_values("dataset"))
    return [name for name in DATASETS if name in names]


def _score_table(scores: pd.DataFrame, name: str) -> str:
    clean = scores.xs((name, ""), level=("dataset", "corruption"))
    titles = [entry.title for pair in PAIRS.values() for entry in pair] + [entry.title for entry in OPPONENTS]
    titles = [title for title in titles if title in clean.index.get_level_values("title")]
    means = clean.groupby("title").mean()
    best = {criterion: (goal(criterion) * means[criterion]).max() for criterion in PAPER_CRITERIA}
    rows = []
    for title in titles:
        values = clean.xs(title, level="title")
        row = [title, str(len(values))]
        for criterion in PAPER_CRITERIA:
            cell = f"{values[criterion].mean():.4f}"
            cell += f" ± {values[criterion].std(ddof=1):.4f}" if len(values) > 1 else ""
            is_best = goal(criterion) * means.loc[title, criterion] >= best[criterion]
            row.append(f"**{cell}**" if is_best else cell)
        rows.append(row)
    head = ["", "splits", *map(criterion_head, PAPER_CRITERIA)]
    return f"### {name}\n\n" + markdown_table(head, rows)


def _test_table(scores: pd.DataFrame) -> str:
    rows = []
    for other in OPPONENTS:
        row = [other.title]
        for name in _run_on(scores):
            tests = [compare(scores, name, other, criterion) for criterion in PAPER_CRITERIA]
            better = sum(gain > 0 and p < ALPHA for gain, p in tests)
            worse = sum(gain < 0 and p < ALPHA for gain, p in tests)
            row.append(f"{better} / {len(tests) - better - worse} / {worse}")
        rows.append(row)
    return markdown_table([f"{OURS.title} against", *_run_on(scores)], rows)


def _gain_table(gains: pd.DataFrame) -> str:
    rows = [
        [
            f"{row.dataset}, {row.corruption.replace(':', ' ') or 'clean'}",
            row.family,
            str(row.splits),
            f"{row.paced:.4f}",
            f"{row.end:.4f}",
            f"{row.gain:+.4f}" + (f" ± {row.error:.4f}" if row.splits > 1 else ""),
        ]
        for row in gains.itertuples()
    ]
    return markdown_table(["training labels", "", "splits", "paced", "unpaced", "gain of pacing"], rows)
