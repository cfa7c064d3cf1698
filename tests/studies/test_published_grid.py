"""The grid of λ and μ: what is chosen how, and that the committed results are whole."""

from itertools import product

import pandas as pd
import pytest

from mlspl.experiments import PAPER_CRITERIA, PAPER_DATASETS
from studies.published_grid import (
    FUNCTIONS,
    GROWTHS,
    PACES,
    grid_figure,
    grid_section,
    read_grid,
    summarise_grid,
)


def small_grid():
    """Two splits of one data set; the score of a point is its number in the grid."""
    rows = []
    for name, split, function in product(PAPER_DATASETS, range(2), FUNCTIONS):
        for number, (pace, growth) in enumerate([*product(PACES, GROWTHS), (None, None)]):
            scores = dict.fromkeys(PAPER_CRITERIA, number + 100.0 * split)
            rows.append(
                {"dataset": name, "split": split, "function": function, "pace": pace, "growth": growth}
            )
            rows[-1] |= scores
    return pd.DataFrame(rows)


def test_fixed_searched_and_best_points():
    means = summarise_grid(small_grid()).loc["flags", "tanh"]
    assert means.loc["fixed", "hamming_loss"] == 17 + 50  # λ = 0.01 and μ = 1.3 are number 17
    assert means.loc["searched", "hamming_loss"] == 20 + 50
    assert means.loc["best", "hamming_loss"] == 0 + 50  # less is better
    assert means.loc["best", "average_precision"] == 19 + 50  # more is better


def test_page_and_figure():
    section = grid_section(small_grid())
    assert section.count("{dropdown}") == 4
    assert "| flags, tanh | 67.0000 | 70.0000 | 69.0000 |" in section
    assert len(grid_figure(small_grid()).axes) == 15


@pytest.mark.parametrize("name", PAPER_DATASETS)
def test_committed_splits_have_all_points(name):
    results = read_grid()
    sizes = results[results["dataset"] == name].groupby("split").size()
    assert (sizes == len(FUNCTIONS) * (len(PACES) * len(GROWTHS) + 1)).all()
    assert len(sizes) > 0
