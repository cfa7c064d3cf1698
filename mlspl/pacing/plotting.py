"""Plots of self-paced functions: the weight against the loss, and the penalty against the weight."""

import io
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mlspl._files import check_output, write_file
from mlspl.errors import UserError
from mlspl.pacing.base import SelfPacedFunction, pace_array
from mlspl.pacing.literature import get

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PACES = (0.25, 0.5, 1.0, 2.0)
"""The default paces of `plot`."""
COLUMNS = 4
MAX_PACES = 6
_STYLE: dict[Any, Any] = {
    "font.family": "STIXGeneral",
    "font.size": 9,
    "mathtext.fontset": "stix",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


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
        At most six; paces that a function does not accept are left out.
    max_loss : float, optional
        The end of the loss axis; by default twice the largest pace.
    figure : matplotlib Figure, optional
        Where to draw; by default a new figure as wide as a printed page.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    several = [functions] if isinstance(functions, str | SelfPacedFunction) else functions
    resolved = [get(function) for function in several]
    if not resolved:
        raise UserError("functions is empty: name at least one self-paced function.")
    values = np.unique(pace_array(paces))
    if not 1 <= len(values) <= MAX_PACES or not np.all((values > 0) & (values < np.inf)):
        raise UserError(f"paces is {list(paces)}: give one to {MAX_PACES} paces, above 0 and finite.")
    end = float(2 * values.max()) if max_loss is None else max_loss
    if not 0 < end < np.inf:
        raise UserError(f"max_loss is {max_loss!r}: give a finite number above 0.")
    # Viridis from dark to light, which is readable with any colour vision and in grey.
    shades = mpl.colormaps["viridis"](np.linspace(0.0, 0.8, len(values)))
    colours = dict(zip(values.tolist(), shades, strict=True))
    columns = min(COLUMNS, len(resolved))
    blocks = -(-len(resolved) // columns)
    with mpl.rc_context(_STYLE):
        if figure is None:
            width = max(1.8 * columns, 3.4)
            figure = Figure(figsize=(width, 3.7 * blocks + 0.3), layout="constrained")
        axes = figure.subplots(2 * blocks, columns, squeeze=False)
        tops, bottoms = axes[::2].ravel(), axes[1::2].ravel()
        for top, bottom, function in zip(tops, bottoms, resolved, strict=False):
            _draw(top, bottom, function, colours, end)
        for unused in (*tops[len(resolved) :], *bottoms[len(resolved) :]):
            unused.set_axis_off()
        for top, bottom in axes[:, 0].reshape(-1, 2):
            top.set_ylabel(r"weight $v^*(l, \lambda)$")
            bottom.set_ylabel(r"penalty $f(v, \lambda)$")
        handles = [Line2D([], [], color=colours[pace], label=rf"$\lambda={pace:g}$") for pace in colours]
        dot: dict[str, Any] = {"color": "0.3", "marker": "o", "linestyle": "", "markersize": 3.5}
        handles.append(Line2D([], [], label=r"$l=\lambda$", **dot))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), handlelength=2.2)
    return figure


def save_plot(
    functions: str | SelfPacedFunction | Iterable[str | SelfPacedFunction],
    path: str | Path,
    *,
    paces: Sequence[float] = PACES,
    max_loss: float | None = None,
    force: bool = False,
) -> Path:
    """Save a plot as ``.png``, ``.svg`` or ``.pdf``.

    Parameters
    ----------
    functions, paces, max_loss
        As for `plot`.
    path : str or Path
        The file; its suffix determines the format.
    force : bool, default=False
        Replace an existing file.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    # No date and no random identifiers: the same plot is the same file.
    undated = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    if suffix not in undated:
        raise UserError(f"{path.name!r} is no picture: give a name that ends in .png, .svg or .pdf.")
    check_output(path, force=force)
    import matplotlib as mpl

    figure = plot(functions, paces=paces, max_loss=max_loss)
    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "mlspl"}):
        figure.savefig(stream, format=suffix[1:], dpi=300, metadata=undated[suffix])
    return write_file(path, stream.getvalue())


def _draw(
    top: "Axes", bottom: "Axes", function: SelfPacedFunction, colours: dict[float, Any], max_loss: float
) -> None:
    loss = np.linspace(0.0, max_loss, 1001)
    # Dense at the ends, where a penalty may be steep.
    grid = np.square(np.sin(np.linspace(0.0, np.pi / 2, 1001)))
    penalties = []
    for pace, colour in colours.items():
        if pace >= function.max_pace:
            continue
        # Rows of length one: for `Diversity` every point is a group of its own.
        top.plot(loss, function.weight(loss[None, :], pace)[0], color=colour)
        if pace <= max_loss:
            top.plot(pace, function.weight(pace, pace), "o", color=colour, markersize=3.5, clip_on=False)
        penalties.append(function.penalty(grid[None, :], pace)[0])
        bottom.plot(grid, penalties[-1], color=colour)
    top.set_title(function.name or type(function).__name__, pad=33 if function.tex else 8)
    if function.tex:
        top.text(0.5, 1.19, f"${function.tex}$", transform=top.transAxes, ha="center", va="center")
    top.set(xlim=(0, max_loss), ylim=(0, 1.04), xlabel="loss $l$", yticks=(0, 0.5, 1))
    bottom.set(xlim=(0, 1), xlabel="weight $v$", xticks=(0, 0.5, 1))
    shown = np.array(penalties)
    if not np.isfinite(shown).all():  # a penalty that is infinite at an end is shown between the ends
        inner = shown[:, (grid > 0.12) & (grid < 0.97)]
        margin = 0.06 * (inner.max() - inner.min() or 1.0)
        bottom.set_ylim(inner.min() - margin, inner.max() + margin)
