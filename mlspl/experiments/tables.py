"""Tables of scores and of tests: built once, and written for pages, the terminal, Markdown and LaTeX."""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from rich import table as rich
from rich.console import Group
from rich.text import Text

from mlspl._text import printable
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.statistics import fewest_splits
from mlspl.metrics import CRITERIA
from mlspl.recipes import method_title

_ARROWS = {True: "↑", False: "↓"}
_LEGEND = "Mean ± standard deviation over splits, best in bold"
_PAPER_LEGEND = "below it the paper's mean and, in brackets, ours minus the paper's"


class Cell(NamedTuple):
    """A cell: its text, the number it is sorted by, and how it looks.

    `best` is set in bold, `std` follows the text, `paper` is a second line. `style` is "", "wide" or "error".
    """

    text: str
    value: float | None = None
    best: bool = False
    std: str = ""
    paper: str = ""
    style: str = ""

    @property
    def lines(self) -> list[str]:
        """The text with its deviation, and the second line if there is one."""
        return [f"{self.text} ±{self.std}" if self.std else self.text, *filter(None, [self.paper])]


Lines = Sequence[Sequence[Cell]]


class Table:
    """A table of a page: cells by head of the column, of which the first names the rows.

    `style` is "", "scores" or "tall". `lines` holds the heads and then the rows; `numeric` says which columns
    hold numbers.
    """

    def __init__(self, caption: str, columns: Mapping[str, Iterable], style: str = ""):
        self.caption, self.style = caption, style
        cells = ([Cell(head), *map(_as_cell, column)] for head, column in columns.items())
        self.lines: Lines = list(zip(*cells, strict=True))
        self.numeric = _are_numeric(self.lines)


def _are_numeric(lines: Lines) -> list[bool]:
    return [any(cell.value is not None for cell in column) for column in zip(*lines, strict=True)]


