"""From trials to means: what is averaged, what is best, what the paper says, how variants are named."""

import numpy as np
import pytest

from mlspl.experiments import PAPER_CRITERIA, Outcome, Store, Trial, paper_mean, score_table, summarise
from mlspl.metrics import CRITERIA


def record(path, *trials, score=0.5):
    with Store(path) as store:
        for i, trial in enumerate(trials):
            store.record(
                trial, Outcome(scores={"one_error": score + i / 1000}, chosen=dict(trial.parameters))
            )
        return score_table(store.frame())


def trial(split=0, dataset="flags", method="ml-knn", parameters=None, **options):
    return Trial(
        dataset, "content", method, {"k": "auto"} if parameters is None else parameters, split, **options
    )


def test_means_deviations_and_the_papers_numbers(paper_store):
    summary = summarise(score_table(paper_store.frame())).set_index(["dataset", "method", "criterion"])
    assert len(summary) == 3 * 3 * 5
    for (dataset, method, criterion), row in summary.iterrows():
        paper = paper_mean(dataset, method, criterion)
        step = 0.001 if method == "tram" else 0.002
        assert row["paper"] == paper
        assert row["mean"] == pytest.approx(paper + step / 2)
        assert row["std"] == pytest.approx(step * np.std([-2, -1, 0, 1, 2, 3], ddof=1))
        assert row["difference"] == pytest.approx(step / 2)
        assert row["splits"] == 6


def test_best_follows_the_direction(paper_store):
    summary = summarise(score_table(paper_store.frame()))
    for (_, criterion), group in summary.groupby(["dataset", "criterion"]):
        choose = "max" if CRITERIA[criterion].greater_is_better else "min"
        assert (group["best"] == (group["mean"].round(4) == getattr(group["mean"].round(4), choose)())).all()
    assert summary.groupby(["dataset", "criterion"])["best"].any().all()


def test_what_prints_equal_is_equally_good(tmp_path):
    scores = record(tmp_path / "a.db", trial(), trial(method="tram"), score=0.5)
    scores["one_error"] = [0.50001, 0.50002]
    assert summarise(scores)["best"].tolist() == [True, True]


def test_one_split_has_no_deviation(tmp_path):
    assert np.isnan(summarise(record(tmp_path / "a.db", trial()))["std"]).all()


@pytest.mark.parametrize(
    ("changes", "comparable"),
    [
        ({}, True),
        ({"train": 0.5}, True),
        ({"parameters": {"k": 7}}, False),
        ({"corruption": "flip:0.2"}, False),
        ({"dataset": "yeast"}, False),
        ({"method": "someone-elses"}, False),
    ],
)
def test_the_paper_stands_beside_what_it_is_about(tmp_path, changes, comparable):
    summary = summarise(record(tmp_path / "a.db", trial(**changes)))
    assert summary["paper"].notna().tolist() == [comparable]


def test_variants_are_named_by_what_differs(tmp_path):
    scores = record(
        tmp_path / "a.db",
        trial(method="mlspl", parameters={"pace_function": "sigmoid", "growth": 1.3}),
        trial(method="mlspl", parameters={"pace_function": "tanh", "growth": 1.3}),
        trial(method="mlspl", parameters={"pace_function": ["tanh"], "growth": [1.2, 1.3]}, tune="one_error"),
        trial(method="ml-knn"),
        trial(method="tram", version="0.0.1"),
        trial(method="tram", version="0.0.2"),
    )
    assert sorted(scores["variant"]) == [
        "ml-knn",
        "mlspl (growth=1.3, sigmoid)",
        "mlspl (growth=1.3, tanh)",
        "mlspl (tanh, tuned by one_error)",
        "tram (version=0.0.1)",
        "tram (version=0.0.2)",
    ]


def test_blocks_are_named_by_what_differs(tmp_path):
    scores = record(
        tmp_path / "a.db",
        trial(),
        trial(train=0.5),
        trial(corruption="flip:0.2"),
        Trial("scene", "content of another file", "ml-knn", {}, 0),
        Trial("scene", "same name", "ml-knn", {}, 0),
    )
    assert sorted(scores["block"]) == [
        "flags, 30 % training",
        "flags, 30 % training, flip:0.2",
        "flags, 50 % training",
        "scene, content , 30 % training",
        "scene, same nam, 30 % training",
    ]


def test_failed_trials_have_no_scores(tmp_path):
    with Store(tmp_path / "a.db") as store:
        store.record(trial(), Outcome(error="ValueError: no"))
        store.record(trial(1), Outcome(scores={"one_error": 0.5}))
        assert score_table(store.frame())["split"].tolist() == [1]


def test_the_papers_best_column_is_its_own_method():
    """A check of the typing: the paper prints MLSPL in bold everywhere."""
    from mlspl.experiments import PAPER_DATASETS, PAPER_METHODS

    for dataset in PAPER_DATASETS:
        for criterion in PAPER_CRITERIA:
            means = [paper_mean(dataset, method, criterion) for method in PAPER_METHODS]
            best = max(means) if CRITERIA[criterion].greater_is_better else min(means)
            assert means[-1] == best
