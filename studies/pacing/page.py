"""`docs/study.md`: what the study's trials show, written from its results file."""

from collections.abc import Mapping
from pathlib import Path
from string import Template

import pandas as pd

from mlspl.datasets import Dataset
from mlspl.experiments import (
    PAPER_CRITERIA,
    PAPER_DATASETS,
    PUBLISHED,
    Store,
    average_ranks,
    criterion_head,
    markdown_table,
    paper_mean,
    save_figure,
)
from studies.pacing.figure import corruption_figure
from studies.pacing.scores import (
    ALPHA,
    RANKED,
    cell_means,
    collect,
    gain_over,
    goal,
    pacing_gains,
    scores_of,
)
from studies.pacing.trials import ABLATION, OURS, TUNED
from studies.pacing.verdicts import verdicts

__all__ = ["study_page", "write_page"]

_TEMPLATE = Path(__file__).with_name("page.md")


def write_page(store: Store, datasets: Mapping[str, Dataset], path: Path) -> None:
    """Write the page, and its figure to the folder `images` beside it.

    Parameters
    ----------
    store : Store
        With all trials of the study.
    datasets : mapping
        The data sets by name.
    path : Path
        The page.
    """
    scores = collect(store, datasets)
    images = path.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    save_figure(corruption_figure(pacing_gains(scores)), images, "study_pacing")
    path.write_text(study_page(scores), encoding="utf-8")


def study_page(scores: pd.DataFrame) -> str:
    """Return the page as Markdown.

    Parameters
    ----------
    scores : DataFrame
        From :func:`collect`.
    """
    gains = pacing_gains(scores)
    lines = [f"- **{'Reached' if ok else 'Not reached'}.** {text}" for ok, text in verdicts(scores)]
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        n_splits=scores.index.get_level_values("split").nunique(),
        verdicts="\n".join(lines),
        ranks=_rank_table(scores),
        tables="\n\n".join(_score_table(scores, name) for name in PAPER_DATASETS),
        tests=_test_table(scores),
        corrupted=_corrupted_table(gains),
        mean_ours=f"{gains['ours'].mean():.4f}",
        mean_end=f"{gains['end'].mean():.4f}",
        mean_bsvm=f"{gains['bsvm'].mean():.4f}",
        ablation="\n\n".join(_ablation_table(scores, name) for name in PAPER_DATASETS),
    )


def _rank_table(scores: pd.DataFrame) -> str:
    means = cell_means(scores, RANKED)
    rows = []
    for title, part in [("all 15 cells", means), *((name, means.loc[name]) for name in PAPER_DATASETS)]:
        ranks = [f"{rank:.2f}" for rank in average_ranks(part.to_numpy(), greater_is_better=True)]
        best = min(ranks, key=float)
        rows.append([title, *(f"**{rank}**" if rank == best else rank for rank in ranks)])
    return markdown_table(["", *RANKED], rows)


def _score_table(scores: pd.DataFrame, name: str) -> str:
    best = cell_means(scores, RANKED).loc[name].max(axis=1)
    rows = []
    for title in (entry.title for entry in TUNED):
        row = [title]
        for criterion in PAPER_CRITERIA:
            values = scores_of(scores, name, title, criterion)
            cell = f"{values.mean():.4f} ± {values.std(ddof=1):.4f}"
            is_best = title in RANKED and goal(criterion) * values.mean() >= best[criterion]
            row.append(f"**{cell}**" if is_best else cell)
        rows.append(row)
    printed = [f"{paper_mean(name, PUBLISHED, criterion):.4f}" for criterion in PAPER_CRITERIA]
    rows.append(["MLSPL as the paper prints it", *printed])
    return f"### {name}\n\n" + markdown_table(["", *map(criterion_head, PAPER_CRITERIA)], rows)


def _test_table(scores: pd.DataFrame) -> str:
    rows = []
    for other in (entry.title for entry in TUNED if entry != OURS):
        row = [other]
        for name in PAPER_DATASETS:
            tests = [gain_over(scores, name, other, criterion) for criterion in PAPER_CRITERIA]
            better = sum(gain > 0 and p < ALPHA for gain, p in tests)
            worse = sum(gain < 0 and p < ALPHA for gain, p in tests)
            row.append(f"{better} / {len(tests) - better - worse} / {worse}")
        rows.append(row)
    return markdown_table(["MLSPL-CV against", *PAPER_DATASETS], rows)


def _corrupted_table(gains: pd.DataFrame) -> str:
    rows = [
        [
            f"{row.dataset}, {row.corruption.replace(':', ' ')}",
            *(f"{value:.4f}" for value in (row.ours, row.end, row.bsvm)),
            f"{row.gain:+.4f} ± {row.error:.4f}",
        ]
        for row in gains.itertuples()
    ]
    return markdown_table(["training labels", "MLSPL-CV", "its unpaced end", "BSVM", "gain of pacing"], rows)


def _ablation_table(scores: pd.DataFrame, name: str) -> str:
    rows = [
        [entry.title, *(f"{scores_of(scores, name, entry.title, c).mean():.4f}" for c in PAPER_CRITERIA)]
        for entry in ABLATION
    ]
    return f"### {name}\n\n" + markdown_table(["", *map(criterion_head, PAPER_CRITERIA)], rows)
