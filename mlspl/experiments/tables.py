"""Tables of scores and of tests, for the terminal, Markdown and LaTeX."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import pandas as pd
from rich.console import Group
from rich.table import Table
from rich.text import Text

from mlspl._text import printable, shown
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.statistics import fewest_splits
from mlspl.metrics import CRITERIA
from mlspl.pages import Cell, number
from mlspl.recipes import method_title

__all__ = [
    "criterion_head",
    "criterion_title",
    "latex_tables",
    "markdown_table",
    "markdown_tables",
    "pairs_columns",
    "pairs_table",
    "ranks_table",
    "rich_tables",
    "score_blocks",
    "wins_table",
]

_MOST_CRITERIA = 6
_ARROWS = {True: "↑", False: "↓"}
_CELL_WIDTH = len("0.2719 (+0.0164)") + 2
_HEAD_WIDTH = len("average precision ↑") + 2
_LEGEND = "Mean ± standard deviation over splits, best in bold"
_PAPER_LEGEND = "below it the paper's mean and, in brackets, ours minus the paper's"


class ScoreBlock(NamedTuple):
    """Scores on one data set; a row is a criterion, its direction and a cell for each method."""

    title: str
    legend: str
    methods: list[str]
    rows: list[tuple[str, bool, list[Cell]]]


def rich_tables(summary: pd.DataFrame, width: int) -> list[Group]:
    """Return tables for the terminal, cut into as many pieces as its width asks for."""
    per_piece = max(1, (width - _HEAD_WIDTH) // _CELL_WIDTH)
    tables = []
    for block in score_blocks(summary):
        for start in range(0, len(block.methods), per_piece):
            piece = slice(start, start + per_piece)
            table = Table(box=None, pad_edge=False)
            table.add_column("")
            for name in block.methods[piece]:
                table.add_column(shown(name), justify="right")
            for criterion, greater, cells in block.rows:
                ours = (
                    Text(f"*{_ours(cell)}", "bold") if cell.best else _ours(cell) for cell in cells[piece]
                )
                table.add_row(f"{shown(criterion)} {_ARROWS[greater]}", *ours)
                if any(cell.paper for cell in cells[piece]):
                    table.add_row("", *(Text(_paper(cell), "dim") for cell in cells[piece]))
            tables.append(_titled(block.title, table))
    return tables


def markdown_tables(summary: pd.DataFrame) -> str:
    """Return all tables as one Markdown text."""
    parts = []
    for block in score_blocks(summary):
        lines = [f"## {_escape_markdown(block.title)}", "", f"{block.legend}.", ""]
        lines.append(f"| | {' | '.join(map(_escape_markdown, block.methods))} |")
        lines.append(f"|---|{'---:|' * len(block.methods)}")
        for criterion, greater, cells in block.rows:
            texts = [
                (f"**{_ours(cell)}**" if cell.best else _ours(cell))
                + "<br>" * bool(cell.paper)
                + _paper(cell)
                for cell in cells
            ]
            lines.append(f"| {_escape_markdown(criterion)} {_ARROWS[greater]} | {' | '.join(texts)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def latex_tables(summary: pd.DataFrame) -> str:
    """Return all tables as LaTeX; the document needs the package booktabs."""
    arrows = {True: r"$\uparrow$", False: r"$\downarrow$"}
    parts = []
    for block in score_blocks(summary):
        tex = _escape_latex
        lines = [r"\begin{table}", r"\centering", rf"\caption{{{tex(f'{block.title}. {block.legend}.')}}}"]
        lines += [rf"\begin{{tabular}}{{l{'r' * len(block.methods)}}}", r"\toprule"]
        lines += [rf" & {' & '.join(map(tex, block.methods))} \\", r"\midrule"]
        for criterion, greater, cells in block.rows:
            ours = [rf"\textbf{{{tex(_ours(cell))}}}" if cell.best else tex(_ours(cell)) for cell in cells]
            lines.append(rf"{tex(criterion)} {arrows[greater]} & {' & '.join(ours)} \\")
            if any(cell.paper for cell in cells):
                paper = [rf"{{\footnotesize {tex(_paper(cell))}}}" if cell.paper else "" for cell in cells]
                lines.append(rf" & {' & '.join(paper)} \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(parts) + "\n"


def score_blocks(summary: pd.DataFrame) -> Iterator[ScoreBlock]:
    """Yield the table of each data set."""
    for name, part in summary.groupby("block", sort=False) if len(summary) else ():
        variants = list(dict.fromkeys(part["variant"]))
        rows = []
        for criterion, of_criterion in part.groupby("criterion", sort=False):
            by_variant = of_criterion.set_index("variant")
            cells = [_cell(by_variant.loc[variant]) for variant in variants]
            rows.append((criterion_title(str(criterion)), CRITERIA[str(criterion)].greater_is_better, cells))
        legend = f"{_LEGEND}; {_PAPER_LEGEND}" if part["paper"].notna().any() else _LEGEND
        yield ScoreBlock(_title(str(name), part), legend, list(map(method_title, variants)), rows)


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
    return Cell(
        number(row["mean"]),
        row["mean"],
        bool(row["best"]),
        std="" if math.isnan(row["std"]) else number(row["std"]),
        paper="" if math.isnan(row["paper"]) else number(row["paper"]),
        far=number(row["difference"], sign=True),
    )


def _ours(cell: Cell) -> str:
    return f"{cell.text} ±{cell.std}" if cell.std else cell.text


def _paper(cell: Cell) -> str:
    return f"{cell.paper} ({cell.far})" if cell.paper else ""


_LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "%&_#${}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"±": r"$\pm$", "–": "--", "−": "$-$"}
)


def _escape_latex(text: str) -> str:
    return printable(text).translate(_LATEX)


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|&$~#])", r"\\\1", printable(text))


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


def ranks_table(comparisons: Sequence[Comparison]) -> Group | None:
    """Average ranks, Friedman's p-value and Nemenyi's critical difference by each criterion."""
    ranked = [(comparison, comparison.ranking) for comparison in comparisons if comparison.ranking]
    if not ranked:
        return None
    heads = [*map(method_title, ranked[0][0].methods), "Friedman's p", "Nemenyi's CD"]
    columns = {}
    for comparison, ranking in ranked:
        best = ranking.ranks.min()
        columns[comparison.criterion] = [
            *(f"[bold]{rank:.2f}[/]" if rank == best else f"{rank:.2f}" for rank in ranking.ranks),
            f"{ranking.friedman.p_value:.4f}",
            f"{ranking.distance:.2f}",
        ]
    n_datasets = len(ranked[0][0].means)
    title = f"Average ranks over {n_datasets} data sets, 1 being best (CD: critical difference)"
    return _titled(title, *_tables_by_criterion(heads, columns))


def wins_table(comparisons: Sequence[Comparison], alpha: float = 0.05) -> Group | None:
    """How often each method is significantly better and worse than another, over the data sets."""
    tested = [comparison for comparison in comparisons if len(comparison.pairs)]
    if not tested:
        return None
    title = f"Pairs significantly better–worse (Wilcoxon over splits, Holm, α = {alpha:g})"
    if not any((comparison.pairs["p_holm"] < alpha).any() for comparison in tested):
        pairs = max((len(part) for one in tested for _, part in one.pairs.groupby("block")))
        needed = fewest_splits(pairs, alpha)
        few = max(one.pairs["blocks"].max() for one in tested) < needed
        return _titled(title, f"Not tested: at least {needed} splits are needed." if few else "none")
    columns = {}
    for comparison in tested:
        significant = comparison.pairs[comparison.pairs["p_holm"] < alpha]
        won, lost = significant["better"].value_counts(), significant["worse"].value_counts()
        columns[comparison.criterion] = [
            f"{won.get(name, 0)}–{lost.get(name, 0)}" for name in tested[0].methods
        ]
    return _titled(title, *_tables_by_criterion(list(map(method_title, tested[0].methods)), columns))


def pairs_columns(pairs: pd.DataFrame, alpha: float = 0.05) -> dict[str, list[Cell]]:
    """Return the columns of a table of tests, the significant ones in bold."""
    return {
        "data set": [Cell(name) for name in pairs["block"]],
        "better": [Cell(method_title(name)) for name in pairs["better"]],
        "worse": [Cell(method_title(name)) for name in pairs["worse"]],
        "difference": [Cell(number(value, sign=True), value) for value in pairs["difference"]],
        "pairs": [Cell(str(count), count) for count in pairs["blocks"]],
        "p": [Cell(number(p), p) for p in pairs["p"]],
        "p (Holm)": [Cell(number(p), p, p < alpha) for p in pairs["p_holm"]],
    }


def pairs_table(comparison: Comparison, alpha: float = 0.05) -> Group:
    """Every pair's test for one criterion, the significant ones in bold."""
    title = f"{criterion_title(comparison.criterion)}: Wilcoxon's signed-rank test, Holm's adjustment"
    table = Table(box=None, pad_edge=False)
    columns = pairs_columns(comparison.pairs, alpha) if len(comparison.pairs) else {}
    for head, column in columns.items():
        table.add_column(head, justify="left" if column[0].value is None else "right")
    for row in zip(*columns.values(), strict=True):
        table.add_row(*(shown(cell.text) for cell in row), style="bold" if row[-1].best else None)
    return _titled(title, table)


def _tables_by_criterion(heads: Sequence[str], columns: Mapping[str, Sequence[str]]) -> Iterator[Table]:
    """Tables with a row for each head and a column for each criterion, for narrow terminals."""
    for start in range(0, len(columns), _MOST_CRITERIA):
        criteria = list(columns)[start : start + _MOST_CRITERIA]
        table = Table(box=None, pad_edge=False)
        table.add_column("", no_wrap=True)
        for criterion in criteria:
            table.add_column(shown(criterion_title(criterion)), justify="right")
        for head, *cells in zip(heads, *(columns[criterion] for criterion in criteria), strict=True):
            table.add_row(shown(head), *cells)
        yield table


def _titled(title: str, *parts: Table | str) -> Group:
    # A title of the table itself would be wrapped to the table's width.
    return Group(Text(printable(title), "bold"), *parts, "")
