"""A place for numba's compiled functions where neither the package nor the home folder can be written."""

import atexit
import os
import shutil
import tempfile

import numba

__all__ = ["find_cache"]


def _probe() -> None: ...


def find_cache() -> None:
    """Let numba keep what it compiles in a folder of this process, if it finds no place of its own.

    The folder is new and private: what lies in numba's cache is run.
    """
    try:
        numba.njit(cache=True)(_probe)
        return
    except RuntimeError:
        pass
    try:
        folder = tempfile.mkdtemp(prefix="mlspl-numba-")
    except OSError as error:
        raise ImportError(
            "mlspl compiles itself at first use, and finds no folder to write to: set TMPDIR to one."
        ) from error
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    os.environ["NUMBA_CACHE_DIR"] = folder  # for the processes started from here
    atexit.register(_remove, folder, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


find_cache()
