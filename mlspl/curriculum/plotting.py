"""Displays of an audit: difficulty and noise rates of labels, quality of annotators."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mlspl._display import BLUE, ORANGE, Display, final_step, label_names_of
from mlspl._text import escape_mathtext
from mlspl.curriculum.audit import Audit, audit
from mlspl.curriculum.consensus import Consensus
from mlspl.curriculum.difficulty import Difficulty, difficulty
from mlspl.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# More cannot be read side by side; those with the largest values are shown.
MOST_NAMES = 30


class _NamesDisplay(Display):
    """A display with a line per name; `_sort` chooses and writes them."""

    label_names: list[str]
    what = "labels"

    def _height(self) -> float:
        return 1.2 + 0.25 * min(len(self.label_names), MOST_NAMES)

    def _sort(self, ax, values):
        """Name the lines; return the positions of the largest values, these last; NaN first."""
        order = np.argsort(np.nan_to_num(values, nan=-1.0), kind="stable")[-MOST_NAMES:]
        names = [escape_mathtext(self.label_names[position]) for position in order]
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(-0.6, len(names) - 0.4)
        ax.spines[["top", "right"]].set_visible(False)
        if len(names) < len(self.label_names):
            title = f"{len(names)} of {len(self.label_names)} {self.what}"
            ax.set_title(title, loc="left", fontsize="medium")
        return order


class DifficultyDisplay(_NamesDisplay):
    """How hard the pairs of each label are: from the 5th to the 95th percentile, the quartiles, the median.

    Parameters
    ----------
    difficulty : Difficulty
        Of the pairs.
    label_names : list of str
        Names of the labels.
    """

    def __init__(self, difficulty: Difficulty, label_names: list[str]) -> None:
        self.difficulty = difficulty
        self.label_names = label_names

    @classmethod
    def from_audit(cls, audit: Audit, ax: "Axes | None" = None) -> Self:
        """Draw the difficulties of an audit."""
        return cls(audit.difficulty, audit.label_names).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, ax: "Axes | None" = None) -> Self:
        """Draw the difficulties by the trace of a fitted self-paced estimator."""
        fitted = final_step(estimator)
        trace = getattr(fitted, "trace_", None)
        if trace is None:
            raise UserError(f"{type(fitted).__name__} has no trace_: fit a self-paced estimator first.")
        return cls(difficulty(trace), label_names_of(estimator, trace.entered.shape[1])).plot(ax)

    def _draw(self, ax) -> None:
        for place, label in enumerate(self._sort(ax, self.difficulty.labels)):
            column = self.difficulty.pairs[:, label]
            column = column[~np.isnan(column)]
            if len(column):
                low, first, median, third, high = np.quantile(column, [0.05, 0.25, 0.5, 0.75, 0.95])
                ax.plot([low, high], [place, place], color="0.6", linewidth=1)
                ax.plot([first, third], [place, place], color=BLUE, linewidth=5, solid_capstyle="butt")
                ax.plot(median, place, "o", color="white", markeredgecolor="0.2", markersize=4)
        ax.set(xlabel="difficulty", xlim=(0, 1))


class NoiseDisplay(_NamesDisplay):
    """The share of lost positives and of false ones of each label, with their intervals.

    Parameters
    ----------
    noise_rates : DataFrame
        As :func:`noise_rates` returns it.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import NoiseDisplay, noise_rates
    >>> P = np.random.default_rng(0).random((100, 2))
    >>> display = NoiseDisplay(noise_rates(P > 0.5, P)).plot()
    >>> display.ax_.get_xlabel()
    'noise rate'
    """

    def __init__(self, noise_rates) -> None:
        self.noise_rates = noise_rates
        self.label_names = [str(name) for name in noise_rates.index]

    @classmethod
    def from_audit(cls, audit: Audit, ax: "Axes | None" = None) -> Self:
        """Draw the noise rates of an audit."""
        return cls(audit.noise_rates).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, X, Y, ax: "Axes | None" = None, **options: Any) -> Self:
        """Audit X and Y with the estimator, and draw the rates; `options` go to :func:`audit`."""
        return cls.from_audit(audit(X, Y, estimator, **options), ax)

    def _draw(self, ax) -> None:
        order = self._sort(ax, (self.noise_rates["lost"] + self.noise_rates["false"]).to_numpy())
        meanings = {"lost": "positives lost", "false": "negatives given falsely"}
        _draw_rates(ax, self.noise_rates.iloc[order], meanings)
        ax.set(xlabel="noise rate")
        ax.set_xlim(left=0)


class AnnotatorDisplay(_NamesDisplay):
    """The sensitivity and specificity of each annotator with their intervals, or the agreement on each label.

    Parameters
    ----------
    consensus : Consensus
        What to draw.
    show : {"quality", "agreement"}, default="quality"
        Rates of the annotators over all labels, or Krippendorff's alpha of the labels.
    """

    def __init__(self, consensus: Consensus, show: str = "quality") -> None:
        if show not in ("quality", "agreement"):
            raise UserError(f"show={show!r}: choose 'quality' or 'agreement'.")
        self.what = "annotators" if show == "quality" else "labels"
        self.table = consensus.annotators if show == "quality" else consensus.agreement
        self.label_names = [str(name) for name in self.table.index]

    def _draw(self, ax) -> None:
        if self.what == "annotators":
            order = self._sort(ax, self.table["sensitivity"].to_numpy())
            _draw_rates(ax, self.table.iloc[order], {name: name for name in ("sensitivity", "specificity")})
            ax.set(xlabel="rate")
        else:
            order = self._sort(ax, self.table["alpha"].to_numpy())
            ax.plot(self.table["alpha"].iloc[order], range(len(order)), "o", color=BLUE, markersize=4)
            ax.set(xlabel="Krippendorff's alpha")
        ax.set_xlim(right=1)


def _draw_rates(ax, table, meanings: dict[str, str]) -> None:
    """Draw two rates of each row of a table with their intervals."""
    for (name, meaning), colour, shift in zip(meanings.items(), (BLUE, ORANGE), (0.15, -0.15), strict=True):
        places = np.arange(len(table)) + shift
        ax.hlines(places, table[f"{name}_low"], table[f"{name}_high"], color=colour, linewidth=1.5)
        ax.plot(table[name], places, "o", color=colour, markersize=4, label=meaning)
    ax.legend(frameon=False)
