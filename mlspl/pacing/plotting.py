"""Pictures of self-paced functions: the weight against the loss, and the penalty against the weight."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlspl._files import write_file
from mlspl.errors import UserError
from mlspl.pacing.arrays import pace_array
from mlspl.pacing.base import FloatArray, SelfPacedFunction
from mlspl.pacing.diversity import Diversity
from mlspl.pacing.registry import get

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["PACES", "plot", "save_plot"]

PACES = (0.25, 0.5, 1.0, 2.0)
"""The paces at which `plot` draws a function."""
COLUMNS = 4
# Viridis from dark to light along the pace: told apart with any colour vision, and in grey.
_COLOURS = {
    1: ("#31688e",),
    2: ("#440154", "#35b779"),
    3: ("#440154", "#31688e", "#35b779"),
    4: ("#440154", "#3b528b", "#21918c", "#7ad151"),
    5: ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151"),
    6: ("#440154", "#414487", "#31688e", "#21918c", "#35b779", "#90d743"),
}
_STYLE: dict[Any, Any] = {
    "font.family": "STIXGeneral",
    "font.size": 9,
    "mathtext.fontset": "stix",
    "axes.titlesize": 10.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "legend.frameon": False,
}
_PAGE = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Self-paced functions</title>
<style>
body {{ margin: 1rem; background: white; }}
svg {{ display: block; margin: auto; max-width: 100%; height: auto; }}
</style>
{picture}
</html>
"""


@dataclass(frozen=True)
class _Line:
    """One function at one pace, as the points of its two panels."""

    pace: float
    loss: FloatArray
    weight: FloatArray
    weight_at_pace: float
    grid: FloatArray
    penalty: FloatArray


def plot(
    functions: str | SelfPacedFunction | Iterable[str | SelfPacedFunction],
    *,
    paces: Sequence[float] = PACES,
    max_loss: float | None = None,
    figure: "Figure | None" = None,
) -> "Figure":
    """Draw the weight against the loss, and below it the penalty against the weight, for several paces.

    Parameters
    ----------
    functions : name or SelfPacedFunction, or several of them
        Drawn side by side, four to a row.
    paces : sequence of float, default=(0.25, 0.5, 1.0, 2.0)
        At most six; a function leaves out those it does not take.
    max_loss : float, optional
        The end of the loss axis; by default twice the largest pace.
    figure : matplotlib Figure, optional
        Where to draw; by default a new figure as wide as a printed page.

    Returns
    -------
    matplotlib.figure.Figure

    Examples
    --------
    >>> from mlspl import pacing
    >>> figure = pacing.plot(["sigmoid", "gaussian"], paces=[0.5, 1.0])
    >>> len(figure.axes)
    4
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    resolved, lines, max_loss = _lines(functions, paces, max_loss)
    columns = min(COLUMNS, len(resolved))
    blocks = -(-len(resolved) // columns)
    with mpl.rc_context(_STYLE):
        if figure is None:
            width = max(1.8 * columns, 3.4)
            figure = Figure(figsize=(width, 3.7 * blocks + 0.3), layout="constrained")
        axes = figure.subplots(2 * blocks, columns, squeeze=False)
        for index in range(blocks * columns):
            block, column = divmod(index, columns)
            top, bottom = axes[2 * block, column], axes[2 * block + 1, column]
            if index >= len(resolved):
                top.set_axis_off()
                bottom.set_axis_off()
                continue
            _draw(top, bottom, resolved[index], lines[index], paces, max_loss, labelled=column == 0)
        _legend(figure, paces)
    return figure


def save_plot(
    functions: str | SelfPacedFunction | Iterable[str | SelfPacedFunction],
    path: str | Path,
    *,
    paces: Sequence[float] = PACES,
    max_loss: float | None = None,
) -> Path:
    """Draw self-paced functions: ``.png``, ``.svg`` or ``.pdf`` to print, ``.html`` for a browser.

    Parameters
    ----------
    functions, paces, max_loss
        As for `plot`.
    path : str or Path
        The file; its suffix chooses the format. An HTML file needs no network to be read.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl import pacing
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pacing.save_plot("linear", f"{folder}/linear.svg").name
    'linear.svg'
    """
    path = Path(path)
    suffix = path.suffix.lower()
    kind = "svg" if suffix == ".html" else suffix[1:]
    if kind not in ("png", "svg", "pdf"):
        raise UserError(f"a picture is a .png, .svg, .pdf or .html file, and {path.name!r} is none of them.")
    import matplotlib as mpl

    # The same picture gives the same file: no date, no random identifiers.
    undated = {"CreationDate": None} if kind == "pdf" else {"Date": None} if kind == "svg" else {}
    figure = plot(functions, paces=paces, max_loss=max_loss)
    picture = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "mlspl"}):
        figure.savefig(picture, format=kind, dpi=300, metadata=undated)
    if suffix == ".html":
        text = picture.getvalue().decode()
        write_file(path, _PAGE.format(picture=text[text.index("<svg") :]))
    else:
        write_file(path, picture.getvalue())
    return path


def _lines(
    functions: str | SelfPacedFunction | Iterable[str | SelfPacedFunction],
    paces: Sequence[float],
    max_loss: float | None,
) -> tuple[list[SelfPacedFunction], list[list[_Line]], float]:
    """Resolve the functions and compute the points of every line."""
    several = [functions] if isinstance(functions, str | SelfPacedFunction) else list(functions)
    resolved = [get(function) for function in several]
    if not resolved:
        raise UserError("there is nothing to draw: name at least one self-paced function.")
    values = pace_array(paces)
    if len(set(values.tolist())) not in _COLOURS or not np.all((values > 0) & (values < np.inf)):
        raise UserError(f"a picture takes one to {len(_COLOURS)} paces, all of them above 0 and finite.")
    end = float(2 * values.max()) if max_loss is None else max_loss
    if not 0 < end < np.inf:
        raise UserError(f"the loss axis ends above 0, and {max_loss!r} is not.")
    return resolved, [[_line(f, pace, end) for pace in values[values < f.max_pace]] for f in resolved], end


def _line(function: SelfPacedFunction, pace: float, max_loss: float) -> _Line:
    if isinstance(function, Diversity):
        function = replace(function, groups=None)
    loss = np.linspace(0.0, max_loss, 1001)
    grid = np.square(
        np.sin(np.linspace(0.0, np.pi / 2, 1001))
    )  # dense at the ends, where a penalty may be steep
    # Rows of length one: for `Diversity` every point is a group of its own.
    return _Line(
        float(pace),
        loss,
        function.weight(loss[None, :], pace)[0],
        float(function.weight(pace, pace)),
        grid,
        function.penalty(grid[None, :], pace)[0],
    )


def _penalty_range(lines: list[_Line]) -> tuple[float, float]:
    """Limits for the penalty's axis, without the ends if it is infinite there."""
    penalties = np.concatenate([line.penalty for line in lines])
    if not np.isfinite(penalties).all():
        penalties = np.concatenate([line.penalty[(line.grid > 0.12) & (line.grid < 0.97)] for line in lines])
    low, high = float(penalties.min()), float(penalties.max())
    room = 0.06 * (high - low or 1.0)
    return low - room, high + room


