"""A place for numba's compiled functions where neither the package nor the home folder can be written."""

import atexit
import os
import shutil
import stat
import tempfile
from contextlib import suppress

import numba

__all__ = ["find_cache"]


def _probe() -> None: ...


def find_cache() -> None:
    """Let numba keep what it compiles in the folder for temporary files, if it finds no place of its own.

    What lies in numba's cache is run: the folder is the user's alone and serves all his processes, or, where
    that cannot be had, it is new and goes with this process.
    """
    try:
        numba.njit(cache=True)(_probe)
        return
    except RuntimeError:
        pass
    try:
        folder = _find_shared_folder() or _make_own_folder()
    except OSError as error:
        raise ImportError(
            "mlspl compiles itself at first use, and finds no folder to write to: set TMPDIR to one."
        ) from error
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    os.environ["NUMBA_CACHE_DIR"] = folder  # for the processes started from here


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


find_cache()
