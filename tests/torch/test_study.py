"""The tables of the study of networks."""

import pandas as pd
import pytest

pytest.importorskip("torch")

from studies import networks


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Two splits of two studies with made-up scores, run in two calls."""
    calls = []

    def compare(name, split):
        calls.append((name, split))
        yield "families", "MLSPL-CV", 0.5
        yield "families", "MLSPL-CV with networks", 0.6 + split / 10

    def compare_losses(name, split):
        for table in ("last epoch", "stopped early"):
            for loss in networks.LOSSES:
                yield table, loss, 0.5 + (loss == "paced (default)") / 10

    studies = {"losses": (compare_losses, ["scene, clean"]), "families": (compare, ["flags", "scene"])}
    monkeypatch.setattr(networks, "STUDIES", studies)
    monkeypatch.setattr(networks, "RESULTS", tmp_path / "networks.csv.gz")
    networks.run(["families"], [0], 1e9)
    results = networks.run(studies, range(2), 1e9)
    assert calls == [("flags", 0), ("scene", 0), ("flags", 1), ("scene", 1)]
    return results


def test_finished_trials_are_read_and_not_run_again(results):
    pd.testing.assert_frame_equal(networks.run(networks.STUDIES, range(2), 1e9), results)
    assert len(results) == 8 + 2 * 2 * len(networks.LOSSES)


def test_tables_show_means_and_paired_differences(results):
    tables = networks.make_tables(results)
    assert "| flags | 0.500 | 0.650 | +0.150 ± 0.050 | 2 |" in tables["families"]
    assert "| paced (default) | 0.600 |" in tables["losses"]
    assert "| last epoch | +0.100 ± 0.000 |" in tables["losses"]
