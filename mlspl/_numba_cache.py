"""Where compiled functions are kept: apart for other sources, and also where little can be written."""

import atexit
import hashlib
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numba

__all__ = ["njit"]

_LOCK = Lock()
# What was compiled of other sources is removed when it is so old.
_KEPT_SECONDS = 7 * 86_400.0


def njit(**options: Any) -> Callable[[Callable], Any]:
    """Compile as numba does, but never load what was compiled of other sources.

    numba looks at a function's own file. What that calls is compiled into it, and its file may have changed
    since: after an upgrade, the old code would go on running.
    """

    def decorate(function: Callable) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function
        with _LOCK:
            folder = _find_folder(Path(function.__code__.co_filename).parent)
            before = numba.config.CACHE_DIR  # type: ignore[attr-defined]
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
            try:
                return numba.njit(**options)(function)
            finally:
                numba.config.CACHE_DIR = before  # type: ignore[attr-defined]

    return decorate


@cache
def _find_folder(room: Path) -> Path:
    """Find the folder for what is compiled of a room as it is now."""
    digest = hashlib.sha256()
    for path in sorted(room.glob("*.py")):
        content = path.read_bytes()
        if b"numba" in content:
            digest.update(b"%b %d " % (path.name.encode(), len(content)) + content)
    place = _find_place()
    folder = place / f"{room.name}-{digest.hexdigest()[:16]}"
    if not folder.exists():
        with suppress(OSError):
            for other in place.glob(f"{room.name}-*"):
                if other.stat().st_mtime < time.time() - _KEPT_SECONDS:
                    shutil.rmtree(other, ignore_errors=True)
    return folder


def _probe() -> None: ...


def _ask_numba() -> Path:
    return Path(str(numba.njit(cache=True)(_probe).stats.cache_path))


@cache
def _find_place() -> Path:
    """Find where numba would keep the package's functions, or else a place among the temporary files.

    What lies in numba's cache is run: that folder is the user's alone and serves all his processes, or, where
    it cannot be had, it is new and goes with this process.
    """
    with suppress(RuntimeError):
        return _ask_numba()
    try:
        folder = _find_shared_folder() or _make_own_folder()
    except OSError as error:
        raise ImportError(
            "mlspl compiles itself at first use, and finds no folder to write to: set TMPDIR to one."
        ) from error
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    os.environ["NUMBA_CACHE_DIR"] = folder  # for the processes started from here
    return _ask_numba()


def _find_shared_folder() -> str | None:
    """Find the folder of this user, made if need be; none where somebody else could put something into it."""
    if not hasattr(os, "geteuid"):  # Windows
        return None
    user, parent = os.geteuid(), tempfile.gettempdir()
    folder = os.path.join(parent, f"mlspl-numba-{user}")
    with suppress(FileExistsError):
        os.mkdir(folder, 0o700)
    # Neither a link nor open to others; and nobody else can move it and put another in its place.
    itself, above = os.lstat(folder), os.stat(parent)
    is_private = stat.S_ISDIR(itself.st_mode) and itself.st_uid == user and not itself.st_mode & 0o077
    stays = above.st_uid in (0, user) and (not above.st_mode & 0o022 or above.st_mode & stat.S_ISVTX)
    return folder if is_private and stays and os.access(folder, os.W_OK) else None


def _make_own_folder() -> str:
    folder = tempfile.mkdtemp(prefix="mlspl-numba-")
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