def _as_cell(value: object) -> Cell:
    if isinstance(value, Cell | str):
        return Cell(value) if isinstance(value, str) else value
    return Cell(number(value, 3) if isinstance(value, float) else f"{value:g}", float(value))  # type: ignore


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as tables show it, a dash for what is missing."""
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def score_tables(summary: pd.DataFrame) -> dict[str, Table]:
    """Return the scores on each data set by title; a row is a method, a column a criterion."""
    tables = {}
    for name, part in summary.groupby("block", sort=False) if len(summary) else ():
        variants = list(dict.fromkeys(part["variant"]))
        columns: dict[str, Iterable] = {"": map(method_title, variants)}
        for criterion, scores in part.groupby("criterion", sort=False):
            scores = scores.set_index("variant")
            columns[criterion_head(str(criterion))] = [_cell(scores.loc[variant]) for variant in variants]
        legend = f"{_LEGEND}; {_PAPER_LEGEND}." if part["paper"].notna().any() else f"{_LEGEND}."
        tables[_title(str(name), part)] = Table(legend, columns, "scores")
    return tables


def ranks_table(comparisons: Sequence[Comparison]) -> Table | None:
    """Return average ranks, Friedman's p-value and Nemenyi's critical difference by each criterion."""
    ranked = [(comparison, comparison.ranking) for comparison in comparisons if comparison.ranking]
    if not ranked:
        return None
    columns: dict[str, Iterable] = {"": [criterion_title(one.criterion) for one, _ in ranked]}
    for name in ranked[0][0].methods:
        ranks = [(ranking.ranks[name], ranking.ranks.min()) for _, ranking in ranked]
        columns[method_title(name)] = [Cell(number(rank, 2), rank, rank == best) for rank, best in ranks]
    columns["Friedman's p"] = [Cell(number(one.friedman.p_value), one.friedman.p_value) for _, one in ranked]
    columns["Nemenyi's CD"] = [Cell(number(one.distance, 2), one.distance) for _, one in ranked]
    n_datasets = len(ranked[0][0].means)
    return Table(f"Average ranks over {n_datasets} data sets; 1 is best. CD: critical difference.", columns)


def pairs_table(pairs: pd.DataFrame, caption: str, alpha: float = 0.05) -> Table:
    """Return the tests of pairs of methods, the significant ones in bold."""
    columns = {
        "criterion": pairs["criterion"].map(criterion_title),
        "data set": pairs["block"],
        "better": pairs["better"].map(method_title),
        "worse": pairs["worse"].map(method_title),
        "difference": [Cell(number(value, sign=True), value) for value in pairs["difference"]],
        "pairs": pairs["blocks"],
        "p": [Cell(number(p), p) for p in pairs["p"]],
        "p (Holm)": [Cell(number(p), p, p < alpha) for p in pairs["p_holm"]],
    }
    return Table(caption, columns, "tall")


def rich_tables(summary: pd.DataFrame, width: int) -> list[Group]:
    """Return the scores for the terminal, cut into as many pieces as its width asks for."""
    return [_rich(title, _transpose(table), width, "*") for title, table in score_tables(summary).items()]


def _transpose(table: Table) -> Lines:
    return list(zip(*table.lines, strict=True))


def rich_tests(
    comparisons: Sequence[Comparison], criteria: Collection[str], width: int, alpha: float = 0.05
) -> Iterator[Group]:
    """Yield ranks, counts of significant pairs, and all pairs by the given criteria, for the terminal."""
    ranks = ranks_table(comparisons)
    if ranks:
        yield _rich(ranks.caption, _transpose(ranks), width)
    tested = [comparison for comparison in comparisons if len(comparison.pairs)]
    if tested:
        yield _wins(tested, width, alpha)
    for one in tested:
        if one.criterion in criteria:
            title = f"{criterion_title(one.criterion)}: Wilcoxon's signed-rank test, Holm's adjustment"
            table = pairs_table(one.pairs.assign(criterion=one.criterion), "", alpha)
            yield _rich(title, table.lines, width)


def _wins(tested: Sequence[Comparison], width: int, alpha: float) -> Group:
    """How often each method is significantly better and worse than another, over the data sets."""
    title = f"Pairs significantly better–worse (Wilcoxon over splits, Holm, α = {alpha:g})"
    columns = {"": [method_title(name) for name in tested[0].methods]}
    for one in tested:
        significant = one.pairs[one.pairs["p_holm"] < alpha]
        won, lost = significant["better"].value_counts(), significant["worse"].value_counts()
        columns[criterion_title(one.criterion)] = [
            f"{won.get(name, 0)}–{lost.get(name, 0)}" for name in one.methods
        ]
    if any((one.pairs["p_holm"] < alpha).any() for one in tested):
        return _rich(title, Table("", columns).lines, width)
    needed = fewest_splits(max(one.pairs["block"].value_counts().max() for one in tested), alpha)
    few = max(one.pairs["blocks"].max() for one in tested) < needed
    return Group(Text(title, "bold"), f"Not tested: at least {needed} splits are needed." if few else "none")


def _rich(title: str, lines: Lines, width: int, star: str = "") -> Group:
    """A table for the terminal; columns that do not fit beside the first one follow below."""
    texts = [[_rich_cell(cell, star) for cell in line] for line in lines]
    widths = [
        1 + max(len(part) for text in column for part in text.plain.split("\n"))
        for column in zip(*texts, strict=True)
    ]
    pieces: list[list[int]] = []
    for place in range(1, len(widths)):
        if not pieces or widths[0] + sum(widths[i] for i in (*pieces[-1], place)) > width:
            pieces.append([])
        pieces[-1].append(place)
    numeric = _are_numeric(lines)
    parts = []
    for piece in pieces:
        part = rich.Table(box=None, pad_edge=False)
        for place in (0, *piece):
            part.add_column(texts[0][place], justify="right" if numeric[place] else "left")
        for line in texts[1:]:
            part.add_row(*(line[place] for place in (0, *piece)))
        parts.append(part)
    # A title of the table itself would be wrapped to the table's width.
    return Group(Text(printable(title), "bold"), *parts, "")


def _rich_cell(cell: Cell, star: str) -> Text:
    ours, *paper = map(printable, cell.lines)
    text = Text(f"{star if cell.best else ''}{ours}", "bold" if cell.best else "")
    return text.append(f"\n{paper[0]}", "not bold dim") if paper else text


def markdown_tables(summary: pd.DataFrame) -> str:
    """Return all tables as one Markdown text."""

    def write(cell: Cell) -> str:
        ours, *paper = map(_escape_markdown, cell.lines)
        return "<br>".join([f"**{ours}**" if cell.best else ours, *paper])

    parts = []
    for title, table in score_tables(summary).items():
        heads, *rows = ([write(cell) for cell in line] for line in _transpose(table))
        parts.append(f"## {_escape_markdown(title)}\n\n{table.caption}\n\n{markdown_table(heads, rows)}")
    return "\n\n".join(parts) + "\n"


def latex_tables(summary: pd.DataFrame) -> str:
    """Return all tables as LaTeX; the document needs the package booktabs."""
    parts = ["% needs \\usepackage{booktabs}"]
    for title, table in score_tables(summary).items():
        heads, *lines = _transpose(table)
        rows = []
        for line in lines:
            texts = [list(map(_escape_latex, cell.lines)) for cell in line]
            pairs = zip(texts, line, strict=True)
            rows.append([rf"\textbf{{{ours}}}" if cell.best else ours for (ours, *_), cell in pairs])
            if any(cell.paper for cell in line):
                rows.append([rf"{{\footnotesize {paper[0]}}}" if paper else "" for _, *paper in texts])
        frame = pd.DataFrame(rows, columns=[_escape_latex(head.text) for head in heads])
        parts.append(
            frame.style.hide(axis="index").to_latex(
                column_format="l" + "r" * (len(heads) - 1),
                hrules=True,
                position_float="centering",
                caption=_escape_latex(f"{title}. {table.caption}"),
            )
        )
    return "\n".join(parts)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: bool = True) -> str:
    """Return a table in Markdown."""
    lines = [heads, ["---", *(["---:" if numeric else "---"] * (len(heads) - 1))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def criterion_title(criterion: str) -> str:
    """Return a criterion's name in words."""
    return re.sub(r"\bf1\b", "F1", criterion.replace("_", " "))


