"""Results of all trials in one SQLite file."""

import json
import sqlite3
import threading
import time
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import pandas as pd

from mlspl._json import plain
from mlspl.errors import UserError
from mlspl.experiments.trial import Outcome, Trial, canonical_json

# "mlsp" in ASCII, in the header of every results file; the version counts changes of the table.
_APPLICATION_ID = 0x6D6C7370
_SCHEMA_VERSION = 4
_BUSY_SECONDS = 60.0

_OPTIONAL = ("error", "peak_memory", "history")
# Columns that hold JSON, with the types of their values and of the parts of these.
_JSON: dict[str, tuple[type, Any]] = {
    "parameters": (dict, object),
    "scores": (dict, (int, float, type(None))),
    "chosen": (dict, object),
    "versions": (dict, str),
    "warnings": (list, str),
    "history": (list, dict),
}
_TYPES = dict.fromkeys(("train", "tune_seconds", "fit_seconds", "predict_seconds"), "real")
_TYPES |= dict.fromkeys(("split", "folds", "peak_memory"), "integer")
_COLUMNS = ["key", *(field.name for field in fields(Trial)), *(field.name for field in fields(Outcome))]
_SELECTED = [*_COLUMNS, "recorded"]
_NOW = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"


def _declare(name: str) -> str:
    """Return the declaration of a column, with a check of its type that SQLite applies to each file."""
    kind = _TYPES.get(name, "text")
    key = " PRIMARY KEY" if name == "key" else ""
    now = f" DEFAULT ({_NOW})" if name == "recorded" else ""
    null = f"{name} IS NULL OR " if name in _OPTIONAL else ""
    return f"{name} {kind.upper()}{key}{now} CHECK ({null}typeof({name}) = '{kind}')"


_SCHEMA = f"CREATE TABLE trial ({', '.join(map(_declare, _SELECTED))})"
# A finished trial is never replaced; a failed one is replaced by the outcome of its retry.
_RECORD = (
    f"INSERT INTO trial ({', '.join(_COLUMNS)}) VALUES ({', '.join(f':{name}' for name in _COLUMNS)}) "
    f"ON CONFLICT (key) DO UPDATE SET {', '.join(f'{name} = excluded.{name}' for name in _COLUMNS[1:])}, "
    f"recorded = {_NOW} WHERE trial.error IS NOT NULL"
)
# The lowest byte of SQLite's error codes.
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


class StoreError(UserError):
    """The results file cannot be used."""


class Store:
    """Results of trials in an SQLite file, one transaction per trial.

    Several processes and threads may use a file at once, and a killed process leaves whole trials. Damaged
    files and those of other programs are refused. ``create=False`` opens an existing file read-only.

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
        # Not "ro": SQLite must first roll back what a killed process has left unfinished.
        uri = f"file:{quote(str(self.path.absolute()))}?mode={'rwc' if create else 'rw'}"
        try:
            self._database = sqlite3.connect(
                uri, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=True
            )
        except sqlite3.Error as error:
            raise _unusable(self.path, error) from None
        try:
            if self._is_empty() and create:
                self._create()
            self._query(f"PRAGMA query_only = {not create}")
        except StoreError:
            self._database.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. Everything recorded is already in it."""
        with self._lock:
            self._database.close()

    def record(self, trial: Trial, outcome: Outcome) -> None:
        """Write one outcome in one transaction, unless the trial is already finished."""
        row = {name: getattr(trial if hasattr(trial, name) else outcome, name) for name in _COLUMNS}
        for name in _JSON:
            row[name] = None if row[name] is None else canonical_json(plain(row[name]))
        self._query(_RECORD, row)

    def finished(self) -> set[str]:
        """Keys of the trials that have scores."""
        return {key for (key,) in self._query("SELECT key FROM trial WHERE error IS NULL")}

    def is_finished(self, key: str) -> bool:
        """Whether the trial of this key has scores, whichever process wrote them."""
        return bool(self._query("SELECT 1 FROM trial WHERE key = ? AND error IS NULL", (key,)))

    def failed(self) -> dict[str, str]:
        """Keys of the trials that failed, with their errors."""
        failed = self._query("SELECT key, error FROM trial WHERE error IS NOT NULL")
        return {str(key): str(error) for key, error in failed}

    def frame(self, keys: Iterable[str] | None = None) -> pd.DataFrame:
        """All trials as a table, one row each, with parameters, scores and the like as dicts and lists."""
        rows = self._query(
            f"SELECT {', '.join(_SELECTED)} FROM trial "
            "ORDER BY dataset, train, corruption, method, parameters, tune, version, split"
        )
        if keys is not None:
            by_key = {row[0]: row for row in rows}
            rows = [by_key[key] for key in keys if key in by_key]
        frame = pd.DataFrame(rows, columns=_SELECTED, dtype=object)
        for name in _JSON:
            frame[name] = [self._parse(name, text) for text in frame[name]]
        return frame.astype(
            {name: float if kind == "real" else int for name, kind in _TYPES.items() if name not in _OPTIONAL}
        )

    def _parse(self, column: str, text: str | None) -> Any:
        if text is None:
            return None
        container, of_parts = _JSON[column]
        try:
            value = json.loads(text)
            parts = value.values() if isinstance(value, dict) else value
            if isinstance(value, container) and all(isinstance(part, of_parts) for part in parts):
                return value
        except (ValueError, RecursionError):
            pass
        raise _unusable(self.path, f"the column {column} has values of another type")

    def _query(self, statement: str, values: tuple | dict = ()) -> list[tuple]:
        deadline = time.monotonic() + _BUSY_SECONDS
        with self._lock:
            while True:
                try:
                    return self._database.execute(statement, values).fetchall()
                except sqlite3.Error as error:
                    # SQLite waits for locks, but not while another process creates the file.
                    is_busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in _BUSY
                    if not is_busy or time.monotonic() > deadline:
                        raise _unusable(self.path, error) from None
                time.sleep(0.01)

    def _create(self) -> None:
        self._query("BEGIN IMMEDIATE")
        # Another process may have created the table while this one waited for the lock.
        if self._is_empty():
            self._query(_SCHEMA)
            self._query(f"PRAGMA application_id = {_APPLICATION_ID}")
            self._query(f"PRAGMA user_version = {_SCHEMA_VERSION}")
        self._query("COMMIT")

    def _is_empty(self) -> bool:
        """Whether the file has no table yet; refuses what is not a results file."""
        # One statement, because another process may create the table between two.
        schema = self._query(
            "SELECT application_id, user_version, sql FROM pragma_application_id, pragma_user_version "
            "LEFT JOIN (SELECT sql FROM sqlite_master WHERE sql IS NOT NULL LIMIT 2)"
        )
        application, version, sql = schema[0]
        if application == 0 and version == 0 and sql is None:
            return True
        # Views, triggers and computed columns would run whatever the file says.
        if len(schema) > 1 or (application, version, sql) != (_APPLICATION_ID, _SCHEMA_VERSION, _SCHEMA):
            raise _unusable(
                self.path,
                f"it was not written by this version of mlspl (results format {version}; this is "
                f"{_SCHEMA_VERSION}), or has other tables or views",
            )
        verdict = self._query("PRAGMA quick_check(1)")[0][0]
        if verdict != "ok":
            raise _unusable(self.path, verdict)
        return False


def _unusable(path: Path, reason: object) -> StoreError:
    return StoreError(
        f"{path} cannot be used as a results file: {reason}. No trial in it was changed. If the disk is "
        "full, free some space; otherwise name another file."
    )
