"""Disks that fill up while a command writes, folders it may not write to: a sentence, nothing half-done."""

import pytest

from tests.disks import cannot_be_written, files_limited_to

COMMANDS = {
    "fit": ("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "out/a.skops"),
    "predict": ("predict", "songs.skops", "songs.csv", "-o", "out/a.csv"),
    "evaluate": ("evaluate", "songs.skops", "songs.csv", "-o", "out/a.csv"),
    "convert": ("datasets", "convert", "digits-traits", "out/a.arff"),
    "plot": ("pacing", "plot", "hard", "-o", "out/a.png"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_cannot_be_written_is_a_sentence_and_the_old_file_stays(fitted, tmp_path, command):
    folder = tmp_path / "out"
    folder.mkdir()
    assert fitted(*command)[0] == 0
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with files_limited_to(400):
        full = fitted(*command)
    with cannot_be_written(folder):
        forbidden = fitted(*command)
    for (code, _, errors), why in ((full, "it would be larger"), (forbidden, "you may not write there")):
        assert code == 2
        assert f"cannot be written: {why}" in " ".join(errors.split())
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
