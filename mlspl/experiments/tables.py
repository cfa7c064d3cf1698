"""The tables: criteria × methods for each data set, for the terminal, Markdown and LaTeX."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from rich.console import Group
from rich.table import Table
from rich.text import Text

from mlspl._text import printable, shown
from mlspl.metrics import CRITERIA
from mlspl.recipes import method_title

__all__ = ["criterion_head", "latex_tables", "markdown_table", "markdown_tables", "rich_tables"]

_ARROWS = {True: "↑", False: "↓"}
_CELL_WIDTH = len("0.2719 (+0.0164)") + 2
_HEAD_WIDTH = len("average precision ↑") + 2
_LEGEND = "Mean ± standard deviation over splits, best in bold"
_PAPER_LEGEND = "below it the paper's mean and, in brackets, ours minus the paper's"


@dataclass(frozen=True)
class _Cell:
    ours: str
    best: bool
    paper: str


@dataclass(frozen=True)
class _Block:
    """One data set's table, as text."""

    title: str
    methods: list[str]
    rows: list[tuple[str, bool, list[_Cell]]]

    @property
    def has_paper(self) -> bool:
        return any(cell.paper for _, _, cells in self.rows for cell in cells)


def rich_tables(summary: pd.DataFrame, width: int) -> list[Group]:
    """Return tables for the terminal, cut into as many pieces as its width asks for.

    Parameters
    ----------
    summary : DataFrame
        From :func:`summarise`.
    width : int
        Columns of the terminal.
    """
    per_piece = max(1, (width - _HEAD_WIDTH) // _CELL_WIDTH)
    tables = []
    for block in _blocks(summary):
        for start in range(0, len(block.methods), per_piece):
            piece = slice(start, start + per_piece)
            table = Table(box=None, pad_edge=False)
            table.add_column("")
            for name in block.methods[piece]:
                table.add_column(shown(name), justify="right")
            for criterion, greater, cells in block.rows:
                ours = (Text(f"*{cell.ours}", "bold") if cell.best else cell.ours for cell in cells[piece])
                table.add_row(f"{shown(criterion)} {_ARROWS[greater]}", *ours)
                if any(cell.paper for cell in cells[piece]):
                    table.add_row("", *(Text(cell.paper, "dim") for cell in cells[piece]))
            # A title of the table itself would be wrapped to the table's width.
            tables.append(Group(Text(printable(block.title), "bold"), table, ""))
    return tables


def markdown_tables(summary: pd.DataFrame) -> str:
    """Return all tables as one Markdown text.

    Parameters
    ----------
    summary : DataFrame
        From :func:`summarise`.
    """
    parts = []
    for block in _blocks(summary):
        lines = [f"## {block.title}", "", f"{_legend(block)}.", ""]
        lines.append(f"| | {' | '.join(block.methods)} |")
        lines.append(f"|---|{'---:|' * len(block.methods)}")
        for criterion, greater, cells in block.rows:
            texts = [
                (f"**{cell.ours}**" if cell.best else cell.ours) + (f"<br>{cell.paper}" if cell.paper else "")
                for cell in cells
            ]
            lines.append(f"| {criterion} {_ARROWS[greater]} | {' | '.join(texts)} |")
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


def latex_tables(summary: pd.DataFrame) -> str:
    """Return all tables as LaTeX; the document needs the package booktabs.

    Parameters
    ----------
    summary : DataFrame
        From :func:`summarise`.
    """
    arrows = {True: r"$\uparrow$", False: r"$\downarrow$"}
    parts = []
    for block in _blocks(summary):
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_tex(block.title)}. {_tex(_legend(block))}.}}",
        ]
        lines += [rf"\begin{{tabular}}{{l{'r' * len(block.methods)}}}", r"\toprule"]
        lines += [rf" & {' & '.join(_tex(name) for name in block.methods)} \\", r"\midrule"]
        for criterion, greater, cells in block.rows:
            ours = [rf"\textbf{{{_tex(cell.ours)}}}" if cell.best else _tex(cell.ours) for cell in cells]
            lines.append(rf"{_tex(criterion)} {arrows[greater]} & {' & '.join(ours)} \\")
            if block.has_paper:
                paper = [rf"{{\footnotesize {_tex(cell.paper)}}}" if cell.paper else "" for cell in cells]
                lines.append(rf" & {' & '.join(paper)} \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(parts) + "\n"


def _blocks(summary: pd.DataFrame) -> Iterator[_Block]:
    for name, part in summary.groupby("block", sort=False) if len(summary) else ():
        variants = list(dict.fromkeys(part["variant"]))
        rows = []
        for criterion, of_criterion in part.groupby("criterion", sort=False):
            by_variant = of_criterion.set_index("variant")
            cells = [_cell(by_variant.loc[variant]) for variant in variants]
            rows.append((str(criterion).replace("_", " "), CRITERIA[str(criterion)].greater_is_better, cells))
        yield _Block(_title(str(name), part), [method_title(variant) for variant in variants], rows)


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


def _legend(block: _Block) -> str:
    return f"{_LEGEND}; {_PAPER_LEGEND}" if block.has_paper else _LEGEND


def _cell(row: pd.Series) -> _Cell:
    ours = f"{row['mean']:.4f}" if math.isnan(row["std"]) else f"{row['mean']:.4f} ±{row['std']:.4f}"
    difference = f"{row['difference']:+.4f}".replace("-", "−")
    paper = "" if math.isnan(row["paper"]) else f"{row['paper']:.4f} ({difference})"
    return _Cell(ours, bool(row["best"]), paper)


def _tex(text: str) -> str:
    for sign, command in (
        ("%", r"\%"),
        ("&", r"\&"),
        ("_", r"\_"),
        ("#", r"\#"),
        ("±", r"$\pm$"),
        ("–", "--"),
        ("−", "$-$"),
    ):
        text = text.replace(sign, command)
    return text


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: bool = True) -> str:
    """Return a table in Markdown.

    Parameters
    ----------
    heads : sequence of str
        Of the columns.
    rows : iterable of sequences of str
        The cells.
    numeric : bool, default=True
        Whether all columns but the first are set flush right.

    Examples
    --------
    >>> print(markdown_table(["", "loss"], [["ours", "0.1"]]))
    |  | loss |
    | --- | ---: |
    | ours | 0.1 |
    """
    lines = [heads, ["---", *(["---:" if numeric else "---"] * (len(heads) - 1))], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def criterion_head(criterion: str) -> str:
    """Return a criterion's name with an arrow that says which way is better.

    Parameters
    ----------
    criterion : str
        One of the five.

    Examples
    --------
    >>> criterion_head("ranking_loss")
    'ranking loss ↓'
    """
    return f"{criterion.replace('_', ' ')} {_ARROWS[CRITERIA[criterion].greater_is_better]}"
