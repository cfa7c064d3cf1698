"""The figures show the numbers they are given."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.container import ErrorbarContainer

from mlspl.experiments import (
    PAPER_CRITERIA,
    PUBLISHED,
    Outcome,
    Store,
    Trial,
    compare,
    critical_difference_figure,
    figure_files,
    score_table,
)
from mlspl.experiments.comparison import Ranking
from mlspl.experiments.figures import pace_function_figure


@pytest.fixture(scope="module")
def scores(tmp_path_factory):
    rng = np.random.default_rng(0)
    with Store(tmp_path_factory.mktemp("functions") / "results.db") as store:
        for dataset in ("flags", "scene"):
            for method, function in [(PUBLISHED, "sigmoid"), (PUBLISHED, "tanh"), ("ml-loc", None)]:
                for split in range(4):
                    parameters = {} if function is None else {"pace_function": function}
                    values = dict(zip(PAPER_CRITERIA, rng.uniform(0.1, 0.3, 5).tolist(), strict=True))
                    trial = Trial(dataset, dataset, method, parameters, split)
                    store.record(trial, Outcome(scores=values, chosen=parameters))
        return score_table(store.frame())


def test_every_panel_has_a_mean_and_a_deviation_per_function(scores):
    figure = pace_function_figure(scores, ["tanh", "sigmoid"])
    panels = iter(figure.axes)
    for criterion in PAPER_CRITERIA:
        for dataset in ("flags", "scene"):
            axis = next(panels)
            (bars,) = [item for item in axis.containers if isinstance(item, ErrorbarContainer)]
            for i, name in enumerate(("tanh", "sigmoid")):
                chosen = np.array(
                    [parameters.get("pace_function") == name for parameters in scores["chosen"]]
                )
                values = scores.loc[chosen & (scores["dataset"] == dataset), criterion]
                assert bars.lines[0].get_xydata()[i].tolist() == [pytest.approx(values.mean()), i]
                ends = bars.lines[2][0].get_segments()[i][:, 0]
                np.testing.assert_allclose(ends, [values.mean() - values.std(), values.mean() + values.std()])
            unpaced = scores.loc[(scores["method"] == "ml-loc") & (scores["dataset"] == dataset), criterion]
            assert axis.lines[-1].get_xdata()[0] == pytest.approx(unpaced.mean())
    assert next(panels, None) is None


def test_files_are_readable_pictures_and_the_same_every_time(scores):
    scores = scores.drop(columns=list(PAPER_CRITERIA[1:]))
    png, svg = figure_files(pace_function_figure(scores, ["tanh"]), "figure").values()
    assert png.startswith(b"\x89PNG")
    assert len(png) > 10_000
    ElementTree.fromstring(svg)
    assert svg == figure_files(pace_function_figure(scores, ["tanh"]), "figure")["figure.svg"]


def test_the_diagram_places_methods_at_their_ranks():
    rows = [(f"set {d}", m, 0, d + i) for d in range(20) for i, m in enumerate("abcde")]
    scores = pd.DataFrame(rows, columns=["block", "variant", "split", "one_error"])
    comparison = compare(scores, "one_error", greater_is_better=False)
    figure = critical_difference_figure([comparison])
    (axis,) = figure.axes
    stems = [text.xy[0] for text in axis.texts if hasattr(text, "xy")]
    assert stems == [1, 2, 3, 4, 5]
    texts = " ".join(text.get_text() for text in axis.texts)
    assert f"{comparison.ranking.distance:.2f}" in texts
    assert [list(line.get_xdata()) for line in axis.lines if line.get_linewidth() > 2] == [
        [1, 2],
        [2, 3],
        [3, 4],
        [4, 5],
    ]


@given(st.lists(st.integers(10, 60), min_size=2, max_size=8), st.integers(1, 60))
def test_bars_join_exactly_what_is_not_told_apart(tenths, distance):
    """Two methods share a bar if and only if their ranks differ by no more than the distance."""
    ranks = np.sort(tenths).astype(float)
    groups = Ranking(pd.Series(ranks), None, distance).groups()
    for i in range(len(ranks)):
        for j in range(i + 1, len(ranks)):
            joined = any(first <= i and j <= last for first, last in groups)
            assert joined == (ranks[j] - ranks[i] <= distance)
    assert all(not (a[0] <= b[0] and b[1] <= a[1]) for a in groups for b in groups if a != b)