def _colours(paces: Sequence[float]) -> dict[float, str]:
    order = sorted({float(pace) for pace in paces})
    return dict(zip(order, _COLOURS[len(order)], strict=True))


def _draw(
    top: "Axes",
    bottom: "Axes",
    function: SelfPacedFunction,
    lines: list[_Line],
    paces: Sequence[float],
    max_loss: float,
    *,
    labelled: bool,
) -> None:
    colours = _colours(paces)
    for line in lines:
        colour = colours[line.pace]
        top.plot(line.loss, line.weight, color=colour, linewidth=1.5)
        if line.pace <= max_loss:
            top.plot(line.pace, line.weight_at_pace, "o", color=colour, markersize=3.5, clip_on=False)
        bottom.plot(line.grid, line.penalty, color=colour, linewidth=1.5)
    top.set_title(function.name or type(function).__name__, pad=33 if function.tex else 8)
    if function.tex:
        top.text(0.5, 1.19, f"${function.tex}$", transform=top.transAxes, ha="center", va="center")
    top.set(xlim=(0, max_loss), ylim=(0, 1.04), xlabel="loss $l$", yticks=(0, 0.5, 1))
    bottom.set(xlim=(0, 1), xlabel="weight $v$", xticks=(0, 0.5, 1))
    if lines:
        bottom.set_ylim(*_penalty_range(lines))
    if labelled:
        top.set_ylabel(r"weight $v^*(l, \lambda)$")
        bottom.set_ylabel(r"penalty $f(v, \lambda)$")


def _legend(figure: "Figure", paces: Sequence[float]) -> None:
    from matplotlib.lines import Line2D

    handles = [
        Line2D([], [], color=colour, linewidth=1.5, label=rf"$\lambda={pace:g}$")
        for pace, colour in _colours(paces).items()
    ]
    handles.append(
        Line2D([], [], color="0.3", marker="o", linestyle="", markersize=3.5, label=r"$l=\lambda$")
    )
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), handlelength=2.2)
