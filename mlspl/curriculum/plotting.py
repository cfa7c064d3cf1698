"""Displays of rates, like scikit-learn's: noise rates of labels, quality of annotators."""

from typing import TYPE_CHECKING, Self

import numpy as np
import pandas as pd

from mlspl._text import escape_mathtext
from mlspl.curriculum.audit import Audit
from mlspl.curriculum.consensus import Consensus
from mlspl.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# More cannot be read side by side; those with the largest values are shown.
MOST_NAMES = 30
# Blue and orange of the Okabe–Ito palette, which is safe for colour-blind readers.
_COLOURS = ("#0072b2", "#d55e00")


class _RatesDisplay:
    """Columns of a table, with intervals where it has them; a line for each row, the largest on top."""

    def __init__(self, table: pd.DataFrame, rates: dict[str, str], xlabel: str, what: str = "labels") -> None:
        self.table, self.rates, self.xlabel, self.what = table, rates, xlabel, what

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw into the Axes `ax`, by default of a new figure; sets ``ax_`` and ``figure_``."""
        total = self.table[list(self.rates)].sum(axis=1, skipna=False).fillna(-1.0)
        table = self.table.iloc[np.argsort(total.to_numpy(), kind="stable")[-MOST_NAMES:]]
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, 1.2 + 0.25 * len(table)), layout="constrained")
        shift = 0.15 if len(self.rates) > 1 else 0.0
        for (name, meaning), colour, sign in zip(self.rates.items(), _COLOURS, (1, -1), strict=False):
            places = np.arange(len(table)) + sign * shift
            if f"{name}_low" in table:
                ax.hlines(places, table[f"{name}_low"], table[f"{name}_high"], color=colour, linewidth=1.5)
            ax.plot(table[name], places, "o", color=colour, markersize=4, label=meaning)
        if len(self.rates) > 1:
            ax.legend(frameon=False)
        ax.set_yticks(range(len(table)), [escape_mathtext(str(name)) for name in table.index])
        ax.set(xlabel=self.xlabel, ylim=(-0.6, len(table) - 0.4))
        ax.spines[["top", "right"]].set_visible(False)
        if len(table) < len(self.table):
            ax.set_title(f"{len(table)} of {len(self.table)} {self.what}", loc="left", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


class NoiseDisplay(_RatesDisplay):
    """The share of lost positives and of false ones of each label, with their intervals.

    Takes the result of :func:`noise_rates`.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import NoiseDisplay, noise_rates
    >>> P = np.random.default_rng(0).random((100, 2))
    >>> display = NoiseDisplay(noise_rates(P > 0.5, P)).plot()
    >>> display.ax_.get_xlabel()
    'noise rate'
    """

    def __init__(self, noise_rates: pd.DataFrame) -> None:
        rates = {"lost": "positives lost", "false": "negatives given falsely"}
        super().__init__(noise_rates, rates, "noise rate")

    @classmethod
    def from_audit(cls, audit: Audit, ax: "Axes | None" = None) -> Self:
        """Draw the noise rates of an audit."""
        return cls(audit.noise_rates).plot(ax)


class AnnotatorDisplay(_RatesDisplay):
    """The sensitivity and specificity of each annotator with their intervals, or the agreement on each label.

    Parameters
    ----------
    consensus : Consensus
        What to draw.
    show : {"quality", "agreement"}, default="quality"
        Rates of the annotators over all labels, or Krippendorff's alpha of the labels.
    """

    def __init__(self, consensus: Consensus, show: str = "quality") -> None:
        if show == "quality":
            rates = {name: name for name in ("sensitivity", "specificity")}
            super().__init__(consensus.annotators, rates, "rate", "annotators")
        elif show == "agreement":
            super().__init__(consensus.agreement, {"alpha": "alpha"}, "Krippendorff's alpha")
        else:
            raise UserError(f"show={show!r}: choose 'quality' or 'agreement'.")
