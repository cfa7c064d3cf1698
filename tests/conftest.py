"""What the tests share: where the real data sets are, or why they are not."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder with the Mulan and MEKA files; tests that need it skip without `$MLSPL_DATA`."""
    home = os.environ.get("MLSPL_DATA")
    if not home:
        pytest.skip("the real data sets are not here: set MLSPL_DATA to the folder that holds them")
    return Path(home).absolute()
