"""Whatever is imported is declared, and the oldest versions tested are the oldest that are declared."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
# Distributions whose modules have other names.
MODULES = {"scikit-learn": "sklearn"}
# Tools that check or document the code: their version changes nothing that it does.
TOOLS = {"build", "hatchling", "import-linter", "mypy", "ruff", "codespell"}


def declared(*groups):
    """What users install, with all extras; and these dependency groups."""
    extras = [*PROJECT["optional-dependencies"].values(), *(SETTINGS["dependency-groups"][g] for g in groups)]
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in extra if isinstance(line, str))]
    found = [Requirement(line) for line in lines]
    return {requirement.name: requirement for requirement in found}


def test_whatever_the_package_imports_is_declared():
    installed = declared()
    known = {MODULES.get(name, name.replace("-", "_")) for name in installed}
    # What is used if somebody has it: their data frames, and hooks for what trains their networks.
    known |= {"polars", "skorch", "lightning", "transformers", "mlspl", *sys.stdlib_module_names}
    for path in (ROOT / "mlspl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module]
            else:
                continue
            for name in names:
                assert name.partition(".")[0] in known, f"{path.relative_to(ROOT)} imports {name}"


def test_the_oldest_versions_tested_are_those_declared():
    constraints = ROOT / ".ci" / "oldest.txt"
    if not constraints.exists():
        pytest.skip("not in a checkout")
    pinned, _ = constraints.read_text().split("\n\n")
    tested = {Requirement(line) for line in pinned.splitlines() if not line.startswith("#")}
    oldest = {
        Requirement(str(requirement).replace(">=", "=="))
        for name, requirement in declared("dev").items()
        if name not in TOOLS | {"torch", "onnx"}  # tests without them are skipped
    }
    assert tested == oldest
