"""Disks that take no more, and folders that cannot be written: as the system says it."""

import ctypes
import os
from contextlib import contextmanager, nullcontext

import pytest


@contextmanager
def files_limited_to(size):
    """No file can grow beyond some bytes; what was begun is cut off there, as by a disk that is full."""
    resource = pytest.importorskip("resource", reason="needs limits of processes")
    before, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (before, most))


@contextmanager
def cannot_be_written(folder):
    """As somebody who may read the folder and not write to it; root is, without the right to override."""
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)
    try:
        with _without_override() if hasattr(os, "geteuid") and os.geteuid() == 0 else nullcontext():
            yield
    finally:
        folder.chmod(0o755)


@contextmanager
def _without_override():
    """This thread of root has no CAP_DAC_OVERRIDE: modes of files hold for it too, in writing."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "capset"):
        pytest.skip("needs the capabilities of Linux")
    header, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(header, rights) == 0
    before = rights[0]
    rights[0] &= ~(1 << 1)
    assert libc.capset(header, rights) == 0
    try:
        yield
    finally:
        rights[0] = before
        assert libc.capset(header, rights) == 0
