import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

from mlspl import SelfPacedForestClassifier, curriculum, datasets
from mlspl.curriculum import NoiseDisplay

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


def test_many_labels_are_cut_and_it_is_said():
    rng = np.random.default_rng(0)
    names = [f"{rate}{end}" for rate in ("lost", "false") for end in ("", "_low", "_high")]
    rates = pd.DataFrame(rng.random((50, 6)), columns=names)
    rates.loc[3, "lost"] = np.nan
    display = NoiseDisplay(rates).plot()
    assert display.ax_.get_title(loc="left") == "30 of 50 labels"
    top = display.ax_.get_yticklabels()[-1].get_text()
    assert int(top) == (rates["lost"] + rates["false"]).idxmax()
