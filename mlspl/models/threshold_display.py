"""The picture of the labels' cuts: what each possible one is worth, and which the model takes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mlspl._display import Display, final_step, label_names_of
from mlspl._text import drawn
from mlspl._validation import check_labels, check_scores
from mlspl.errors import UserError, listed
from mlspl.model_selection import LabelThreshold, ZeroThreshold, cut_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ThresholdDisplay"]

MOST_LABELS = 8
_TITLES = {"f1": "F1 of the label", "hamming_loss": "share of wrong predictions"}


class ThresholdDisplay(Display):
    """What every cut of a label's scores is worth, label by label; a dot marks the cut that is in use.

    Give it rows that the model was not fitted on. A model that predicts a number of labels a row
    (:class:`mlspl.model_selection.CountThreshold`) has no cuts to mark.

    Parameters
    ----------
    Y : array, sparse matrix or DataFrame of shape (n, L)
        Labels; NaN where unknown.
    scores : array of shape (n, L)
        Of the same rows.
    label_names : list of str
        What labels are called.
    cuts : array of shape (L,), optional
        The cuts in use.
    criterion : {"f1", "hamming_loss"}, default="f1"
        What a cut is worth: the label's F1, or its share of wrong predictions.
    labels : sequence of str, optional
        Names of the labels to draw; by default those of most rows, eight at most.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After :meth:`plot`.

    Examples
    --------
    >>> from mlspl import BSVMClassifier, ThresholdDisplay, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = BSVMClassifier().fit(digits.X[:100] / 16, digits.Y[:100])
    >>> display = ThresholdDisplay.from_estimator(model, digits.X[100:300] / 16, digits.Y[100:300])
    >>> display.ax_.get_ylabel()
    'F1 of the label'
    """

    def __init__(
        self,
        Y: ArrayLike,
        scores: ArrayLike,
        label_names: Sequence[str],
        cuts: ArrayLike | None = None,
        criterion: str = "f1",
        labels: Sequence[str] | None = None,
    ) -> None:
        if criterion not in _TITLES:
            raise UserError(f"criterion is {criterion!r}: a cut is drawn by 'f1' or 'hamming_loss'.")
        truth = check_labels(Y, "Y", list(label_names)).dense()
        self.relevant = truth.relevant
        self.known = np.ones(truth.shape, dtype=bool) if truth.known is None else truth.known
        self.scores = check_scores(scores, truth.shape)
        self.label_names = list(label_names)
        self.cuts = None if cuts is None else np.asarray(cuts, dtype=float)
        self.criterion = criterion
        self.labels = self._choose(labels)

    @classmethod
    def from_estimator(
        cls,
        estimator,
        X,
        Y: ArrayLike,
        criterion: str = "f1",
        labels: Sequence[str] | None = None,
        ax: "Axes | None" = None,
    ) -> Self:
        """Draw the cuts of a fitted estimator on rows that it has not seen.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``decision_function`` of shape (n, L). Without a ``threshold_`` its cuts are 0.
        X, Y : arrays, sparse matrices or DataFrames
            Rows and their labels.
        criterion : {"f1", "hamming_loss"}, default="f1"
            What a cut is worth.
        labels : sequence of str, optional
            Names of the labels to draw; by default those of most rows, eight at most.
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        """
        scores = np.asarray(estimator.decision_function(X))
        scores = scores.reshape(len(scores), -1)
        rule = getattr(final_step(estimator), "threshold_", ZeroThreshold())
        cuts = None
        if isinstance(rule, ZeroThreshold):
            cuts = np.zeros(scores.shape[1])
        elif isinstance(rule, LabelThreshold):
            cuts = rule.cut_
        return cls(Y, scores, label_names_of(estimator, scores.shape[1]), cuts, criterion, labels).plot(ax)

    def _choose(self, labels: Sequence[str] | None) -> list[int]:
        if labels is None:
            often = np.argsort(-(self.relevant & self.known).sum(axis=0), kind="stable")
            return often[:MOST_LABELS].tolist()
        if unknown := [name for name in labels if name not in self.label_names]:
            raise UserError(f"There is no label {listed(unknown)}; there are {listed(self.label_names)}.")
        return [self.label_names.index(name) for name in labels]

    def _curve(self, label: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows = self.known[:, label]
        return cut_curve(self.scores[rows, label], self.relevant[rows, label], criterion=self.criterion)

    def _draw(self, ax) -> None:
        ends = []
        for label in self.labels:
            cuts, values = self._curve(label)
            (line,) = ax.step(cuts, values, where="mid", linewidth=1, label=drawn(self.label_names[label]))
            ends.append(np.quantile(self.scores[:, label], [0.01, 0.99]))
            if self.cuts is not None:
                place, scores = self.cuts[label], self.scores[self.known[:, label], label]
                # One entry for every distinct score that is above the cut.
                value = values[len(np.unique(scores[scores > place]))]
                ax.plot(place, value, "o", color=line.get_color(), markersize=6, markeredgecolor="white")
                ends.append(np.array([place, place]))
        low, high = np.min(ends), np.max(ends)
        room = 0.03 * (high - low or 1.0)
        ax.set(xlabel="cut of the score", ylabel=_TITLES[self.criterion], xlim=(low - room, high + room))
        if len(self.labels) < len(self.label_names):
            total = len(self.label_names)
            ax.set_title(f"{len(self.labels)} of {total} labels", loc="left", fontsize="medium")
        ax.legend(frameon=False, fontsize="small")
