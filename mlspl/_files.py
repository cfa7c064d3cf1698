"""Files written all or not at all."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from mlspl.errors import UserError

__all__ = ["check_writable", "replacing", "write_file"]

_REASONS = {
    errno.ENOSPC: "the disk is full. Make room, or name another folder",
    errno.EDQUOT: "your quota of disk space is used up. Make room, or name another folder",
    errno.EFBIG: "it would be larger than a file may be there (ulimit -f). Name another folder",
    errno.EROFS: "the disk can only be read. Name another folder",
    errno.EACCES: "you may not write there. Name another folder",
    errno.EPERM: "you may not write there. Name another folder",
    errno.ENAMETOOLONG: "the name is too long. Name another",
}


@contextmanager
def replacing(path: str | Path, mode: str = "w") -> Iterator[IO]:
    """Open a file that takes the place of `path` only when everything is on the disk.

    What a killed process has left of the same file is removed. A pipe or a device, such as ``/dev/null``, is
    written to and stays what it is.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise UserError(f"the folder {path.parent} does not exist. Make it first.")
    text = {} if "b" in mode else {"encoding": "utf-8", "newline": ""}
    if path.exists() and not path.is_file():
        with path.open(mode, **text) as stream:  # type: ignore[call-overload]
            yield stream
        return
    with _part_of(path) as part:
        _remove_leftovers(path)
        with part.open(mode, **text) as stream:  # type: ignore[call-overload]
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(part, path)
        _sync_folder(path.parent)


def write_file(path: str | Path, content: str | bytes) -> None:
    """Write a whole file at once."""
    with replacing(path, "wb" if isinstance(content, bytes) else "w") as stream:
        stream.write(content)


def check_writable(path: Path) -> None:
    """Say that a file cannot be written before there is something to write."""
    try:
        with _part_of(path) as part:
            part.touch()
    except UserError:
        raise
    except ValueError as error:
        raise UserError(f"{path} cannot be written: no file can have this name. Name another.") from error


@contextmanager
def _part_of(path: Path) -> Iterator[Path]:
    """The name that a file has while it is written, and a sentence for what is in the way of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        if error.errno not in _REASONS:
            raise
        raise UserError(f"{path} cannot be written: {_REASONS[error.errno]}.") from error


def _remove_leftovers(path: Path) -> None:
    """Remove what processes that have ended left of this file."""
    start, end = f".{path.name}.", ".part"
    with suppress(OSError):
        for name in os.listdir(path.parent):
            owner = name.removeprefix(start).removesuffix(end)
            if name == f"{start}{owner}{end}" and owner.isdecimal() and not _is_running(int(owner)):
                os.unlink(path.with_name(name))


def _is_running(process: int) -> bool:
    if os.name != "posix":  # where signal 0 would not only ask
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _sync_folder(folder: Path) -> None:
    """Have the new name survive a power cut, where folders can be opened."""
    with suppress(OSError):
        number = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(number)
        finally:
            os.close(number)
