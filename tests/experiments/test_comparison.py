"""Comparing methods: what is paired with what, what is left out, and other people's tables."""

import numpy as np
import pandas as pd
import pytest

from mlspl.errors import UserError
from mlspl.experiments import (
    PUBLISHED,
    Outcome,
    Store,
    Trial,
    compare,
    critical_difference,
    known_directions,
    read_scores,
    score_table,
    wilcoxon_pairs,
)
from mlspl.experiments.comparison import ALL_DATASETS
from mlspl.experiments.statistics import friedman
from mlspl.recipes import get_method


def random_scores(n_datasets=3, n_splits=5, methods="abc", seed=0):
    rng = np.random.default_rng(seed)
    rows = [
        (f"set {d}", method, split, rng.normal(i, 0.5))
        for d in range(n_datasets)
        for i, method in enumerate(methods)
        for split in range(n_splits)
    ]
    return pd.DataFrame(rows, columns=["block", "variant", "split", "one_error"])


def test_pairs_are_tested_split_by_split_on_each_data_set():
    scores = random_scores().sample(frac=1, random_state=0)
    result = compare(scores, "one_error", greater_is_better=False)
    for block, group in scores.groupby("block"):
        paired = group.pivot(index="split", columns="variant", values="one_error")
        expected = wilcoxon_pairs(paired, list("abc"), greater_is_better=False)
        ours = result.pairs[result.pairs["block"] == block].drop(columns="block").reset_index(drop=True)
        pd.testing.assert_frame_equal(ours, expected)
    assert ALL_DATASETS not in set(result.pairs["block"])


def test_ranks_and_friedman_are_of_the_means_over_data_sets():
    scores = random_scores(n_datasets=7)
    result = compare(scores, "one_error", greater_is_better=False, alpha=0.1)
    means = scores.groupby(["block", "variant"])["one_error"].mean().unstack()
    pd.testing.assert_frame_equal(result.means, means, check_names=False)
    assert result.ranking.p_value == friedman(means)
    assert result.ranking.ranks.to_dict() == means.rank(axis=1).mean().to_dict()
    assert result.ranking.distance == critical_difference(3, 7, 0.1)
    assert (result.pairs["block"] == ALL_DATASETS).sum() == 3


def test_what_is_not_complete_is_left_out_and_said():
    scores = random_scores()
    lacking = scores.drop(scores.index[(scores["block"] == "set 0") & (scores["variant"] == "a")][:2])
    lacking = lacking[~((lacking["block"] == "set 1") & (lacking["variant"] == "b"))]
    result = compare(lacking, "one_error", greater_is_better=False)
    assert [note.partition(":")[0] for note in result.notes] == ["set 0", "set 1"]
    assert "2 of 5 splits" in result.notes[0]
    assert "no scores of 'b'" in result.notes[1]
    assert list(result.means.index) == ["set 0", "set 2"]
    assert (result.pairs.loc[result.pairs["block"] == "set 0", "blocks"] == 3).all()
    assert set(result.pairs.loc[result.pairs["block"] == "set 1", "better"]) <= {"a", "c"}


def test_one_data_set_has_pairs_but_no_ranks():
    result = compare(random_scores(n_datasets=1), "one_error", greater_is_better=False)
    assert result.ranking is None
    assert len(result.pairs) == 3


def test_two_methods_have_pairs_but_no_ranks():
    result = compare(random_scores(methods="ab"), "one_error", greater_is_better=False)
    assert result.ranking is None
    assert result.pairs["better"].tolist() == ["a", "a", "a"]


def test_one_split_of_one_method_compares_to_nothing():
    result = compare(random_scores(1, 1, "a"), "one_error", greater_is_better=False)
    assert len(result.pairs) == 0


def test_a_store_and_its_csv_say_the_same(paper_store, tmp_path):
    table = score_table(paper_store.frame())
    exported = table[["dataset", "method", "split", *known_directions(table)]]
    exported.to_csv(tmp_path / "scores.csv", index=False)
    here, there = read_scores(paper_store.path), read_scores(tmp_path / "scores.csv")
    assert known_directions(here) == known_directions(there)
    assert len(known_directions(here)) == 5
    for name, greater in known_directions(here).items():
        pd.testing.assert_frame_equal(compare(here, name, greater).pairs, compare(there, name, greater).pairs)


def test_means_per_data_set_need_no_splits(tmp_path):
    path = tmp_path / "means.csv"
    path.write_text("dataset, method, f1\nx, a, 0.5\nx, b, 0.6\nx, c, 0\ny, a, 0.5\ny, b, 0.7\ny, c, 0\n")
    result = compare(read_scores(path, criteria=["f1"]), "f1", greater_is_better=True)
    assert result.ranking.ranks.to_dict() == {"a": 2.0, "b": 1.0, "c": 3.0}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "neither a results file"),
        ("\x00\xff\x00", "no column|neither"),
        ("method,split,one_error\na,0,0.5\n", "no column 'dataset'"),
        ("dataset,split,one_error\na,0,0.5\n", "no column 'method'"),
        ("dataset,method,split,one_error\nx,a,0,0.5\nx,,1,0.5\n", "line 3: .* empty"),
        ("dataset,method,split,one_error\nx,a,0,0.5\nx,b,0,0.5\nx,a,0,0.4\n", "line 4: .* before"),
        ("dataset,method,split,one_error\nx,a,0,0.5\nx,b,0,half\n", "line 3: .*one_error"),
        ("dataset,method,split,remark\nx,a,0,good\n", "no column of numbers"),
        ('dataset,method\n"x,a\n', "neither|no column"),
    ],
)
def test_tables_that_are_not_tables_are_refused_with_a_sentence(tmp_path, text, sentence):
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(UserError, match=sentence):
        read_scores(path)


def test_columns_that_are_not_there_are_named(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,f1\nx,a,0,0.5\n")
    with pytest.raises(UserError, match="no column 'f2'"):
        read_scores(path, criteria=["f2"])
    with pytest.raises(UserError, match="There is no file"):
        read_scores(tmp_path / "nothing.csv")


def test_variants_of_standard_methods_are_left_out(tmp_path):
    path = tmp_path / "results.db"
    own, other = get_method(PUBLISHED).settings(""), {"pace_function": "tanh"}
    with Store(path) as store:
        for method, parameters in [
            (PUBLISHED, own),
            (PUBLISHED, own | other),
            ("custom", {"depth": 3}),
        ]:
            store.record(Trial("flags", "f", method, parameters, 0), Outcome(scores={"one_error": 0.5}))
    assert sorted(read_scores(path)["variant"]) == ["custom", "mlspl-published"]


def test_commas_at_the_ends_of_lines_make_no_column(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,one_error,\nx,a,0,0.5,\nx,b,0,0.6,\n")
    assert read_scores(path).to_dict("list") == {
        "block": ["x", "x"],
        "variant": ["a", "b"],
        "split": [0, 0],
        "one_error": [0.5, 0.6],
    }
    path.write_text("dataset,method,split,one_error\nx,a,0,0.5,\nx,b,0,0.6,7\n")
    with pytest.raises(UserError, match="header"):
        read_scores(path)


def test_a_header_alone_is_a_sentence(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("dataset,method,split,one_error\n")
    with pytest.raises(UserError, match="no rows"):
        read_scores(path)
