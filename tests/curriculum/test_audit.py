"""The audit on embedded data with planted errors."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics import average_precision_score
from sklearn.multioutput import MultiOutputClassifier

from mlspl import BSVMClassifier, SelfPacedClassifier, SelfPacedForestClassifier, curriculum, datasets
from mlspl.errors import UserError
from mlspl.metrics import hamming_loss
from mlspl.pacing import QuantilePace

N = 500


@pytest.fixture(scope="module")
def planted():
    digits = datasets.load_dataset("digits-traits")
    Y, mask = datasets.corrupt(digits.Y[:N], "flip", 0.1, random_state=0)
    return digits.X[:N], Y, mask, digits


@pytest.fixture(scope="module")
def found(planted):
    X, Y, _, _ = planted
    names = [f"trait {label}" for label in range(Y.shape[1])]
    table = pd.DataFrame(Y, columns=names, index=[f"digit {i}" for i in range(N)])
    return curriculum.audit(X, table, BSVMClassifier(gamma="scale"), random_state=0)


def test_planted_errors_come_first_and_are_counted(planted, found):
    mask = planted[2]
    assert average_precision_score(mask.ravel(), found.suspicion.ravel()) > 0.9
    assert mask[found.suspicion >= 0.8].mean() > 0.85
    assert found.expected_errors == pytest.approx(mask.sum(), rel=1 / 3)


def test_issues_name_rows_and_labels_and_say_why(planted, found):
    _, Y, _, _ = planted
    issues = found.issues
    assert issues["suspicion"].is_monotonic_decreasing
    assert issues["suspicion"].min() >= 0.1
    rows, labels = issues["row_number"].to_numpy(), issues["label_number"].to_numpy()
    assert (issues["given"] == Y[rows, labels]).all()
    assert (issues["suggested"] == 1 - issues["given"]).all()
    assert issues.loc[0, "row"] == f"digit {rows[0]}"
    assert issues.loc[0, "label"] == f"trait {labels[0]}"
    assert issues["why"].str.contains("% likely by its features").all()
    assert issues["why"].str.contains("with").any()


def test_tables_of_labels_and_rows_agree_with_the_suspicions(found):
    labels, rows = found.labels, found.rows
    assert list(labels.index) == found.label_names
    assert (labels["expected_lost"] + labels["expected_false"]).sum() == pytest.approx(found.expected_errors)
    assert rows["expected_errors"].sum() == pytest.approx(found.expected_errors)
    assert rows.index[3] == "digit 3"
    assert labels["auc"].between(0.5, 1).all()
    assert np.isfinite(found.difficulty.pairs).all()
    assert repr(found).startswith("Audit of 500 rows")
    assert "<table" in found._repr_html_()
    assert repr(found) in found._repr_html_()


def test_correcting_makes_suspects_unknown_or_turns_them(found):
    suspects = found.suspicion >= 0.8
    unknown, turned = found.corrected(), found.corrected(0.8, unknown=False)
    assert isinstance(unknown, pd.DataFrame)
    assert np.array_equal(unknown.isna(), suspects)
    assert np.array_equal(turned.to_numpy() != found.given, suspects)
    with pytest.raises(UserError, match="threshold"):
        found.corrected(0.0)


def test_reviewed_pairs_are_settled_and_others_are_offered(planted, found):
    X, Y, mask, _ = planted
    offered = found.most_informative
    assert len(offered) == 100
    assert offered["label"].nunique() == Y.shape[1]
    reviewed = np.full(Y.shape, np.nan)
    rows, labels = offered["row_number"].to_numpy(), offered["label_number"].to_numpy()
    reviewed[rows, labels] = np.where(mask, 1 - Y, Y)[rows, labels]
    again = curriculum.audit(X, Y, BSVMClassifier(gamma="scale"), random_state=0, reviewed=reviewed)
    assert np.array_equal(again.suspicion[rows, labels], mask[rows, labels])
    listed = set(zip(again.issues["row_number"], again.issues["label_number"], strict=True))
    assert not listed & set(zip(rows, labels, strict=True))
    assert again.instance_dependent < 0.2, "these errors ignore the features"


def test_incomplete_labels_and_sparse_rows(planted):
    X, Y, _, _ = planted
    found = curriculum.audit(sparse.csr_array(X[:200]), Y[:200], absent="unknown", random_state=0)
    assert list(found.models) == ["linear"]
    assert (found.issues["given"] == 0).all()


def test_fitting_on_corrected_labels_helps(planted):
    X, _, _, digits = planted
    Y, _ = datasets.corrupt(digits.Y[:N], "missing", 0.4, random_state=0)
    found = curriculum.audit(X, Y, BSVMClassifier(gamma="scale"), random_state=0)
    rest = slice(N, None)

    def loss(labels):
        model = BSVMClassifier(gamma="scale", n_jobs=2).fit(X, labels)
        return hamming_loss(digits.Y[rest], model.predict(digits.X[rest]))

    noisy, clean = loss(Y), loss(digits.Y[:N])
    # At least half of what the lost labels cost is won back.
    assert loss(found.corrected(0.8)) < (noisy + clean) / 2
    assert loss(found.corrected(0.8, unknown=False)) < (noisy + clean) / 2


def test_the_default_asks_a_kernel_machine_a_paced_forest_and_a_linear_model(planted):
    X, Y, mask, _ = planted
    few = slice(0, 120)
    found = curriculum.audit(X[few], Y[few, :3], random_state=0)
    assert set(found.models) == {"kernel", "forest", "linear"}
    assert sum(found.models.values()) == pytest.approx(1)
    assert found.trace is not None
    assert average_precision_score(mask[few, :3].ravel(), found.suspicion.ravel()) > 0.5


@pytest.mark.parametrize(
    "estimator",
    [
        ExtraTreesClassifier(30, random_state=0),
        SelfPacedForestClassifier(30, random_state=0),
        SelfPacedClassifier(RidgeClassifier(), random_state=0),
    ],
)
def test_any_estimator_of_all_labels_serves(planted, estimator):
    X, Y, mask, _ = planted
    found = curriculum.audit(X[:150], Y[:150], estimator, cv=3, random_state=0)
    assert average_precision_score(mask[:150].ravel(), found.suspicion.ravel()) > 3 * mask[:150].mean()
    assert (found.trace is not None) == hasattr(estimator, "pace_function")
    again = curriculum.audit(X[:150], Y[:150], estimator, cv=3, random_state=0)
    assert np.array_equal(again.suspicion, found.suspicion)


def test_unknown_and_sparse_labels_and_sparse_features(planted):
    X, Y, _, _ = planted
    Y = Y[:150].astype(float)
    Y[:20, 0] = np.nan
    model = BSVMClassifier(gamma="scale")
    dense = curriculum.audit(X[:150], Y, model, cv=3, random_state=0)
    assert np.isnan(dense.suspicion[:20, 0]).all()
    assert len(dense.proposals) == 20
    assert dense.labels["unknown"].tolist()[:2] == [20, 0]
    assert np.isnan(dense.corrected()[:20, 0]).all()
    signed = curriculum.audit(sparse.csr_array(X[:150]), 2 * Y - 1, model, cv=3, random_state=0)
    assert np.nan_to_num(signed.suspicion) == pytest.approx(np.nan_to_num(dense.suspicion), abs=0.02)
    assert set(np.unique(signed.corrected(unknown=False)[20:])) == {-1.0, 1.0}


def test_what_cannot_be_audited_is_refused(planted):
    X, Y, _, _ = planted
    with pytest.raises(UserError, match="same rows"):
        curriculum.audit(X[:10], Y)
    with pytest.raises(UserError, match="folds"):
        curriculum.audit(X, Y, cv=1)


def test_a_paced_forest_is_asked_before_it_is_paced(planted):
    X, Y, _, _ = planted
    Y = Y[:150].astype(float)
    Y[:10, 1] = np.nan
    forests = [
        SelfPacedForestClassifier(20, random_state=0, pace_function=None),
        SelfPacedForestClassifier(20, random_state=0),
        SelfPacedForestClassifier(20, random_state=0, schedule=QuantilePace(0.5, 0.9, 2)),
    ]
    unpaced, once, twice = (curriculum.audit(X[:150], Y, forest, random_state=0) for forest in forests)
    assert unpaced.trace is None
    # The trace keeps losses in single precision.
    assert once.probabilities == pytest.approx(unpaced.probabilities, abs=1e-4)
    assert np.array_equal(twice.probabilities, unpaced.probabilities)
    assert twice.trace.n_steps == 2


def test_words_among_the_features_are_located():
    X = pd.DataFrame({"x": np.arange(20.0), "colour": ["blue", "red"] * 10})
    with pytest.raises(UserError, match=r"X\[0, 1\] .*'blue'"):
        curriculum.audit(X, np.arange(40).reshape(20, 2) % 3 == 0)


@pytest.fixture(scope="module")
def judged():
    """Rows of which a fifth is ambiguous: three annotators vary there, and seldom err elsewhere."""
    rng = np.random.default_rng(0)
    n, L = 900, 3
    odds = rng.normal(0, 2, (n, L))
    true = odds > 0
    ambiguous = rng.random((n, 1)) < 0.2
    wrong = rng.random((n, L, 3)) < np.where(ambiguous, 0.4, 0.06)[:, :, None]
    X = odds + rng.normal(0, 0.5, (n, L))
    return X, true, (true[:, :, None] ^ wrong).astype(float), ambiguous[:, 0]


def logistic():
    return MultiOutputClassifier(LogisticRegression())


def test_annotators_tell_errors_from_ambiguous_rows(judged):
    X, true, votes, ambiguous = judged
    given = votes[:, :, 0]
    alone = curriculum.audit(X, given, logistic(), random_state=0)
    found = curriculum.audit(X, given, logistic(), random_state=0, annotations=votes)
    wrong = (given != true).ravel()
    scores = [average_precision_score(wrong, one.suspicion.ravel()) for one in (alone, found)]
    assert scores[1] > scores[0] + 0.03
    assert found.expected_errors == pytest.approx(wrong.sum(), rel=1 / 3)
    ones = votes.sum(axis=2)
    lone, split = (given == 1) & (ones == 1), (given == 1) & (ones == 2)
    assert found.suspicion[lone].mean() > 0.6 > 0.4 > found.suspicion[split].mean()
    rows = found.rows["disagreement"]
    assert rows[ambiguous].mean() > 2 * rows[~ambiguous].mean()
    first = found.issues.iloc[0]
    assert first["judged"] == 3
    assert first["ones"] == ones[first["row_number"], first["label_number"]]
    assert "2 of 3 annotators" in first["why"]
    assert list(found.annotators.annotators["rows"]) == [900] * 3


def test_rows_judged_once_follow_those_judged_by_several(judged):
    X, true, votes, _ = judged
    given = votes[:, :, 0].copy()
    few = np.where(np.arange(len(X))[:, None, None] < 300, votes, np.nan)
    few[:, :, 0] = given
    found = curriculum.audit(X, given, logistic(), random_state=0, annotations=few)
    rest = np.arange(len(X)) >= 300
    errors = (given != true)[rest].sum()
    assert 0.5 < found.suspicion[rest].sum() / errors < 2
    low, high = found.error_range
    assert low <= found.expected_errors <= high
    named = pd.DataFrame(given, columns=["a", "b", "c"])
    turned = {
        who: pd.DataFrame(few[:, ::-1, who], columns=["c", "b", "a"]) for who in range(3)
    }  # labels in another order
    again = curriculum.audit(X, named, logistic(), random_state=0, annotations=turned)
    assert np.allclose(again.suspicion, found.suspicion)
    made = curriculum.consensus(X, few, probabilities=found.probabilities)
    third = curriculum.audit(X, given, logistic(), random_state=0, annotations=made)
    assert np.allclose(third.suspicion, found.suspicion)
    fewer = {who: table[["a", "b"]] for who, table in turned.items()}
    assert curriculum.audit(X, named, logistic(), annotations=fewer)._opinions.judged[:, 2].max() == 0
    with pytest.raises(UserError, match="does not have: 'x'"):
        curriculum.audit(X, named, logistic(), annotations={"ann": named.set_axis(["a", "b", "x"], axis=1)})
    with pytest.raises(UserError, match="rows"):
        curriculum.audit(X[:90], given[:90], logistic(), annotations=made)
