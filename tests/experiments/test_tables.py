"""The tables in every format hold the same numbers, whole and well formed."""

import re

import pandas as pd
import pytest

from mlspl.experiments import markdown_tables, score_table, summarise, text_tables
from mlspl.experiments.tables import latex_tables


@pytest.fixture(scope="module")
def summary(paper_store):
    return summarise(score_table(paper_store.frame()))


def cells(summary):
    for row in summary.itertuples():
        difference = f"{row.difference:+.4f}".replace("-", "−")
        yield f"{row.mean:.4f} ±{row.std:.4f}", f"{row.paper:.4f} ({difference})", row.best


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_terminal_shows_every_number_at_any_width(summary, width):
    text = "\n".join(text_tables(summary, width))
    for ours, paper, best in cells(summary):
        assert (f"*{ours}" if best else f" {ours}") in text
        assert paper in text
    assert max(len(line) for line in text.splitlines()) <= width
    assert "average precision ↑" in text
    assert "coverage ↓" in text
    assert "flags (30 % training rows, 6 splits)" in text.replace("\n", " ") or width == 40


def test_markdown_has_as_many_cells_in_every_row(summary):
    text = markdown_tables(summary)
    for ours, paper, best in cells(summary):
        assert (f"**{ours}**<br>{paper}" if best else f" {ours}<br>{paper}") in text
    rows = [line.count("|") for line in text.splitlines() if line.startswith("|")]
    assert set(rows) == {5}
    assert len(rows) == 3 * 7


def test_latex_is_balanced_and_has_as_many_cells_in_every_row(summary):
    text = latex_tables(summary)
    assert text.count("{") == text.count("}")
    assert text.count("$") % 2 == 0
    for environment in ("table", "tabular"):
        assert text.count(rf"\begin{{{environment}}}") == text.count(rf"\end{{{environment}}}") == 3
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {3}
    assert "%" not in re.sub(r"\\%", "", text.split("\n", 1)[1])
    assert not set("±−↑↓_") & set(text.split("\n", 1)[1])
    for ours, _, best in cells(summary):
        written = ours.replace("±", r"$\pm$")
        assert (rf"\textbf{{{written}}}" if best else f"{{{written}") in text


def test_without_the_paper_there_is_no_second_line(summary):
    own = summary.assign(paper=float("nan"), difference=float("nan"))
    assert "paper" not in markdown_tables(own) + latex_tables(own) + "".join(text_tables(own, 100))


def test_the_title_says_how_much_was_run(summary):
    uneven = summary.assign(splits=[3, *summary["splits"][1:]], tune="one_error", train=0.125)
    assert "(12.5 % training rows, 3–6 splits, tuned by one error)" in markdown_tables(uneven)
    assert "1 split)" in markdown_tables(summary.assign(splits=1))


def test_nothing_gives_nothing():
    empty = pd.DataFrame(columns=["block", "variant"])
    assert text_tables(empty, 80) == []


def test_names_are_escaped(summary):
    evil = r"\immediate\write18{id}$x$<img src=x onerror=alert(1)>|`a`[b](c)_#%&~^*"
    named = summary.query("dataset == 'flags' and variant == 'tram'").assign(block=evil, variant=evil)
    latex = latex_tables(named)
    title = next(line for line in latex.splitlines() if line.startswith(r"\caption"))
    commands = re.findall(r"\\([a-zA-Z]+)", title)
    known = {"caption", "textbackslash", "textless", "textgreater", "textbar", "textasciitilde"}
    assert set(commands) <= known | {"textasciicircum", "pm"}
    assert title.replace(r"\{", "").replace(r"\}", "").count("{") == title.replace(r"\}", "").count("}")
    heading, _, _, _, heads, *_ = markdown_tables(named).splitlines()
    for line in (heading, heads):
        assert not re.search(r"(?<!\\)[<>`*\[\]_$~&]", line.replace(" | ", "").strip("|"))
        assert r"\<img" in line
