"""What the tests share: where the real data sets are, or why they are not."""

import os
import signal
from pathlib import Path

import pytest

# The suite's workers share the cores; threads of BLAS and OpenMP, on matrices this small, only stand in each
# other's way and double the time. Read when numpy is first imported, which is after this.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs deaf to Ctrl-C, and so would be the processes that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder with the Mulan and MEKA files; tests that need it skip without `$MLSPL_DATA`."""
    home = os.environ.get("MLSPL_DATA")
    if not home:
        pytest.skip("the real data sets are not here: set MLSPL_DATA to the folder that holds them")
    return Path(home).absolute()
