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
    from matplotlib.figure import Figure

PACES = (0.25, 0.5, 1.0, 2.0)
"""The default paces of `plot`."""
COLUMNS = 4


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
        Paces that a function does not accept are left out.
    max_loss : float, optional
        The end of the loss axis; by default twice the largest pace.
    figure : matplotlib Figure, optional
        Where to draw; by default a new figure as wide as a printed page.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    several = [functions] if isinstance(functions, str | SelfPacedFunction) else functions
    resolved = [get(function) for function in several]
    if not resolved:
        raise UserError("functions is empty: name at least one self-paced function.")
    values = np.unique(pace_array(paces))
    if not values.size or not np.all((values > 0) & (values < np.inf)):
        raise UserError(f"paces is {list(paces)}: give one or more paces, above 0 and finite.")
    end = float(2 * values.max()) if max_loss is None else max_loss
    if not 0 < end < np.inf:
        raise UserError(f"max_loss is {max_loss!r}: give a finite number above 0.")
    # Viridis from dark to light, which is readable with any colour vision and in grey.
    colours = mpl.colormaps["viridis"](np.linspace(0.0, 0.8, len(values)))
    columns = min(COLUMNS, len(resolved))
    blocks = -(-len(resolved) // columns)
    if figure is None:
        figure = Figure(figsize=(max(1.8 * columns, 3.4), 3.7 * blocks + 0.3), layout="constrained")
    axes = figure.subplots(2 * blocks, columns, squeeze=False)
    tops, bottoms = axes[::2].ravel(), axes[1::2].ravel()
    for top, bottom, function in zip(tops, bottoms, resolved, strict=False):
        _draw(top, bottom, function, values, colours, end)
    for unused in (*tops[len(resolved) :], *bottoms[len(resolved) :]):
        unused.set_axis_off()
    for top, bottom in axes[:, 0].reshape(-1, 2):
        top.set_ylabel(r"weight $v^*(l, \lambda)$")
        bottom.set_ylabel(r"penalty $f(v, \lambda)$")
    named = {name: line for top in tops for line, name in zip(*top.get_legend_handles_labels(), strict=True)}
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=len(named), frameon=False)
    return figure


def save_plot(
    functions: str | SelfPacedFunction | Iterable[str | SelfPacedFunction],
    path: str | Path,
    *,
    force: bool = False,
    **options: Any,
) -> Path:
    """Save a plot with the `options` of `plot` as ``.png``, ``.svg`` or ``.pdf``, by the suffix of `path`.

    `force` replaces an existing file.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    # No date and no random identifiers: the same plot is the same file.
    undated = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    if suffix not in undated:
        raise UserError(f"{path.name!r} is no picture: give a name that ends in .png, .svg or .pdf.")
    check_output(path, force=force)
    import matplotlib as mpl

    stream = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "mlspl", "font.size": 9, "mathtext.fontset": "stix"}):
        figure = plot(functions, **options)
        figure.savefig(stream, format=suffix[1:], dpi=300, metadata=undated[suffix])
    return write_file(path, stream.getvalue())


def _draw(top, bottom, function: SelfPacedFunction, paces, colours, max_loss: float) -> None:
    loss = np.linspace(0.0, max_loss, 1001)
    # Dense at the ends, where a penalty may be steep; it may be infinite there.
    grid = np.square(np.sin(np.linspace(0.0, np.pi / 2, 1001)))
    inner = (grid > 0.12) & (grid < 0.97)
    for pace, colour in zip(paces.tolist(), colours, strict=True):
        if pace >= function.max_pace:
            continue
        # Rows of length one: for `Diversity` every point is a group of its own.
        label = rf"$\lambda={pace:g}$"
        top.plot(loss, function.weight(loss[None, :], pace)[0], color=colour, label=label)
        if pace <= max_loss:
            top.plot(pace, function.weight(pace, pace), "o", color=colour, markersize=3.5, clip_on=False)
        penalty = function.penalty(grid[None, :], pace)[0]
        bottom.plot(grid, np.where(inner | np.isfinite(penalty).all(), penalty, np.nan), color=colour)
    top.set_title(function.name or type(function).__name__)
    top.set(xlim=(0, max_loss), ylim=(0, 1.04), xlabel="loss $l$; dots: $l=\\lambda$", yticks=(0, 0.5, 1))
    bottom.set(xlim=(0, 1), xlabel="weight $v$", xticks=(0, 0.5, 1))
    for ax in (top, bottom):
        ax.spines[["top", "right"]].set_visible(False)
