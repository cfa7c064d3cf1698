"""The picture of a path of paces: what each gains over the unpaced end."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mlspl._display import Display, final_step
from mlspl.errors import UserError
from mlspl.metrics import get_criterion

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PacePathDisplay"]

_NOT_A_SETTING = ("family", "weight", "mean", "folds", "pace_function", "per", "target")
_MARKERS = "os^D"


class PacePathDisplay(Display):
    """What each pace gains over the unpaced model, on held-out rows, in the best setting of each family.

    The mean over the folds of the difference on the same held-out rows, with its standard error; above the
    line is better. Points that belong to the model are filled.

    Parameters
    ----------
    results : list of dict
        The judged settings and paces, as ``cv_results_`` of :class:`MLSPLClassifierCV`.
    criterion : str
        What judged them, as its ``criterion_``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After :meth:`plot`.

    Examples
    --------
    >>> from mlspl import MLSPLClassifierCV, PacePathDisplay, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifierCV(families=["forest"], budget="fast", random_state=0)
    >>> display = PacePathDisplay.from_estimator(model.fit(digits.X[:100], digits.Y[:100]))
    >>> display.ax_.get_ylabel()
    'gain in held-out average precision'
    """

    def __init__(self, results: list[dict[str, Any]], criterion: str) -> None:
        self.results = results
        self.criterion = criterion

    @classmethod
    def from_estimator(cls, estimator, ax: "Axes | None" = None) -> Self:
        """Draw the paths of a fitted :class:`MLSPLClassifierCV`, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : MLSPLClassifierCV or Pipeline
            Fitted.
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        """
        fitted = final_step(estimator)
        results = getattr(fitted, "cv_results_", None)
        if not isinstance(results, list):
            raise UserError(f"{type(fitted).__name__} has no path of paces: fit an MLSPLClassifierCV first.")
        return cls(results, fitted.criterion_).plot(ax)

    def _draw(self, ax) -> None:
        rows = self.results
        # A scorer, which has no name of its own, is greater for better.
        is_gain = self.criterion == "scorer" or get_criterion(self.criterion).greater_is_better
        sign = 1.0 if is_gain else -1.0
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
            bars = ax.errorbar(places, means, errors, capsize=2, linewidth=1, elinewidth=1, label=name)
            colour = bars.lines[0].get_color()
            faces = [colour if row["weight"] > 0 else "white" for row in line]
            marker = _MARKERS[families.index(family) % len(_MARKERS)]
            ax.scatter(places, means, s=28, facecolors=faces, edgecolors=colour, marker=marker, zorder=3)
        ax.axhline(0.0, color="0.5", linestyle=":", label="unpaced")
        gain = f"gain in held-out {self.criterion.replace('_', ' ')}"
        least = min(row["target"] for row in rows)
        ax.set(xlabel="quantile of the losses that sets the pace", ylabel=gain, xlim=(least - 0.05, 1.0))
        ax.legend(frameon=False, fontsize="small", ncols=2)


def _in_best_setting(rows, family: str, sign: float) -> list[dict[str, Any]]:
    """The rows of the setting with the best point."""
    rows = [row for row in rows if row["family"] == family]
    best = max(rows, key=lambda row: sign * row["mean"])
    setting = {name: part for name, part in best.items() if name not in _NOT_A_SETTING}
    return [row for row in rows if setting.items() <= row.items()]
