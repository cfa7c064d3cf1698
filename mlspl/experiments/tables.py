"""Tables of scores and of tests: DataFrames of text, for pages, the terminal, Markdown and LaTeX."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import zip_longest
from textwrap import fill
from typing import NamedTuple

import numpy as np
import pandas as pd

from mlspl._text import printable
from mlspl.experiments.comparison import Comparison
from mlspl.experiments.statistics import fewest_splits
from mlspl.metrics import CRITERIA
from mlspl.recipes import method_title

_LEGEND = "Mean ± standard deviation over splits, best in bold"
_PAPER_LEGEND = "below it the paper's mean and, in brackets, ours minus the paper's"
_NUMBER = r"[+−]?\d[\d.]*( ±[\d.]+)?(\n.*)?|–"


class Table(NamedTuple):
    """A table of text whose index names the rows; `bold` says which cells are bold.

    A cell with a number may have a second line. `style` is "", "scores" or "tall".
    """

    caption: str
    texts: pd.DataFrame
    bold: pd.DataFrame | None = None
    style: str = ""

    @property
    def cells(self) -> list[list[tuple[str, bool]]]:
        """The heads and then the rows, each with its name first: texts, and whether they are bold."""
        bold = np.zeros(self.texts.shape, bool) if self.bold is None else self.bold.to_numpy(dtype=bool)
        lines = [(self.texts.index.name or "", *self.texts.columns), *self.texts.itertuples(name=None)]
        masks = np.pad(bold, ((1, 0), (1, 0))).tolist()
        return [list(zip(line, mask, strict=True)) for line, mask in zip(lines, masks, strict=True)]

    @property
    def numeric(self) -> list[bool]:
        """Whether each column holds numbers; the first holds the names of the rows."""
        columns = (self.texts.iloc[:, j] for j in range(self.texts.shape[1]))
        return [False, *(bool(column.str.fullmatch(_NUMBER).all()) for column in columns)]


def number(value: float, digits: int = 4, sign: bool = False) -> str:
    """Return a number as tables show it, a dash for what is missing."""
    if math.isnan(value):
        return "–"
    return f"{value:{'+' if sign else ''}.{digits}f}".replace("-", "−")


def score_tables(summary: pd.DataFrame) -> dict[str, Table]:
    """Return the scores on each data set by title; a row is a method, a column a criterion."""
    tables = {}
    for name, part in summary.groupby("block", sort=False) if len(summary) else ():
        texts = [
            number(mean)
            + ("" if math.isnan(std) else f" ±{number(std)}")
            + ("" if math.isnan(paper) else f"\n{number(paper)} ({number(mean - paper, sign=True)})")
            for mean, std, paper in part[["mean", "std", "paper"]].itertuples(index=False)
        ]
        part = part.assign(text=texts, head=part["criterion"].map(criterion_head))
        wide = part.pivot(index="variant", columns="head", values=["text", "best"])
        wide = wide.loc[part["variant"].unique()].rename(index=method_title).rename_axis(None)
        heads = part["head"].unique()
        legend = f"{_LEGEND}; {_PAPER_LEGEND}." if part["paper"].notna().any() else f"{_LEGEND}."
        tables[_title(str(name), part)] = Table(legend, wide["text"][heads], wide["best"][heads], "scores")
    return tables


def ranks_table(comparisons: Sequence[Comparison]) -> Table | None:
    """Return average ranks, Friedman's p-value and Nemenyi's critical difference by each criterion."""
    ranked = {one.criterion: one.ranking for one in comparisons if one.ranking}
    if not ranked:
        return None
    ranks = pd.DataFrame({name: ranking.ranks for name, ranking in ranked.items()}).T
    texts = ranks.map(number, digits=2)
    texts["Friedman's p"] = [number(ranking.p_value) for ranking in ranked.values()]
    texts["Nemenyi's CD"] = [number(ranking.distance, 2) for ranking in ranked.values()]
    bold = ranks.eq(ranks.min(axis=1), axis=0).reindex(columns=texts.columns, fill_value=False)
    n_datasets = next(len(one.means) for one in comparisons if one.ranking)
    caption = f"Average ranks over {n_datasets} data sets; 1 is best. CD: critical difference."
    return Table(caption, texts.rename(index=criterion_title, columns=method_title), bold)


def pairs_table(pairs: pd.DataFrame, caption: str, alpha: float = 0.05) -> Table:
    """Return the tests of pairs of methods, the significant ones in bold."""
    texts = pd.DataFrame(
        {
            "data set": pairs["block"],
            "better": pairs["better"].map(method_title),
            "worse": pairs["worse"].map(method_title),
            "difference": [number(value, sign=True) for value in pairs["difference"]],
            "pairs": pairs["blocks"].map(str),
            "p": pairs["p"].map(number),
            "p (Holm)": pairs["p_holm"].map(number),
        }
    )
    texts.index = pd.Index(pairs["criterion"].map(criterion_title), name="criterion")
    bold = pd.DataFrame(False, index=texts.index, columns=texts.columns)
    bold["p (Holm)"] = (pairs["p_holm"] < alpha).to_numpy()
    return Table(caption, texts, bold, "tall")


def text_tables(summary: pd.DataFrame, width: int) -> list[str]:
    """Return the scores for a terminal: a row is a criterion, a star marks the best."""
    tables = []
    for title, table in score_tables(summary).items():
        texts = table.texts.mask(table.bold.astype(bool), "*" + table.texts)  # type: ignore[union-attr]
        legend = fill(table.caption.replace("in bold", "with *"), width)
        tables.append(f"{_to_text(title, texts.T, width)}{legend}\n")
    return tables


def text_tests(
    comparisons: Sequence[Comparison], criteria: Collection[str], width: int, alpha: float = 0.05
) -> Iterator[str]:
    """Yield ranks, counts of significant pairs, and all pairs by the given criteria, for a terminal."""
    if ranks := ranks_table(comparisons):
        yield _to_text(ranks.caption, ranks.texts.T, width)
    tested = [comparison for comparison in comparisons if len(comparison.pairs)]
    if tested:
        yield _wins(tested, width, alpha)
    for one in tested:
        if one.criterion in criteria:
            title = f"{criterion_title(one.criterion)}: Wilcoxon's signed-rank test, Holm's adjustment"
            texts = pairs_table(one.pairs.assign(criterion=one.criterion), "").texts
            yield _to_text(title, texts.set_index("data set"), width)


def _wins(tested: Sequence[Comparison], width: int, alpha: float) -> str:
    """How often each method is significantly better and worse than another, over the data sets."""
    title = f"Pairs significantly better–worse (Wilcoxon over splits, Holm, α = {alpha:g})"
    texts = pd.DataFrame(index=tested[0].methods)
    for one in tested:
        significant = one.pairs[one.pairs["p_holm"] < alpha]
        won, lost = significant["better"].value_counts(), significant["worse"].value_counts()
        counts = [f"{won.get(name, 0)}–{lost.get(name, 0)}" for name in one.methods]
        texts[criterion_title(one.criterion)] = counts
    if any((one.pairs["p_holm"] < alpha).any() for one in tested):
        return _to_text(title, texts.rename(index=method_title), width)
    needed = fewest_splits(max(one.pairs["block"].value_counts().max() for one in tested), alpha)
    few = max(one.pairs["blocks"].max() for one in tested) < needed
    return f"{title}\n{f'Not tested: at least {needed} splits are needed.' if few else 'none'}\n"


def _to_text(title: str, texts: pd.DataFrame, width: int) -> str:
    """Return a table as text; columns for which a line has no room follow below."""
    lines = [
        [printable(part) for part in parts]
        for row in texts.itertuples(name=None)
        for parts in zip_longest(*(cell.split("\n") for cell in row), fillvalue="")
    ]
    table = pd.DataFrame(lines, columns=["", *map(printable, texts.columns)]).set_index("")
    return f"{printable(title)}\n{table.rename_axis(None).to_string(line_width=width)}\n"


def markdown_tables(summary: pd.DataFrame) -> str:
    """Return all tables as one Markdown text."""
    parts = []
    for title, table in score_tables(summary).items():
        heads, *rows = _write(table, _escape_markdown, "**{}**", "{}<br>{}")
        parts.append(f"## {_escape_markdown(title)}\n\n{table.caption}\n\n{markdown_table(heads, rows)}")
    return "\n\n".join(parts) + "\n"


def latex_tables(summary: pd.DataFrame) -> str:
    """Return all tables as LaTeX; the document needs the package booktabs."""
    parts = ["% needs \\usepackage{booktabs}"]
    for title, table in score_tables(summary).items():
        second = r"\shortstack[r]{{{} \\ \footnotesize {}}}"
        heads, *rows = _write(table, _escape_latex, r"\textbf{{{}}}", second)
        parts.append(
            pd.DataFrame(rows, columns=heads)
            .style.hide(axis="index")
            .to_latex(
                column_format="l" + "r" * (len(heads) - 1),
                hrules=True,
                position_float="centering",
                caption=_escape_latex(f"{title}. {table.caption}"),
            )
        )
    return "\n".join(parts)


def _write(table: Table, escape: Callable[[str], str], bold: str, second: str) -> list[list[str]]:
    """Return the cells with a criterion a row, escaped and with the marks of bold text and second lines."""

    def write(cell: str, is_bold: bool) -> str:
        ours, *paper = map(escape, cell.split("\n"))
        ours = bold.format(ours) if is_bold else ours
        return second.format(ours, *paper) if paper else ours

    return [[write(*cell) for cell in line] for line in zip(*table.cells, strict=True)]


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
    arrow = "" if known is None else " ↑" if known.greater_is_better else " ↓"
    return criterion_title(criterion) + arrow


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
