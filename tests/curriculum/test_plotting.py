import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from mlspl import BSVMClassifier, SelfPacedForestClassifier, curriculum, datasets
from mlspl.curriculum import DifficultyDisplay, NoiseDisplay
from mlspl.errors import UserError

mpl.use("Agg")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def forest():
    digits = datasets.load_dataset("digits-traits")
    X, Y = digits.X[:120], pd.DataFrame(digits.Y[:120], columns=digits.label_names)
    model = SelfPacedForestClassifier(20, random_state=0)
    return model, X, Y, curriculum.audit(X, Y, model, random_state=0)


def test_noise_shows_every_rate_at_its_place(forest):
    *_, found = forest
    ax = NoiseDisplay.from_audit(found).ax_
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(names) == sorted(found.label_names)
    lost = next(line for line in ax.get_lines() if line.get_label() == "positives lost")
    assert lost.get_xdata() == pytest.approx(found.noise_rates.loc[names, "lost"].to_numpy())


def test_the_hardest_label_is_on_top(forest):
    *_, found = forest
    ax = DifficultyDisplay.from_audit(found).ax_
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[-1] == found.label_names[int(np.argmax(found.difficulty.labels))]


def test_difficulty_of_an_estimator_is_that_of_its_audit(forest):
    model, X, Y, found = forest
    display = DifficultyDisplay.from_estimator(model.fit(X, Y))
    assert display.figure_ is display.ax_.figure
    assert display.difficulty.pairs == pytest.approx(found.difficulty.pairs)
    with pytest.raises(UserError, match="trace_"):
        DifficultyDisplay.from_estimator(BSVMClassifier())


def test_noise_from_an_estimator_is_that_of_its_audit(forest):
    model, X, Y, found = forest
    rates = NoiseDisplay.from_estimator(model, X, Y, random_state=0).noise_rates
    assert rates["lost"].to_numpy() == pytest.approx(found.noise_rates["lost"].to_numpy())


def test_many_labels_are_cut_and_it_is_said():
    pairs = np.random.default_rng(0).random((20, 50))
    pairs[:, 3] = np.nan
    ax = DifficultyDisplay(curriculum.Difficulty(pairs), [str(label) for label in range(50)]).plot().ax_
    assert ax.get_title(loc="left") == "30 of 50 labels"