def criterion_head(criterion: str) -> str:
    """Return a criterion's name in words, with an arrow up if greater is better."""
    known = CRITERIA.get(criterion)
    return criterion_title(criterion) + (f" {_ARROWS[known.greater_is_better]}" if known else "")


def _title(name: str, part: pd.DataFrame) -> str:
    counts = sorted(set(part["splits"]))
    splits = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]}–{counts[-1]}"
    first = part.iloc[0]
    words = [] if "training" in name else [f"{100 * first['train']:g} % training rows"]
    words.append(f"{splits} split{'' if counts == [1] else 's'}")
    if first["folds"]:
        words = [f"{first['folds']}-fold cross-validation"]
    if first["tune"]:
        words.append(f"tuned by {first['tune'].replace('_', ' ')}")
    return f"{name} ({', '.join(words)})"


def _cell(row: pd.Series) -> Cell:
    paper = f"{number(row['paper'])} ({number(row['difference'], sign=True)})"
    return Cell(
        number(row["mean"]),
        row["mean"],
        bool(row["best"]),
        std="" if math.isnan(row["std"]) else number(row["std"]),
        paper="" if math.isnan(row["paper"]) else paper,
    )


_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&_#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"±": r"$\pm$", "–": "--", "−": "$-$", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}
)


def _escape_latex(text: str) -> str:
    return printable(text).translate(_LATEX)


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|&$~#])", r"\\\1", printable(text))
