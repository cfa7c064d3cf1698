"""Tables of scores and of tests: built once, and written for pages, the terminal, Markdown and LaTeX."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import pandas as pd
from rich import table as rich
from rich.console import Group
from rich.text import Text

from mlspl._text import printable
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.statistics import fewest_splits
from mlspl.metrics import CRITERIA
from mlspl.pages import Cell, Table, number
from mlspl.recipes import method_title

_Pair = tuple[str, str]
_ARROWS = {True: "↑", False: "↓"}
_LEGEND = "Mean ± standard deviation over splits, best in bold"
_PAPER_LEGEND = "below it the paper's mean and, in brackets, ours minus the paper's"


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
        higher = [head for head in columns if head.endswith(_ARROWS[True])]
        tables[_title(str(name), part)] = Table(legend, columns, "scores", higher)
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
    return [_rich(title, table.transposed(), width) for title, table in score_tables(summary).items()]


def rich_tests(
    comparisons: Sequence[Comparison], criteria: Collection[str], width: int, alpha: float = 0.05
) -> Iterator[Group]:
    """Yield ranks, counts of significant pairs, and all pairs by the given criteria, for the terminal."""
    ranks = ranks_table(comparisons)
    if ranks:
        yield _rich(ranks.caption, ranks.transposed(), width)
    tested = [comparison for comparison in comparisons if len(comparison.pairs)]
    if tested:
        yield _wins(tested, width, alpha)
    for one in tested:
        if one.criterion in criteria:
            title = f"{criterion_title(one.criterion)}: Wilcoxon's signed-rank test, Holm's adjustment"
            yield _rich(title, pairs_table(one.pairs.assign(criterion=one.criterion), "", alpha), width)


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
        return _rich(title, Table("", columns), width)
    needed = fewest_splits(max(one.pairs["block"].value_counts().max() for one in tested), alpha)
    few = max(one.pairs["blocks"].max() for one in tested) < needed
    return Group(Text(title, "bold"), f"Not tested: at least {needed} splits are needed." if few else "none")


def _rich(title: str, table: Table, width: int) -> Group:
    """A table for the terminal; columns that do not fit beside the first one follow below."""
    lines = [[Text(printable(head.text)) for head in table.heads]]
    lines += [[_rich_cell(cell, starred=table.style == "scores") for cell in row] for row in table.rows]
    widths = [
        1 + max(len(part) for text in column for part in text.plain.split("\n"))
        for column in zip(*lines, strict=True)
    ]
    pieces: list[list[int]] = []
    for place in range(1, len(widths)):
        if not pieces or widths[0] + sum(widths[i] for i in (*pieces[-1], place)) > width:
            pieces.append([])
        pieces[-1].append(place)
    parts = []
    for piece in pieces:
        part = rich.Table(box=None, pad_edge=False)
        for place in (0, *piece):
            part.add_column(lines[0][place], justify="right" if table.heads[place].numeric else "left")
        for line in lines[1:]:
            part.add_row(*(line[place] for place in (0, *piece)))
        parts.append(part)
    # A title of the table itself would be wrapped to the table's width.
    return Group(Text(printable(title), "bold"), *parts, "")


def _rich_cell(cell: Cell, starred: bool) -> Text:
    text = Text(("*" if cell.best and starred else "") + printable(_ours(cell)), "bold" if cell.best else "")
    return text.append(f"\n{_paper(cell)}", "not bold dim") if cell.paper else text


def markdown_tables(summary: pd.DataFrame) -> str:
    """Return all tables as one Markdown text."""
    parts = []
    for title, table in score_tables(summary).items():
        heads, rows = _written(table.transposed(), _escape_markdown, "**{}**")
        text = markdown_table(heads, [["<br>".join(filter(None, cell)) for cell in row] for row in rows])
        parts.append(f"## {_escape_markdown(title)}\n\n{table.caption}\n\n{text}")
    return "\n\n".join(parts) + "\n"


def latex_tables(summary: pd.DataFrame) -> str:
    """Return all tables as LaTeX; the document needs the package booktabs."""
    parts = []
    for title, table in score_tables(summary).items():
        heads, rows = _written(table.transposed(), _escape_latex, r"\textbf{{{}}}")
        lines = [
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{_escape_latex(f'{title}. {table.caption}')}}}",
        ]
        lines += [rf"\begin{{tabular}}{{l{'r' * (len(heads) - 1)}}}", r"\toprule"]
        lines += [rf"{' & '.join(heads)} \\", r"\midrule"]
        for row in rows:
            ours, paper = zip(*row, strict=True)
            lines.append(rf"{' & '.join(ours)} \\")
            if any(paper):
                small = (rf"{{\footnotesize {text}}}" if text else "" for text in paper)
                lines.append(rf"{' & '.join(small)} \\")
        lines += [r"\bottomrule", r"\end{tabular}", r"\end{table}"]
        parts.append("\n".join(lines))
    return "% needs \\usepackage{booktabs}\n" + "\n\n".join(parts) + "\n"


def _written(table: Table, escape: Callable[[str], str], bold: str) -> tuple[list[str], list[list[_Pair]]]:
    """The heads, and the cells as pairs: ours, and the paper's or nothing."""
    rows = [
        [
            (bold.format(escape(_ours(cell))) if cell.best else escape(_ours(cell)), escape(_paper(cell)))
            for cell in row
        ]
        for row in table.rows
    ]
    return [escape(head.text) for head in table.heads], rows


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
    | {"±": r"$\pm$", "–": "--", "−": "$-$", "↑": r"$\uparrow$", "↓": r"$\downarrow$"}
)


def _escape_latex(text: str) -> str:
    return printable(text).translate(_LATEX)


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|&$~#])", r"\\\1", printable(text))
