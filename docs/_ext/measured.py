"""The directive `measured`: one criterion from all tables of a page, so that no figure is typed twice."""

import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive, directives
from docutils.statemachine import StringList


def read_tables(text: str) -> dict[str, list[list[str]]]:
    """The first table below each heading of the third level: its rows of cells, header first."""
    tables: dict[str, list[list[str]]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.removeprefix("### ").partition(" (")[0] if line.startswith("### ") else ""
        elif line.startswith("|") and heading:
            if not re.fullmatch(r"[|:\- ]+", line):
                tables.setdefault(heading, []).append([cell.strip() for cell in line.strip("|").split("|")])
        elif heading in tables:
            heading = ""
    return tables


def collect(text: str, criterion: str) -> dict[str, dict[str, str]]:
    """The values of a criterion: of every method, by data set. Tables have methods as rows or as columns."""
    found: dict[str, dict[str, str]] = {}
    for name, (header, *rows) in read_tables(text).items():
        columns = [j for j, cell in enumerate(header) if cell.startswith(criterion)]
        if columns:
            values = {row[0]: row[columns[0]] for row in rows}
        else:
            values = {
                method: cell
                for row in rows
                if row[0].startswith(criterion)
                for method, cell in zip(header[1:], row[1:], strict=True)
            }
        for method, value in values.items():
            found.setdefault(method, {})[name] = value.partition("<br>")[0].replace(" ± nan", "")
    if not found:
        raise ValueError(f"no table has {criterion!r}")
    return found


class Measured(Directive):
    """The name of a page is the argument."""

    required_arguments = 1
    option_spec = {"criterion": directives.unchanged_required, "sets": directives.unchanged_required}

    def run(self):
        env = self.state.document.settings.env
        path = Path(env.srcdir) / self.arguments[0]
        env.note_dependency(str(path))
        found = collect(path.read_text(encoding="utf-8"), self.options["criterion"])
        sets = self.options["sets"].split(", ")
        found = {method: values for method, values in found.items() if values.keys() & {*sets}}
        lines = ["| | " + " | ".join(sets) + " |", "|---|" + "---:|" * len(sets)]
        lines += [
            f"| {method} | " + " | ".join(values.get(name, "") for name in sets) + " |"
            for method, values in found.items()
        ]
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source=str(path)), 0, holder)
        return holder.children


def setup(app) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("measured", Measured)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
