"""The store and faults: other people's files, damage, a full disk, a folder that cannot be written."""

import sqlite3

import pytest

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
        (lambda path: path.write_text("dataset,method\n"), "not a database"),
        (lambda path: path.write_bytes(b"SQLite"), "not a database"),
        (lambda path: path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000), "not a database"),
        (foreign_database, "not written by this version"),
        (newer_store, "results format 99"),
        (damaged_store, "cannot be used"),
        (truncated_store, "cannot be used"),
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
    with pytest.raises(StoreError, match="unable to open"):
        Store(tmp_path)
    with pytest.raises(StoreError, match="unable to open"):
        Store(tmp_path / "nowhere" / "results.db")
    with pytest.raises(StoreError, match="unable to open"):
        Store(tmp_path / "results.db", create=False)
    assert list(tmp_path.iterdir()) == []


def test_an_empty_file_becomes_a_store(tmp_path):
    """What a process killed between creating and filling the file leaves behind."""
    path = tmp_path / "results.db"
    path.touch()
    Store(path).close()
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
    with Store(path) as store, pytest.raises(StoreError, match="disk"):
        store.record(trial(1), Outcome(scores={"a": 1.0}))
    monkeypatch.undo()
    with Store(path) as store:
        assert store.finished() == {trial().key}


def test_a_disk_that_fills_up_while_storing_loses_only_that_trial(tmp_path):
    """The write itself is cut off by the system, in the middle of a transaction."""
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
        with (
            files_limited_to(path.stat().st_size + 5000),
            pytest.raises(StoreError, match="cannot be used"),
        ):
            store.record(trial(1), Outcome(scores={"a": 1.0}, history=[{"loss": 0.1}] * 5000))
        store.record(trial(2), Outcome(scores={"a": 1.0}))
    with Store(path) as store:
        assert store.finished() == {trial().key, trial(2).key}


def test_a_store_in_a_read_only_folder_can_be_read(tmp_path):
    path = tmp_path / "shared" / "results.db"
    path.parent.mkdir()
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
    with cannot_be_written(path.parent):
        with Store(path, create=False) as store:
            assert store.finished() == {trial().key}
        with pytest.raises(StoreError, match="cannot be used"), Store(path) as store:
            store.record(trial(1), Outcome(scores={"a": 1.0}))
    assert [file.name for file in path.parent.iterdir()] == ["results.db"]


def test_a_store_opened_for_reading_cannot_be_written(tmp_path):
    path = tmp_path / "results.db"
    Store(path).close()
    with Store(path, create=False) as store, pytest.raises(StoreError, match="cannot be used"):
        store.record(trial(), Outcome(scores={"a": 1.0}))


def test_what_a_killed_writer_left_unfinished_is_rolled_back_before_reading(tmp_path):
    path, copy = tmp_path / "results.db", tmp_path / "copy.db"
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
        store._query("PRAGMA cache_size = 1")  # so that a large transaction reaches the file before it ends
        store._query("BEGIN")
        for split in range(1, 200):
            store.record(trial(split), Outcome(scores={"a": 1.0}, history=[{"x": "y" * 5000}]))
        for end in ("", "-journal"):
            copy.with_name(f"copy.db{end}").write_bytes(path.with_name(f"results.db{end}").read_bytes())
        store._query("ROLLBACK")
    with Store(copy, create=False) as store:
        assert store.finished() == {trial().key}


@pytest.mark.parametrize(
    "change",
    [
        "CREATE VIEW x AS WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n",
        "CREATE TRIGGER extra AFTER INSERT ON trial BEGIN DELETE FROM trial; END",
        "CREATE TABLE extra (a)",
        "ALTER TABLE trial ADD COLUMN extra AS (printf('%.*c', 900000000, 'x'))",
        "ALTER TABLE trial RENAME TO other",
    ],
)
@pytest.mark.parametrize("create", [True, False])
def test_views_triggers_and_other_tables_are_refused(tmp_path, change, create):
    path = tmp_path / "results.db"
    with Store(path) as store:
        store._query(change)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="other tables or views"):
        Store(path, create=create)
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("split", "x"),
        ("corruption", b"5"),
        ("dataset", b"\x00\xff"),
        ("fit_seconds", "soon"),
        ("error", b"x"),
        ("scores", '{"a": "x"}'),
        ("scores", '{"a": [1]}'),
        ("scores", "[" * 100_000),
        ("scores", "[" * 900 + "]" * 900),
        ("parameters", '{"a": ' + "[" * 990 + "]" * 990 + "}"),
        ("history", "[1]"),
        ("versions", '{"numpy": 2}'),
        ("warnings", "[[]]"),
        *((column, text) for column in ("scores", "history") for text in ("{", "3", b"\xff", '"x"')),
    ],
)
def test_cells_of_other_types_are_refused(tmp_path, column, value):
    path = tmp_path / "results.db"
    with Store(path) as store:
        store.record(trial(), Outcome(scores={"a": 1.0}))
    forged = sqlite3.connect(path)
    forged.execute("PRAGMA ignore_check_constraints = ON")
    forged.execute(f"UPDATE trial SET {column} = ?", (value,))
    forged.commit()
    forged.close()
    with pytest.raises(StoreError, match="cannot be used"), Store(path) as store:
        store.frame()
