import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from mlspl import BSVMClassifier, SelfPacedForestClassifier, curriculum, datasets
from mlspl.curriculum import DifficultyDisplay, EntryDisplay, NoiseDisplay
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
    ax = curriculum.plot_noise(found).ax_
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert sorted(names) == sorted(found.label_names)
    lost = next(line for line in ax.get_lines() if line.get_label() == "positives lost")
    assert lost.get_xdata() == pytest.approx(found.noise_rates.loc[names, "lost"].to_numpy())


def test_the_hardest_label_is_on_top(forest):
    *_, found = forest
    ax = curriculum.plot_difficulty(found).ax_
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names[-1] == found.label_names[int(np.argmax(found.difficulty.labels))]


def test_entry_shows_the_share_of_pairs_that_entered(forest):
    model, X, Y, found = forest
    display = curriculum.plot_entry(found)
    expected = (found.trace.entered > 0).mean(axis=0)
    assert display.shares[-1] == pytest.approx(expected)
    assert display.figure_ is display.ax_.figure
    fitted = model.fit(X, Y)
    assert EntryDisplay.from_estimator(fitted).shares == pytest.approx(display.shares)
    assert DifficultyDisplay.from_estimator(fitted).difficulty.pairs == pytest.approx(found.difficulty.pairs)


def test_noise_from_an_estimator_is_that_of_its_audit(forest):
    model, X, Y, found = forest
    rates = NoiseDisplay.from_estimator(model, X, Y, random_state=0).noise_rates
    assert rates["lost"].to_numpy() == pytest.approx(found.noise_rates["lost"].to_numpy())


def test_many_labels_are_cut_and_it_is_said():
    pairs = np.random.default_rng(0).random((20, 50))
    pairs[:, 3] = np.nan
    ax = DifficultyDisplay(curriculum.Difficulty(pairs), [str(label) for label in range(50)]).plot().ax_
    assert ax.get_title(loc="left") == "30 of 50 labels"


def test_without_a_paced_model_nothing_entered(forest):
    _, X, Y, _ = forest
    found = curriculum.audit(X, Y, BSVMClassifier(), cv=2)
    with pytest.raises(UserError, match="no paced model"):
        curriculum.plot_entry(found)
    with pytest.raises(UserError, match="trace_"):
        EntryDisplay.from_estimator(BSVMClassifier())
