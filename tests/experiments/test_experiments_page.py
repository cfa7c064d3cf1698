"""The examples of docs/experiments.md run and print what the page says; its tables are the registry's."""

import doctest
from pathlib import Path

from mlspl.experiments import PAPER_FUNCTIONS, critical_difference
from mlspl.recipes import TUNING_BUDGET

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


def test_the_examples_run():
    results = doctest.testfile(str(PAGE), module_relative=False)
    assert results.attempted >= 8
    assert results.failed == 0


def test_the_numbers_named_are_the_numbers_used():
    text = PAGE.read_text(encoding="utf-8")
    assert f"= {TUNING_BUDGET} settings" in text
    assert f"critical difference is {critical_difference(6, 3):.2f} ranks" in " ".join(text.split())
    assert ",".join(PAPER_FUNCTIONS) in text
