"""Disks that take no more, and folders that cannot be written: as the system says it."""

import os
from contextlib import contextmanager

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
    """As somebody who may read the folder and not write to it."""
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0
    for path in folder.iterdir():
        path.chmod(0o444)
    for parent in (folder, *folder.parents[:4]):
        parent.chmod(parent.stat().st_mode | 0o555)
    folder.chmod(0o555)
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        folder.chmod(0o755)
