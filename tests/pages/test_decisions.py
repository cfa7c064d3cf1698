"""`read_decisions`: decisions that contradict each other, and names that can mean two labels."""

import numpy as np
import pytest

from mlspl.datasets import DataFormatError, Dataset
from mlspl.pages import read_cells, read_decisions


def make_songs(names):
    return Dataset(np.ones((2, 1)), np.eye(2, dtype=int), ["tempo"], names)


def write_decisions(path, songs, *rows):
    lines = [f"{songs.fingerprint()},{row}" for row in rows]
    path.write_text("\n".join(["fingerprint,row,label,suggested,decision", *lines, ""]))
    return path


@pytest.mark.parametrize("second", ["0,happy,1,accepted", "0,happy,0,rejected", "0,happy,0,unsure"])
def test_decisions_that_contradict_each_other_are_refused(tmp_path, second):
    songs = make_songs(["happy", "calm"])
    path = write_decisions(tmp_path / "decisions.csv", songs, "0,happy,0,accepted", second)
    with pytest.raises(DataFormatError, match=r"decisions.csv.*3.*two different decisions"):
        read_decisions(path, songs)


def test_a_repeated_decision_counts_once(tmp_path):
    songs = make_songs(["happy", "calm"])
    path = write_decisions(tmp_path / "decisions.csv", songs, *["0,happy,0,accepted"] * 2)
    assert read_decisions(path, songs)["value"].tolist() == [0.0]


def test_a_formula_is_found_with_an_apostrophe_and_without(tmp_path):
    songs = make_songs(["=x", "calm"])
    for name in ("=x", "'=x"):
        path = write_decisions(tmp_path / "decisions.csv", songs, f"1,{name},1,accepted")
        assert read_decisions(path, songs)[["row", "label", "value"]].to_numpy().tolist() == [[1, 0, 1]]


def test_a_name_that_can_mean_two_labels_is_refused(tmp_path):
    songs = make_songs(["=x", "'=x"])
    path = write_decisions(tmp_path / "decisions.csv", songs, "1,'=x,0,accepted")
    with pytest.raises(DataFormatError, match="two labels"):
        read_decisions(path, songs)


def test_rows_with_more_fields_than_the_header_are_refused(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("a,b\n1,0,1\n0,1,1\n")
    with pytest.raises(DataFormatError, match=r"votes\.csv"):
        read_cells(path)
