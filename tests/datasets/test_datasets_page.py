"""The guide's examples run, and its table is the registry."""

import doctest
import re
from pathlib import Path

from mlspl.datasets.loading import REGISTRY

PAGE = Path(__file__).parents[2] / "docs" / "datasets.md"


def test_the_examples_of_the_page_run():
    result = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert result.attempted > 10
    assert result.failed == 0


def test_the_table_of_the_page_is_the_registry():
    row = r"^\| `([\w-]+)` \| (\w+) \| (\d+) \| (\d+) \| (\d+) \| ([\d.]+) \|$"
    rows = re.findall(row, PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [
        (e.name, e.domain, str(e.n_rows), str(e.n_features), str(e.n_labels), f"{e.cardinality:.2f}")
        for e in REGISTRY.values()
    ]
