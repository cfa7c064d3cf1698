"""Pictures of fitted models: what is drawn is what was fitted."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlspl import (
    BSVMClassifier,
    HistoryDisplay,
    MLSPLClassifier,
    MLSPLClassifierCV,
    PacePathDisplay,
    ThresholdDisplay,
    TunedDecisionClassifier,
    datasets,
)
from mlspl.curriculum import DifficultyDisplay
from mlspl.errors import UserError

mpl.use("Agg")
DIGITS = datasets.load_dataset("digits-traits")
X, Y = DIGITS.X[:150] / 16, pd.DataFrame(DIGITS.Y[:150], columns=DIGITS.label_names)
X_NEW, Y_NEW = DIGITS.X[150:350] / 16, DIGITS.Y[150:350]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def paced():
    return make_pipeline(StandardScaler(), MLSPLClassifier(random_state=0)).fit(X, Y)


@pytest.fixture(scope="module")
def cut():
    return TunedDecisionClassifier(BSVMClassifier(), thresholds=["label"]).fit(X, Y)


def lines(ax):
    return {line.get_label(): line for line in ax.get_lines()}


def test_a_history_has_weights_losses_and_pairs_in_play(paced):
    history = paced[-1].history_
    display = HistoryDisplay.from_estimator(paced)
    drawn = lines(display.ax_)["mean weight"]
    assert drawn.get_xdata().tolist() == [1, 2, 3]
    assert drawn.get_ydata() == pytest.approx([record["mean_weight"] for record in history])
    losses = lines(display.loss_ax_)["mean loss"].get_ydata()
    assert losses == pytest.approx([record["mean_loss"] for record in history])
    (band,) = display.ax_.collections
    heights = band.get_paths()[0].vertices[:, 1]
    in_play = np.array([record["in_play"] for record in history])
    assert (heights.min(), heights.max()) == pytest.approx((in_play.min(), in_play.max()))


def test_families_are_lines_of_their_own():
    model = MLSPLClassifierCV(budget="fast", C=(1.0,), random_state=0).fit(X, Y)
    display = HistoryDisplay.from_estimator(model)
    assert {"kernel: mean weight"} <= lines(display.ax_).keys()
    assert PacePathDisplay.from_estimator(model).ax_.get_xlim()[1] == 1.0


def test_an_unpaced_history_has_no_axis_of_losses():
    model = MLSPLClassifier(pace_function=None, random_state=0).fit(X, Y)
    assert HistoryDisplay.from_estimator(model).loss_ax_ is None


def test_curves_are_f1_at_every_cut_and_dots_are_the_models(cut):
    display = ThresholdDisplay.from_estimator(cut, X_NEW, Y_NEW)
    assert [line.get_label() for line in display.ax_.get_lines()][::2] == [
        DIGITS.label_names[label] for label in display.labels
    ]
    scores, predicted = cut.decision_function(X_NEW), cut.predict(X_NEW)
    for label, curve, dot in zip(
        display.labels, display.ax_.get_lines()[::2], display.ax_.get_lines()[1::2], strict=True
    ):
        (place,), (value,) = dot.get_data()
        assert place == cut.threshold_.cut_[label]
        assert value == pytest.approx(f1_score(Y_NEW[:, label], predicted[:, label]))
        for at, expected in list(zip(*curve.get_data(), strict=True))[::40]:
            given = f1_score(Y_NEW[:, label], scores[:, label] > at, zero_division=1.0)
            assert expected == pytest.approx(given)


def test_unknown_labels_are_left_out_and_labels_may_be_named(cut):
    known = Y_NEW.astype(float)
    known[:100, 0] = np.nan
    name = DIGITS.label_names[0]
    display = ThresholdDisplay.from_estimator(cut, X_NEW, known, labels=[name])
    dot = display.ax_.get_lines()[1]
    reached = f1_score(Y_NEW[100:, 0], cut.predict(X_NEW)[100:, 0])
    assert dot.get_ydata()[0] == pytest.approx(reached)
    assert display.ax_.get_title(loc="left") == "1 of 8 labels"


def test_models_without_cuts_have_no_dots():
    model = TunedDecisionClassifier(BSVMClassifier(), thresholds=["count"]).fit(X, Y)
    assert len(ThresholdDisplay.from_estimator(model, X_NEW, Y_NEW).ax_.get_lines()) == 8
    zero = ThresholdDisplay.from_estimator(BSVMClassifier().fit(X, Y), X_NEW, Y_NEW)
    assert zero.cuts.tolist() == [0.0] * 8


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda: HistoryDisplay.from_estimator(BSVMClassifier()), "BSVMClassifier has no history_"),
        (lambda: PacePathDisplay.from_estimator(BSVMClassifier()), "Fit an MLSPLClassifierCV"),
        (
            lambda: DifficultyDisplay.from_estimator(make_pipeline(BSVMClassifier())),
            "BSVMClassifier has no trace_",
        ),
        (lambda: ThresholdDisplay(Y, np.zeros(Y.shape), list(Y), labels=["odd"]), "no label 'odd'"),
    ],
)
def test_what_cannot_be_drawn_is_said(draw, sentence):
    with pytest.raises(UserError, match=sentence):
        draw()
