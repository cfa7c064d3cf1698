"""Output files: written whole or not at all, and never over a file that mlspl did not write."""

import errno
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import IO

from mlspl.errors import UserError

# What a system says that refuses to store a file, or this file.
_REFUSED = {"ENOSPC", "EDQUOT", "EFBIG", "EROFS", "EACCES", "EPERM", "ENAMETOOLONG"}


@contextmanager
def replace_file(path: str | PathLike, mode: str = "w") -> Iterator[IO]:
    """Open a temporary file that takes the place of `path` once all of it is on the disk.

    Its name is random and it is created with O_EXCL, so a link that somebody planted is never followed.
    A pipe or device, such as ``/dev/null``, is written to.
    """
    path = Path(path)
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if path.exists() and not path.is_file():
        with path.open(mode, **text) as stream:  # type: ignore[call-overload]
            yield stream
        return
    with _temporary(path) as part:
        with part.open(mode.replace("w", "x"), **text) as stream:  # type: ignore[call-overload]
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
        with suppress(OSError):  # so that the new name survives a power cut, where folders can be opened
            folder = os.open(path.parent, os.O_RDONLY)
            os.fsync(folder)
            os.close(folder)


def write_file(path: str | PathLike, content: str | bytes) -> Path:
    """Write a whole file at once, and return its path."""
    with replace_file(path, "wb" if isinstance(content, bytes) else "w") as stream:
        stream.write(content)
    return Path(path)


def check_output(
    path: str | PathLike,
    inputs: Iterable[str | Path | None] = (),
    *,
    force: bool = False,
    is_ours: Callable[[Path], bool] = lambda path: False,
) -> None:
    """Raise a UserError if a file cannot be written or would replace another; call it before work starts.

    The inputs are never replaced, under whatever name or link. Other files are replaced only with `force`, or
    if `is_ours` says that they are earlier outputs of the same command.
    """
    path = Path(path)
    if os.path.isdir(path):  # which, unlike Path.is_dir, knows names that are too long
        raise UserError(f"{path} is a folder. Name a file in it.")
    _refuse_inputs(path, inputs)
    if os.path.exists(path) and not os.path.isfile(path):  # a pipe or a device
        return
    if os.path.lexists(path):
        if not force and not is_ours(path):
            raise UserError(
                f"{path} already exists, and this command did not write it. Name another, or replace it by "
                "--force (in Python: force=True)."
            )
        if path.exists() and not os.access(path, os.W_OK):
            raise UserError(f"{path} cannot be written: you may not write there. Name another file.")
    try:
        with _temporary(path) as part:
            with suppress(FileNotFoundError):
                path.lstat()  # which fails for a name that is too long
            part.touch(exist_ok=False)
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{path} cannot be written: no file can have this name. Name another.") from error


class OutputFolder:
    """A folder into which one command writes several files, again and again.

    A hidden file in the folder keeps the checksums of what was written. A file that has another checksum is
    somebody else's, or was changed since. It is replaced only with `force`; the inputs never are.
    """

    RECORD = ".mlspl-outputs.json"

    def __init__(self, folder: str | Path, inputs: Iterable[str | Path | None] = (), *, force: bool = False):
        self.folder = Path(folder)
        self.inputs = [path for path in inputs if path]
        self.force = force
        self._written = self._read_record()

    def check(self, names: Iterable[str]) -> None:
        """Raise a UserError if one of these files cannot be written; call it before work starts."""
        if self.folder.exists() and not self.folder.is_dir():
            raise UserError(f"{self.folder} is a file. Name a folder.")
        absolute = self.folder.absolute()
        above = next(path for path in (absolute, *absolute.parents) if path.exists())
        if not above.is_dir() or not os.access(above, os.W_OK):
            raise UserError(f"the folder {self.folder} cannot be written to. Name another.")
        for name in names if self.folder.exists() else ():
            self._check(self.folder / name)

    def write(self, name: str, content: str | bytes) -> Path:
        """Check and write a whole file; return its path."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / name
        self._check(path)
        # The record comes first, and keeps the old checksum: a killed process leaves either file.
        content = content.encode() if isinstance(content, str) else content
        old = [_checksum(path.read_bytes())] if self._is_ours(path) else []
        self._written[name] = [*old, _checksum(content)]
        write_file(self.folder / self.RECORD, json.dumps(self._written, indent=1) + "\n")
        return write_file(path, content)

    def _check(self, path: Path) -> None:
        check_output(path, self.inputs, force=self.force, is_ours=self._is_ours)

    def _is_ours(self, path: Path) -> bool:
        known = self._written.get(path.name, [])
        return bool(known) and path.is_file() and _checksum(path.read_bytes()) in known

    def _read_record(self) -> dict[str, list[str]]:
        try:
            record = json.loads((self.folder / self.RECORD).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        record = record if isinstance(record, dict) else {}
        return {name: known for name, known in record.items() if isinstance(known, list)}


def _refuse_inputs(path: Path, inputs: Iterable[str | Path | None]) -> None:
    for read in inputs if os.path.exists(path) else ():
        try:
            same = bool(read) and os.path.samefile(read, path)  # type: ignore[arg-type]
        except (OSError, ValueError):
            continue  # one of them is no file: standard input, the name of a data set, a new output
        if same:
            raise UserError(
                f"{path} is an input of this command and would be lost. Name another file to write."
            )


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Give the name of a file while it is written."""
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist. Make it first.")
    part = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}.part")
    with explain_failure(path):
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def explain_failure(path: Path) -> Iterator[None]:
    """Turn what prevents writing to a path, such as a full disk, into a UserError."""
    try:
        yield
    except OSError as error:
        if errno.errorcode.get(error.errno or 0) not in _REFUSED:
            raise
        raise UserError(f"{path} cannot be written: {error.strerror}. Name another file.") from error


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
