"""The command as a user runs it, and a model it has fitted."""

import io
import sys

import pytest

from mlspl import _progress
from mlspl.cli import main as cli
from tests.songs import songs


@pytest.fixture
def mlspl(monkeypatch, capfdbinary, tmp_path):
    """Run the command in an empty folder; give its exit code, stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    # No lines of progress, which a busy machine may print.
    monkeypatch.setattr(_progress, "_SECONDS_TO_FIRST_LINE", 1e6)
    monkeypatch.chdir(tmp_path)

    def run(*arguments, given=None):
        monkeypatch.setattr(sys, "argv", ["mlspl", *map(str, arguments)])
        if given is not None:
            data = given.encode() if isinstance(given, str) else given
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, errors = capfdbinary.readouterr()
        return ended.value.code or 0, out if b"schema.json" in out else out.decode(), errors.decode()

    return run


@pytest.fixture
def fitted(mlspl, tmp_path):
    (tmp_path / "songs.csv").write_text(songs())
    assert mlspl("fit", "songs.csv", "--labels=-3", "--method", "ml-knn", "-o", "songs.skops")[0] == 0
    return mlspl
