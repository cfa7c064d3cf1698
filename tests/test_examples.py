"""Every example of the gallery runs, without a warning and without a network, and draws something."""

import runpy
import socket
from pathlib import Path

import matplotlib as mpl
import pytest

EXAMPLES = sorted((Path(__file__).resolve().parent.parent / "examples").glob("plot_*.py"))


def test_there_are_a_dozen():
    assert len(EXAMPLES) >= 12


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem.removeprefix("plot_"))
def test_examples_run(path, monkeypatch, capsys):
    def refuse(*_):
        raise AssertionError("an example asks for the network")

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    monkeypatch.setattr(socket.socket, "connect", refuse)
    plt.close("all")
    try:
        runpy.run_path(str(path))
        assert plt.get_fignums()
    finally:
        plt.close("all")
    assert capsys.readouterr().out.strip()
