"""The pages and the example of this room run, print what they say, and leave no function out."""

import doctest
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from mlspl import pacing

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["pacing.md", "write_your_own.md", "pace_your_own.md"])
def test_the_page_tells_the_truth(page):
    result = doctest.testfile(str(ROOT / "docs" / page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert result.attempted > 10
    assert result.failed == 0


def test_the_page_lists_every_function():
    page = (ROOT / "docs" / "pacing.md").read_text(encoding="utf-8")
    for name in pacing.names():
        assert f"| `{name}` |" in page


def test_the_example_runs(monkeypatch, capsys):
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(str(ROOT / "examples" / "plot_write_your_own.py"))
    plt.close("all")
    assert "Ramp(width=0.5): 1 of 12 conditions fails." in capsys.readouterr().out


def test_a_learner_of_ones_own_is_paced_and_flipped_labels_enter_late(monkeypatch):
    monkeypatch.setattr(plt, "show", lambda: None)
    names = runpy.run_path(str(ROOT / "examples" / "plot_pace_your_own.py"))
    plt.close("all")
    lateness, flipped = names["run"].trace.lateness, names["flipped"]
    assert lateness[flipped].mean() > lateness[~flipped].mean() + 0.2


def test_the_readmes_picture_is_what_the_command_draws(tmp_path):
    kept = ROOT / "docs" / "images" / "self_paced_functions.png"
    assert kept.read_bytes().startswith(b"\x89PNG")
    drawn = plt.imread(pacing.save_plot(["arctan", "sigmoid", "tanh", "exponential"], tmp_path / "four.png"))
    assert plt.imread(kept).shape == drawn.shape
