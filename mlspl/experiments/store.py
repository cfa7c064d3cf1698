"""The results of all trials in one SQLite file that survives kill -9 and any number of writers."""

import json
import math
import shutil
import sqlite3
import tempfile
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from dataclasses import fields
from pathlib import Path
from typing import Any, Self

import pandas as pd

from mlspl.errors import UserError
from mlspl.experiments._wal import is_damaged
from mlspl.experiments.trial import Outcome, Trial, canonical_json

__all__ = ["Store", "StoreError", "is_database"]

# "mlsp" in ASCII, in the header of every file of ours; the version counts changes of the table below.
_APPLICATION_ID = 0x6D6C7370
_SCHEMA_VERSION = 2
_BUSY_SECONDS = 60.0

_SCHEMA = """
CREATE TABLE trial (
    key TEXT PRIMARY KEY,
    dataset TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    method TEXT NOT NULL,
    parameters TEXT NOT NULL,
    split INTEGER NOT NULL,
    train REAL NOT NULL,
    corruption TEXT NOT NULL,
    tune TEXT NOT NULL,
    version TEXT NOT NULL,
    scores TEXT NOT NULL,
    error TEXT,
    chosen TEXT NOT NULL,
    tune_seconds REAL NOT NULL,
    fit_seconds REAL NOT NULL,
    predict_seconds REAL NOT NULL,
    peak_memory INTEGER,
    warnings TEXT NOT NULL,
    history TEXT,
    validation TEXT,
    host TEXT NOT NULL,
    versions TEXT NOT NULL,
    recorded TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    folds INTEGER NOT NULL DEFAULT 0
)
"""
# From the version before, which knew no cross-validation.
_UPDATE = "ALTER TABLE trial ADD COLUMN folds INTEGER NOT NULL DEFAULT 0"
_COLUMNS = ["key", *(field.name for field in fields(Trial)), *(field.name for field in fields(Outcome))]
_JSON_COLUMNS: dict[str, tuple[type, ...]] = {
    "parameters": (dict,),
    "scores": (dict,),
    "chosen": (dict,),
    "warnings": (list,),
    "history": (list, type(None)),
    "validation": (list, dict, type(None)),
    "versions": (dict,),
}
# A finished trial is never replaced; a failed one is, by whatever its retry gave.
_RECORD = (
    f"INSERT INTO trial ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)}) "
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])}, "
    "recorded = strftime('%Y-%m-%dT%H:%M:%fZ', 'now') WHERE trial.error IS NOT NULL"
)


class StoreError(UserError):
    """The results file cannot be used; the sentence says why and what to do."""


class ReadOnlyError(StoreError):
    """The file, or its folder, cannot be written."""


