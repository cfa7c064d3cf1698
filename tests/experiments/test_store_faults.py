"""The store and faults: other people's files, damage, a full disk, a folder that cannot be written."""

import sqlite3

import pytest

from mlspl.experiments import _wal
from mlspl.experiments.store import Store, StoreError
from mlspl.experiments.trial import Outcome
from tests.disks import cannot_be_written, files_limited_to
from tests.experiments.trials import trial


def foreign_database(path):
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE trial (key TEXT)")
    database.commit()
    database.close()


def newer_store(path):
    Store(path).close()
    database = sqlite3.connect(path)
    database.execute("PRAGMA user_version = 99")
    database.close()


def damaged_store(path):
    with Store(path) as store:
        for split in range(200):
            store.record(trial(split), Outcome(scores={"one_error": 0.5}))
    content = bytearray(path.read_bytes())
    content[6000:20000] = b"\xa5" * 14000
    path.write_bytes(content)


def truncated_store(path):
    damaged_store(path)
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.write_text("dataset,method\n"), "not a results file"),
        (lambda path: path.write_bytes(b"SQLite"), "not a results file"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000), "not a results file"),
        (foreign_database, "another program"),
        (newer_store, "results format 99"),
        (damaged_store, "damaged"),
        (truncated_store, "damaged"),
    ],
)
def test_other_files_are_refused_and_left_as_they_are(tmp_path, make, sentence):
    path = tmp_path / "results.db"
    make(path)
    before = path.read_bytes()
    with pytest.raises(StoreError, match=sentence):
        Store(path)
    assert path.read_bytes() == before


def test_a_store_that_stops_being_one_is_reported_as_a_sentence(tmp_path):
    with pytest.raises(StoreError, match="folder"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="does not exist"):
        Store(tmp_path / "nowhere" / "results.db")
    with pytest.raises(StoreError, match="no results file"):
        Store(tmp_path / "results.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path):
    """What a process killed between creating and filling the file leaves behind."""
    path = tmp_path / "results.db"
    path.touch()
    Store(path).close()
    sqlite3.connect(path := tmp_path / "wal.db").execute("PRAGMA journal_mode = WAL").connection.close()
    with Store(path) as store:
        assert store.finished() == set()


class _Full(sqlite3.Connection):
    """A database on a disk that is full."""

    code = sqlite3.SQLITE_FULL

    def execute(self, statement, *values):
        if statement.startswith("INSERT"):
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = self.code
            raise error
        return super().execute(statement, *values)


@pytest.mark.parametrize("code", [sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_IOERR | 3 << 8])
def test_a_full_disk_is_not_called_damage(tmp_path, monkeypatch, code):
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
    real = sqlite3.connect
    monkeypatch.setattr(_Full, "code", code)
    monkeypatch.setattr(sqlite3, "connect", lambda *given, **named: real(*given, **named, factory=_Full))
    with Store(path) as store, pytest.raises(StoreError, match="is the disk full"):
        store.record(trial(1), Outcome(scores={"a": 1.0}))
    monkeypatch.undo()
    with Store(path) as store:
        assert store.finished() == {trial().key}


def test_a_disk_that_fills_up_while_storing_loses_only_that_trial(tmp_path):
    """The write itself is cut off by the system, in the middle of a transaction."""
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
        log = path.with_name("results.db-wal").stat().st_size
        with files_limited_to(log + 5000), pytest.raises(StoreError, match=r"could not be written.*goes on"):
            store.record(trial(1), Outcome(scores={"a": 1.0}, history=[{"loss": 0.1}] * 5000))
        store.record(trial(2), Outcome(scores={"a": 1.0}))
    with Store(path) as store:
        assert store.finished() == {trial().key, trial(2).key}


def abandoned(folder, trials):
    """A store with a log that nobody has written back, as a killed process leaves it."""
    folder.mkdir()
    whole = folder.with_name(f"{folder.name}.db")
    with Store(whole) as store:
        store._query("PRAGMA wal_autocheckpoint = 0")
        for number in range(trials):
            store.record(trial(number), Outcome(scores={"a": 1.0}))
        for end in ("", "-wal"):
            (folder / f"results.db{end}").write_bytes(whole.with_name(f"{whole.name}{end}").read_bytes())
    return folder / "results.db"


def test_a_store_in_a_read_only_folder_can_be_read(tmp_path):
    path = abandoned(tmp_path / "shared", 5)
    with cannot_be_written(path.parent):
        with Store(path, create=False) as store:
            assert len(store.finished()) == 5
        with pytest.raises(StoreError, match="cannot be written"):
            Store(path)
    assert {file.name for file in path.parent.iterdir()} == {"results.db", "results.db-wal"}


@pytest.mark.parametrize("place", [20, 3000, 9000, 12_400, -5])
def test_a_damaged_log_is_told(tmp_path, place):
    """SQLite drops what follows the damage without a word."""
    path = abandoned(tmp_path / "a", 6)
    with Store(path) as store:  # no word of a log that is whole
        assert len(store.finished()) == 6
    path = abandoned(tmp_path / "b", 6)
    log = path.with_name("results.db-wal")
    content = bytearray(log.read_bytes())
    content[place] ^= 0xFF
    log.write_bytes(content)
    with pytest.warns(UserWarning, match="log .* is damaged: of the trials recorded last some are lost"):
        store = Store(path)
    with store:
        assert len(store.finished()) < 6


def test_an_unfinished_log_is_no_damage(tmp_path):
    path = abandoned(tmp_path / "a", 6)
    log = path.with_name("results.db-wal")
    log.write_bytes(log.read_bytes()[:-1000])
    with Store(path) as store:
        assert len(store.finished()) == 5


def test_a_log_that_is_being_written_is_not_taken_for_damaged(tmp_path, monkeypatch):
    """One look in three hundred fell between two writes of a busy runner."""
    path = abandoned(tmp_path / "a", 6)
    log = path.with_name("results.db-wal")
    whole = log.read_bytes()
    log.write_bytes(whole[:9000] + b"\xff" + whole[9001:])
    assert _wal.is_damaged(path)
    monkeypatch.setattr(_wal.time, "sleep", lambda seconds: log.write_bytes(whole))  # the runner goes on
    assert not _wal.is_damaged(path)


@pytest.mark.parametrize("column", ["scores", "parameters", "history", "warnings"])
@pytest.mark.parametrize("text", ["{", "3", b"\xff", '"x"'])
def test_a_damaged_column_is_a_sentence(tmp_path, column, text):
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
        store._query(f"UPDATE trial SET {column} = ?", (text,))
        with pytest.raises(StoreError, match=f"the {column} of trial .* cannot be read"):
            store.frame()
