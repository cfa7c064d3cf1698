"""The picture of a path of paces: what each gains over the unpaced end."""

from typing import Any

import numpy as np

from mlspl.metrics import get_criterion

__all__ = ["draw_path"]

_NOT_A_SETTING = ("family", "weight", "mean", "folds", "pace_function", "per", "target")
_MARKERS = "os^D"


def draw_path(rows: list[dict[str, Any]], criterion: str, ax=None):
    """Draw the gains of every path in each family's best setting; `rows` are judged candidates."""
    from matplotlib import pyplot as plt

    ax = plt.figure(layout="constrained").subplots() if ax is None else ax
    sign = 1.0 if _is_gain(criterion) else -1.0
    families = list(dict.fromkeys(row["family"] for row in rows))
    lines = [
        (family, path, _in_best_setting(rows, family, sign))
        for family in families
        for path in dict.fromkeys(
            (row["pace_function"], row["per"]) for row in rows if row["family"] == family and row["per"]
        )
    ]
    for i, (family, (function, per), best) in enumerate(lines):
        (end,) = (row for row in best if row["target"] == 1.0)
        line = [row for row in best if (row["pace_function"], row["per"]) == (function, per)]
        line.sort(key=lambda row: row["target"])
        gains = sign * np.array([np.subtract(row["folds"], end["folds"]) for row in line])
        gains = gains[:, np.isfinite(end["folds"])]
        means, errors = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
        # Side by side, so that error bars do not hide one another.
        places = np.array([row["target"] for row in line]) + 0.012 * (i - (len(lines) - 1) / 2)
        name = f"{function}, {'negatives' if per == 'negatives' else f'per {per}'}"
        name = name if len(families) == 1 else f"{family}: {name}"
        drawn = ax.errorbar(places, means, errors, capsize=2, linewidth=1, elinewidth=1, label=name)
        colour = drawn.lines[0].get_color()
        faces = [colour if row["weight"] > 0 else "white" for row in line]
        marker = _MARKERS[families.index(family) % len(_MARKERS)]
        ax.scatter(places, means, s=28, facecolors=faces, edgecolors=colour, marker=marker, zorder=3)
    ax.axhline(0.0, color="0.5", linestyle=":", label="unpaced")
    gain = f"gain in held-out {criterion.replace('_', ' ')}"
    ax.set(xlabel="quantile of the losses that sets the pace", ylabel=gain)
    ax.legend(frameon=False, fontsize="small", ncols=2)
    return ax


def _is_gain(criterion: str) -> bool:
    # A scorer, which has no name of its own, is greater for better.
    return criterion == "scorer" or get_criterion(criterion).greater_is_better


def _in_best_setting(rows, family: str, sign: float) -> list[dict[str, Any]]:
    """The rows of the setting with the best point."""
    rows = [row for row in rows if row["family"] == family]
    best = max(rows, key=lambda row: sign * row["mean"])
    setting = {name: part for name, part in best.items() if name not in _NOT_A_SETTING}
    return [row for row in rows if setting.items() <= row.items()]
