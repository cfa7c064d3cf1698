"""The benchmark runs what it declares, tunes everybody alike, and its page is that of its results file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from mlspl import MLkNNClassifier, TunedDecisionClassifier
from mlspl.datasets import NoisyLabels, load_dataset
from mlspl.errors import UserError
from mlspl.experiments import Outcome, Store, run_trial
from mlspl.model_selection import protocol_split
from mlspl.recipes import METHODS, get_method
from studies.benchmark import declaration
from studies.benchmark.__main__ import main
from studies.benchmark.adapters import AllLabels, PerLabel
from studies.benchmark.declaration import (
    CONDITIONS,
    ENTRIES,
    REAL,
    SETS,
    SPLITS,
    Sample,
    list_trials,
    load_real,
    load_set,
)
from studies.benchmark.figures import spread_labels
from studies.benchmark.methods import OUTSIDE
from studies.benchmark.page import RESULTS, benchmark_page
from studies.benchmark.scores import (
    compare_methods,
    group_ranks,
    mean_interval,
    real_means,
    score_trials,
    signed_rank_odds,
)
from studies.benchmark.tuning import N_SETTINGS, TunedClassifier, tune_method
from studies.results import export, join_results, load_into, read_results, write_results

DIGITS = load_dataset("digits-traits")
MODULES = {
    "lightgbm": "lightgbm",
    "boomer": "mlrl.boosting",
    "skml-ml-knn": "skmultilearn",
    "xgboost": "xgboost",
}
PLANTED = {name: n for name, n in SPLITS.items() if name != "real"}
PAGE = Path(__file__).parents[2] / "docs" / "benchmark.md"


@pytest.fixture(scope="module")
def small():
    """A sample with one label that no row has, as folds of rare labels have them."""
    sample = load_set("digits-traits", Sample(rows=120, labels=5))
    Y = sample.Y.copy()
    Y[:, 2] = 0
    return replace(sample, Y=Y)


def test_the_declaration_is_as_broad_as_was_asked_for(small):
    assert len(SETS) >= 11
    assert list(SPLITS) == list(CONDITIONS)
    assert len(ENTRIES) >= 12
    trials = list_trials({"digits-traits": small})
    assert len({trial.key for trial in trials}) == len(trials)
    assert len(trials) == len(ENTRIES) * sum(PLANTED.values())
    assert [trial.split for trial in trials] == sorted(trial.split for trial in trials)


def test_every_method_has_the_same_budget():
    budgets = {name: len(method.defaults.get("settings", [])) for name, method in ENTRIES.items()}
    assert {name for name, count in budgets.items() if count != N_SETTINGS} == {"mlspl-cv", "net"}
    with pytest.raises(UserError, match="settings to try"):
        tune_method(replace(OUTSIDE["naive-bayes"], grid={"alpha": [1.0, 2.0]}))


def test_samples_are_the_same_whenever_they_are_drawn():
    sample = Sample(rows=100, labels=3)
    first, second = (load_set("digits-traits", sample) for _ in range(2))
    assert first.fingerprint() == second.fingerprint()
    assert first.Y.shape == (100, 3)
    whole = load_set("digits-traits", Sample(rows=100, labels=99))
    counts = dict(zip(whole.label_names, whole.Y.sum(axis=0), strict=True))
    others = set(counts) - set(first.label_names)
    assert min(counts[name] for name in first.label_names) >= max(counts[name] for name in others)


def test_of_sparse_data_the_features_that_most_rows_have_are_taken(monkeypatch):
    X = sparse.csr_array((DIGITS.X > 8) * 1.0)
    monkeypatch.setattr(declaration, "load_dataset", lambda name, encode: replace(DIGITS, X=X))
    taken = load_set("digits-traits", Sample(rows=200, features=10))
    assert taken.X.shape == (200, 10)
    assert sorted(taken.X.sum(axis=0)) == sorted(load_set("d", Sample(rows=200)).X.sum(axis=0))[-10:]


@pytest.mark.parametrize("name", OUTSIDE)
@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_outside_methods_run_on_any_layout_and_with_a_label_nobody_has(name, layout, small):
    """One setting of each; the scores are those of a model that has learned something."""
    pytest.importorskip(MODULES.get(name, "sklearn"))
    data = small if layout == "dense" else replace(small, X=sparse.csr_array(small.X))
    (trial,) = list_trials({"digits-traits": data}, {name: ENTRIES[name]}, [""], 1)
    trial = replace(trial, parameters={**trial.parameters, "settings": trial.parameters["settings"][:1]})
    outcome = run_trial(trial, data, ENTRIES)
    assert outcome.error is None
    assert outcome.scores["average_precision"] > 0.7
    assert set(OUTSIDE[name].libraries) <= set(outcome.versions)


def test_our_methods_are_in_and_a_study_may_take_the_outside_ones():
    assert set(ENTRIES) >= set(OUTSIDE) | {"mlspl-cv", "mlspl", "forest", "bsvm", "extra-trees"}
    assert get_method("lightgbm+", {**METHODS, **OUTSIDE}).title == "LightGBM+"
    with pytest.raises(UserError, match="no method 'lightgbm'"):
        get_method("lightgbm")


def test_with_one_setting_tuning_is_a_tuned_decision():
    X, Y = DIGITS.X[:120], DIGITS.Y[:120]
    method = replace(METHODS["ml-knn"], defaults={})
    tuned = TunedClassifier(method, [{"k": 5}], cv=2, random_state=3).fit(X, Y)
    decided = TunedDecisionClassifier(MLkNNClassifier(k=5), "average_precision", cv=2, random_state=3)
    decided.fit(X, Y)
    assert tuned.decisions_ == decided.decisions_
    np.testing.assert_array_equal(tuned.predict(DIGITS.X[120:]), decided.predict(DIGITS.X[120:]))


def test_the_best_setting_is_taken_and_fitted_on_all_rows():
    X, Y = DIGITS.X[:120], DIGITS.Y[:120]
    settings = [{"k": 40}, {"k": 3}]
    tuned = TunedClassifier(METHODS["ml-knn"], settings, cv=2, random_state=0).fit(X, Y)
    best = max(tuned.cv_results_, key=lambda row: row["mean"])
    assert tuned.best_params_["k"] == best["k"] == tuned.estimator_.k == 3
    expected = MLkNNClassifier(k=3).fit(X, Y).decision_function(DIGITS.X[120:])
    np.testing.assert_array_equal(tuned.estimator_.decision_function(DIGITS.X[120:]), expected)


def test_features_that_no_split_can_use_change_nothing():
    rng = np.random.RandomState(0)
    X = (rng.uniform(size=(80, 30)) < np.linspace(0.01, 0.5, 30)) * 1.0
    Y = X[:, -3:] * (rng.uniform(size=(80, 3)) < 0.9)
    trees = HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5, early_stopping=False)
    whole, part = (PerLabel(trees, least=least).fit(sparse.csr_array(X), Y) for least in (0, 5))
    assert len(part.columns_) < len(whole.columns_) == 30
    np.testing.assert_array_equal(whole.decision_function(X), part.decision_function(X))


def test_scores_of_labels_that_are_the_same_in_all_rows():
    X, Y = DIGITS.X[:60], DIGITS.Y[:60, :3].copy()
    Y[:, 0], Y[:, 1] = 0, 1
    forest = AllLabels(RandomForestClassifier(10, random_state=0))
    for model in (PerLabel(LogisticRegression(max_iter=1000)), forest):
        scores = model.fit(X, Y).decision_function(DIGITS.X[60:90])
        np.testing.assert_allclose(expit(scores[:, 0]), 1e-6)
        np.testing.assert_allclose(expit(-scores[:, 1]), 1e-6)
        assert len(set(scores[:, 2])) > 1


def fill(store, datasets, worth, failing=()):
    """Every method scores what it is worth, and a little more on every split; some fail."""
    trials = list_trials(datasets, {name: ENTRIES[name] for name in worth})
    for trial in trials:
        value = worth[trial.method] + trial.split / 1000 - 0.1 * bool(trial.corruption)
        scores = dict.fromkeys(("average_precision", "macro_f1"), value)
        scores |= dict.fromkeys(("ranking_loss", "one_error", "coverage", "hamming_loss"), 1 - value)
        scores |= dict.fromkeys(("micro_f1", "subset_accuracy"), value)
        outcome = Outcome(scores=scores, fit_seconds=0.5, versions={"machine": "a machine", "numpy": "2.0"})
        if trial.method in failing:
            outcome = replace(outcome, scores={}, error="TimeLimit: more than 60 s")
        store.record(trial, outcome)
    return trials


@pytest.fixture
def filled(tmp_path):
    """Results on seven data sets, whose contents differ, of four methods; one always fails."""
    datasets = {
        name: replace(DIGITS, name=name, X=DIGITS.X[i : 60 + i], Y=DIGITS.Y[i : 60 + i])
        for i, name in enumerate(list(SETS)[:7])
    }
    worth = {"bsvm": 0.7, "ml-knn": 0.6, "boomer": 0.8, "tram": 0.9}
    with Store(tmp_path / "results.db") as store:
        trials = fill(store, datasets, worth, failing=["tram"])
        yield store, trials, datasets


def test_the_file_has_the_same_bytes_and_another_machine_goes_on_from_it(filled, tmp_path):
    store, trials, datasets = filled
    first, second = tmp_path / "first.csv.gz", tmp_path / "second.csv.gz"
    write_results(first, export(store, trials, datasets))
    with Store(tmp_path / "other.db") as other:
        assert load_into(other, read_results(first), trials) == len(trials)
        assert load_into(other, read_results(first), trials) == 0
        assert other.finished() == store.finished()
        assert other.failed() == store.failed()
        again = export(other, trials, datasets).assign(recorded="2099-01-01")
    write_results(second, join_results(read_results(first), again[again["error"] == ""]))
    assert second.read_bytes() == first.read_bytes()


def test_a_newer_version_replaces_its_own_trials_only(filled):
    store, trials, datasets = filled
    known = export(store, trials, datasets)
    newer = known[known["method"] == "bsvm"].assign(key=lambda rows: "new" + rows["key"], micro_f1=0.123)
    joined = join_results(known, newer)
    assert len(joined) == len(known)
    assert (joined["micro_f1"] == 0.123).sum() == len(newer)


def test_ranks_tests_and_failures_are_those_of_the_scores(filled):
    store, trials, datasets = filled
    table = score_trials(export(store, trials, datasets))
    comparison = compare_methods(table[table["corruption"] != ""], "average_precision", "corrupted")
    assert comparison.ranking.ranks.to_dict() == {"MLRL-Boomer": 1, "BSVM": 2, "ML-kNN": 3, "TRAM": 4}
    assert len(comparison.means) == 7
    assert compare_methods(table, "ranking_loss", "").ranking.ranks["MLRL-Boomer"] == 1
    ranks = group_ranks(table, "average_precision")
    assert ranks.loc["n", "all"] == 7 * len(PLANTED)
    assert ranks.loc["BSVM", "all"] == 2
    page = benchmark_page(export(store, trials, datasets), len(trials))
    assert "**MLRL-Boomer** has the best average rank (1.0)" in page
    assert "MLRL-Boomer is better by more than 0.005 than 3 of 3 methods" in page
    assert f"TRAM on flags ({sum(PLANTED.values())}: `TimeLimit: more than 60 s`)" in page
    assert "Not finished" not in page


def test_a_page_of_what_is_finished_says_so(filled):
    store, trials, datasets = filled
    part = export(store, trials, datasets)
    part = part[~((part["method"] == "bsvm") & (part["dataset"] == "flags"))]
    page = benchmark_page(part, len(trials) + 7)
    assert f"**Not finished:** {len(trials) + 7 - len(part)} trials" in page
    assert "flags: no scores of 'BSVM'; not ranked." in page
    with pytest.raises(UserError, match="no results yet"):
        benchmark_page(pd.DataFrame(columns=part.columns))


def test_the_committed_page_is_that_of_the_committed_results():
    assert benchmark_page(read_results(RESULTS)) == PAGE.read_text(encoding="utf-8")


def test_the_committed_results_are_those_of_the_declaration():
    results = read_results(RESULTS)
    assert set(SETS) <= set(results["dataset"]) <= {*SETS, *REAL}
    assert set(results["method"]) == set(ENTRIES)
    assert len(score_trials(results)) == len(results)
    assert not results.duplicated(["dataset", "corruption", "method", "split"]).any()
    assert RESULTS.stat().st_size < 500_000


def test_the_whole_way_on_embedded_data(tmp_path, capsys):
    """As `make benchmark QUICK=1` does it, with the quickest methods; the second time nothing is run."""
    arguments = [str(tmp_path), "--quick", "--jobs", "1", "--methods", "ml-knn,naive-bayes,linear-svm"]
    main(arguments)
    page = (tmp_path / "benchmark.md").read_text()
    written = (tmp_path / RESULTS.name).read_bytes()
    assert "30 of 30 trials are in the results file, and none failed" in page
    assert (tmp_path / "images" / "benchmark_time.png").stat().st_size > 10_000
    with Store(tmp_path / "results.db") as store:
        before = store.frame()["recorded"].tolist()
    main(arguments)
    with Store(tmp_path / "results.db") as store:
        assert store.frame()["recorded"].tolist() == before
    assert (tmp_path / RESULTS.name).read_bytes() == written


def test_methods_that_changed_run_again_and_replace_their_rows(tmp_path):
    arguments = [str(tmp_path), "--quick", "--jobs", "1", "--conditions", "flip:0.3"]
    main([*arguments, "--methods", "naive-bayes,linear-svm"])
    results = read_results(tmp_path / RESULTS.name)
    write_results(tmp_path / RESULTS.name, results.assign(macro_f1=0.125))
    (tmp_path / "results.db").unlink()
    main([*arguments, "--methods", "naive-bayes", "--again"])
    found = read_results(tmp_path / RESULTS.name).set_index(["method", "dataset", "split"])["macro_f1"]
    before = results.set_index(["method", "dataset", "split"])["macro_f1"]
    pd.testing.assert_series_equal(found["naive-bayes"], before["naive-bayes"])
    assert (found["linear-svm"] == 0.125).all()


def test_an_unknown_method_is_a_sentence(capsys):
    with pytest.raises(SystemExit):
        main(["somewhere", "--methods", "ours"])
    assert "'ours' is none of bsvm" in capsys.readouterr().err


def test_labels_of_a_figure_keep_their_distance():
    heights = spread_labels([0.0, 0.1, 0.2, 5.0, 5.0], 1.0)
    assert np.diff(heights).min() >= 1 - 1e-9
    assert heights == sorted(heights)


def test_real_sets_are_trained_on_given_labels_and_tested_on_the_truth(monkeypatch):
    given = np.tile([[0, 1]], (40, 1))
    noisy = NoisyLabels("a", DIGITS.X[:40], given, 1.0 - given, ["x", "y"])
    monkeypatch.setattr(declaration, "load_noisy_labels", lambda *_: noisy)
    data = load_real("mirflickr", 0)
    train, test = protocol_split(40, 0, declaration.TRAIN)
    np.testing.assert_array_equal(data.Y[train], given[train])
    np.testing.assert_array_equal(data.Y[test], 1 - given[test])
    assert [trial.split for trial in list_trials({data.name: data}, {"bsvm": ENTRIES["bsvm"]})] == [0]


def test_annotators_of_one_source_count_once():
    table = score_trials(read_results(RESULTS))
    means = real_means(table, "average_precision")
    assert set(means.index) == {"opp115", "chexpert", "mirflickr"}
    of_source = table[table["dataset"].str.startswith("OPP") & (table["method"] == "bsvm")]
    assert means.loc["opp115", "BSVM"] == pytest.approx(of_source["average_precision"].mean())


def test_signed_ranks_and_intervals():
    """Clear gains, clear losses and nothing at all; few sets leave more open than many."""
    assert signed_rank_odds([0.02] * 12)[0] > 0.99
    assert signed_rank_odds([-0.02] * 12)[2] > 0.99
    assert signed_rank_odds([0.001, -0.001] * 6)[1] > 0.99
    mixed = [0.02, 0.02, 0.0]
    assert signed_rank_odds(mixed)[0] < signed_rank_odds(mixed * 6)[0]
    low, high = mean_interval([0.01, 0.03] * 6)
    assert 0.01 < low < 0.02 < high < 0.03