class Store:
    """Results of trials, one transaction each, in one SQLite file in WAL mode.

    A file that is not ours, is damaged or was written by a newer version is refused and never changed.
    Several processes may read and write at once: whoever records a trial first has recorded it.
    One `Store` may be shared between threads.

    Parameters
    ----------
    path : str or Path
        The file; created where it does not exist.
    create : bool, default=True
        False is for reading: it refuses a file that does not exist, and takes one that cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> store = Store(f"{folder.name}/results.db")
    >>> trial = Trial("flags", "9c4f", "ml-knn", {"k": 10}, split=0)
    >>> store.record(trial, Outcome(scores={"hamming_loss": 0.3}))
    >>> store.finished() == {trial.key}
    True
    >>> store.close(); folder.cleanup()
    """

    def __init__(self, path: str | Path, create: bool = True):
        self.path = Path(path)
        self._lock = threading.Lock()
        if not create and not self.path.is_file():
            raise StoreError(f"There is no results file {self.path}; `mlspl reproduce` writes one.")
        self._copy: tempfile.TemporaryDirectory | None = None
        _refuse_other_places(self.path)
        if is_damaged(self.path):
            warnings.warn(
                f"The log {self.path}-wal is damaged: of the trials recorded last some are lost. The same "
                "command runs them again.",
                stacklevel=2,
            )
        try:
            self._open(self.path)
        except ReadOnlyError:
            if create:
                raise
            self._open(self._copied())

    def _open(self, path: Path) -> None:
        try:
            self._database = sqlite3.connect(
                path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        try:
            self._check_or_create()
        except StoreError:
            self._database.close()
            raise

    def _copied(self) -> Path:
        """A copy of the file and its log, where SQLite can write the index that it needs even to read."""
        self._copy = tempfile.TemporaryDirectory()
        copy = Path(self._copy.name) / "results.db"
        for end in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{self.path}{end}", f"{copy}{end}")
        return copy

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; everything recorded is already in it."""
        with self._lock:
            self._database.close()
        if self._copy is not None:
            self._copy.cleanup()

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Write one outcome in one transaction, unless the trial is already finished.

        Parameters
        ----------
        trial : Trial
            What was run.
        outcome : Outcome
            What it gave.
        """
        row = {name: getattr(trial if hasattr(trial, name) else outcome, name) for name in _COLUMNS}
        for name in _JSON_COLUMNS:
            row[name] = None if row[name] is None else canonical_json(_plain(row[name]))
        self._query(_RECORD, row)

    def finished(self) -> set[str]:
        """Keys of the trials that have scores."""
        return {key for (key,) in self._query("SELECT key FROM trial WHERE error IS NULL")}

    def is_finished(self, key: str) -> bool:
        """Whether the trial of this key has scores, as of now and whoever wrote them.

        Parameters
        ----------
        key : str
            A trial's key.
        """
        return bool(self._query("SELECT 1 FROM trial WHERE key = ? AND error IS NULL", (key,)))

    def failed(self) -> dict[str, str]:
        """Keys of the trials that failed, with their errors."""
        return dict(self._query("SELECT key, error FROM trial WHERE error IS NOT NULL"))

    def frame(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """All trials as a table, one row each.

        What was structured (parameters, scores, history and the like) is so again.

        Parameters
        ----------
        keys : iterable of str, optional
            Only these trials, in this order; otherwise all, by data set, method, parameters and split.
        """
        rows = self._query(
            f"SELECT {', '.join(_COLUMNS)}, recorded FROM trial "
            "ORDER BY dataset, train, corruption, method, parameters, tune, version, split"
        )
        if keys is not None:
            by_key = {row[0]: row for row in rows}
            rows = [by_key[key] for key in keys if key in by_key]
        frame = pd.DataFrame(rows, columns=[*_COLUMNS, "recorded"])
        # From the rows again: pandas has made its own missing values of None.
        values = dict(zip(_COLUMNS, zip(*rows, strict=True), strict=False))
        frame["error"] = pd.Series(values.get("error", ()), dtype=object)
        for name in _JSON_COLUMNS:
            place = _COLUMNS.index(name)
            parsed = [self._parsed(row[place], name, row[0]) for row in rows]
            frame[name] = pd.Series(parsed, dtype=object)
        return frame

    def _parsed(self, text: str | None, column: str, key: str) -> Any:
        try:
            value = None if text is None else json.loads(text)
        except (TypeError, ValueError):
            value = ...
        if not isinstance(value, _JSON_COLUMNS[column]):
            raise StoreError(
                f"The results file {self.path} is damaged: the {column} of trial {str(key)[:12]} "
                "cannot be read. Restore the file from a copy, or delete that row with SQLite."
            )
        return value

    def _query(self, statement: str, values: tuple | dict = ()) -> list[tuple]:
        deadline = time.monotonic() + _BUSY_SECONDS
        with self._lock:
            while True:
                try:
                    return self._database.execute(statement, values).fetchall()
                except sqlite3.Error as error:
                    # SQLite waits for locks, but not while another process creates or closes the file.
                    if not _is_busy(error) or time.monotonic() > deadline:
                        raise _unusable(self.path, error) from None
                time.sleep(0.01)

    def _check_or_create(self) -> None:
        # In one transaction, lest another process creates the table between two looks.
        self._query("BEGIN")
        version = self._version()
        self._query("COMMIT")
        if version != _SCHEMA_VERSION:
            self._query("PRAGMA journal_mode = WAL")
            self._query("BEGIN IMMEDIATE")
            # Another process may have created the table while this one waited for the lock.
            if (version := self._version()) != _SCHEMA_VERSION:
                self._query(_UPDATE if version else _SCHEMA)
                self._query(f"PRAGMA application_id = {_APPLICATION_ID}")
                self._query(f"PRAGMA user_version = {_SCHEMA_VERSION}")
            self._query("COMMIT")
        self._query("PRAGMA synchronous = FULL")

    def _version(self) -> int:
        """Which version of the table the file holds; 0 where it is still empty; refuses what is not ours."""
        application = self._query("PRAGMA application_id")[0][0]
        version = self._query("PRAGMA user_version")[0][0]
        if application == 0 and version == 0 and not self._query("SELECT 1 FROM sqlite_master LIMIT 1"):
            return 0
        if application != _APPLICATION_ID:
            raise StoreError(
                f"{self.path} is an SQLite file of another program; it was left as it is. Name another file."
            )
        if not 1 <= version <= _SCHEMA_VERSION:
            raise StoreError(
                f"{self.path} has results format {version}; this version of mlspl reads formats up to "
                f"{_SCHEMA_VERSION}. Use the mlspl that wrote it, or name another file."
            )
        verdict = self._query("PRAGMA quick_check(1)")[0][0]
        if verdict != "ok":
            raise _unusable(self.path, verdict)
        return version


# Only SQLite may open a file that is or may be a store: to close any other descriptor of it would drop the
# locks that this process holds on it through an open `Store` (POSIX).


def is_database(path: Path) -> bool:
    """Whether a file that exists is an SQLite file with something in it, of ours or not."""
    if path.stat().st_size == 0:
        return False
    with closing(sqlite3.connect(path, timeout=_BUSY_SECONDS)) as database:
        try:
            database.execute("PRAGMA schema_version")
        except sqlite3.Error as error:
            return not _is_another_format(error)
    return True


def _refuse_other_places(path: Path) -> None:
    """What SQLite has no clear words for."""
    if path.is_dir():
        raise StoreError(f"{path} is a folder; name a file for the results.")
    if not path.parent.is_dir():
        raise StoreError(f"The folder {path.parent} for the results file does not exist.")


def _is_busy(reason: object) -> bool:
    # The lowest byte is the kind of error, the others say more of it.
    return getattr(reason, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _is_another_format(reason: object) -> bool:
    return getattr(reason, "sqlite_errorcode", 0) == sqlite3.SQLITE_NOTADB


def _unusable(path: Path, reason: object) -> StoreError:
    if _is_busy(reason):
        return StoreError(
            f"The results file {path} was locked by another process for {_BUSY_SECONDS:.0f} seconds; "
            "end that process or try again."
        )
    if _is_another_format(reason):
        return StoreError(f"{path} is not a results file of mlspl; it was left as it is. Name another file.")
    kind = getattr(reason, "sqlite_errorcode", 0) & 0xFF
    if kind in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return ReadOnlyError(f"The results file {path} cannot be written: {reason}. Name another folder.")
    if kind in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOMEM):
        # On a full disk SQLite says one or another of these; the file itself is as it was.
        return StoreError(
            f"The results file {path} could not be written ({reason}): is the disk full? What was recorded "
            "before is in it; make room, and the same command goes on from there."
        )
    return StoreError(
        f"The results file {path} is damaged ({reason}); it was left as it is. "
        "Move it away to start anew, or restore it from a copy."
    )


def _plain(value: Any) -> Any:
    """Python's own types for numpy's, and None for the numbers JSON cannot hold."""
    if isinstance(value, Mapping):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
