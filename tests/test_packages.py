"""Packages are imported only through their `__init__`."""

import ast
from pathlib import Path

import pytest

import mlspl

ROOT = Path(mlspl.__file__).parent
PACKAGES = {path.parent.name for path in ROOT.glob("*/__init__.py")}
FILES = [*ROOT.rglob("*.py"), *(ROOT.parent / "studies").rglob("*.py")]


def imported_modules(path):
    """Full names of the modules that a file imports from, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT.parent)))
def test_other_packages_are_imported_through_their_init(path):
    parts = path.relative_to(ROOT.parent).parts
    own = "cli" if path.name == "__main__.py" else parts[1] if parts[0] == "mlspl" else None
    past = [
        name
        for name in imported_modules(path)
        if name.count(".") > 1 and name.split(".")[0] == "mlspl" and name.split(".")[1] in PACKAGES - {own}
    ]
    assert not past, f"import it from the package's __init__: {past}"
