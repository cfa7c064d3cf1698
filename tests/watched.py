"""A watch over what code under test does and how much memory it takes; and how long to search for faults.

``MLSPL_FUZZ_EXAMPLES=20000 pytest …`` searches longer than the usual run.
"""

import os
import sys
import time
import tracemalloc
from contextlib import contextmanager
from datetime import timedelta

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("MLSPL_FUZZ_EXAMPLES", "100"))
FORBIDDEN = (
    "exec", "code.__new__", "marshal.loads", "pickle.find_class", "ctypes.", "os.system", "os.exec",
    "os.spawn", "os.posix_spawn", "os.fork", "subprocess.", "socket.", "os.remove", "os.rename", "os.rmdir",
    "os.mkdir", "os.chmod", "os.link", "os.symlink", "os.putenv", "shutil.", "sys.settrace", "import",
)  # fmt: skip
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_watch = None


def _hook(event, arguments):
    if _watch is None:
        return
    if event == "open":
        _, _, flags = arguments
        if flags and flags & WRITING:
            _watch.append((event, *map(repr, arguments)))
    elif event.startswith(FORBIDDEN):
        _watch.append((event, *(repr(argument)[:80] for argument in arguments)))


def install():
    """Let Python report what it does; a hook cannot be taken away again, so there is one for all tests."""
    if not getattr(sys, "_mlspl_tests_watch", False):
        sys.addaudithook(_hook)
        sys._mlspl_tests_watch = True


@contextmanager
def nothing_run():
    """Fail if anything is executed, imported, started or opened for writing meanwhile.

    Run the code once before, outside: modules that are imported late would count.
    """
    global _watch
    install()
    _watch = seen = []
    try:
        yield
    finally:
        _watch = None
    assert not seen, seen[:5]


@contextmanager
def little_memory(most):
    """Fail if more than so many bytes are in use at any time meanwhile."""
    tracemalloc.start()
    try:
        yield
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < most, f"{peak:,} bytes"


def fuzzing(share=1.0):
    """Settings of a fuzz test that takes `share` of the usual number of examples."""
    return settings(
        max_examples=max(1, int(EXAMPLES * share)),
        deadline=timedelta(seconds=30),
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )


class Patience:
    """Fails where one example takes more processor time than any honest one."""

    def __init__(self, seconds=30.0):
        self.seconds = seconds

    def __enter__(self):
        self.start = time.thread_time()

    def __exit__(self, *error):
        assert time.thread_time() - self.start < self.seconds
