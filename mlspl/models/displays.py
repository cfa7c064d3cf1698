"""Displays of fitted estimators: history of a paced fit, path of paces, thresholds of labels."""

from collections.abc import Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from mlspl._display import BLUE, ORANGE, Display, final_step, label_names_of
from mlspl._docs import share
from mlspl._text import escape_mathtext
from mlspl._validation import check_labels, check_scores
from mlspl.errors import UserError, listed
from mlspl.metrics import get_criterion
from mlspl.model_selection import LabelThreshold, ZeroThreshold, cut_curve

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HistoryDisplay", "PacePathDisplay", "ThresholdDisplay"]

_STYLES = ("-", "--", ":")
_MOST_LABELS = 8


class _FitDisplay(Display):
    """A display of attributes of a fitted estimator, which are the arguments of its class."""

    _attributes: ClassVar[tuple[str, ...]]
    _needs: ClassVar[str]

    @classmethod
    @share
    def from_estimator(cls, estimator, ax: "Axes | None" = None) -> Self:
        """Draw for a fitted estimator, or a pipeline that ends in one.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted.
        {ax}
        """
        fitted = final_step(estimator)
        found = [getattr(fitted, name, None) for name in cls._attributes]
        if not all(found):
            missing = " and ".join(cls._attributes)
            raise UserError(f"{type(fitted).__name__} has no {missing}. Fit {cls._needs} first.")
        return cls(*found).plot(ax)


@share
class HistoryDisplay(_FitDisplay):
    """Mean weight and mean loss of the pairs at every step of a paced fit.

    The band shows the share of pairs with a weight of at least ½, from the label with the fewest to that with
    the most. For :class:`MLSPLClassifierCV` the steps are the members of each family, by their pace.

    Parameters
    ----------
    history : list of dict
        ``history_`` of a self-paced estimator, or ``history`` of :func:`mlspl.pacing.paced`.

    Attributes
    ----------
    {display}
    loss_ax_ : matplotlib Axes or None
        The axis of the losses; None if there are none.

    Examples
    --------
    >>> from mlspl import HistoryDisplay, MLSPLClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifier(random_state=0).fit(digits.X[:100], digits.Y[:100])
    >>> display = HistoryDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel(), display.loss_ax_.get_ylabel()
    ('step', 'mean loss')
    """

    _attributes = ("history_",)
    _needs = "a self-paced estimator"

    def __init__(self, history: list[dict[str, Any]]) -> None:
        self.history = history

    def _draw(self, ax) -> None:
        from matplotlib.ticker import MaxNLocator

        has_losses = any(record["mean_loss"] is not None for record in self.history)
        self.loss_ax_ = ax.twinx() if has_losses else None
        families = dict.fromkeys(record.get("family") for record in self.history)
        for family, style in zip(families, cycle(_STYLES), strict=False):
            records = [record for record in self.history if record.get("family") == family]
            steps = [record["step"] for record in records]
            look = {"linestyle": style, "marker": "o", "markersize": 4}
            name = "" if family is None else f"{family}: "
            weights = [record["mean_weight"] for record in records]
            ax.plot(steps, weights, color=BLUE, label=f"{name}mean weight", **look)
            if "in_play" in records[0]:
                shares = np.array([record["in_play"] for record in records])
                band = {"color": BLUE, "alpha": 0.15, "label": "in play, by label"}
                ax.fill_between(steps, shares.min(axis=1), shares.max(axis=1), **band)
            if self.loss_ax_ is not None:
                losses = [np.nan if r["mean_loss"] is None else r["mean_loss"] for r in records]
                self.loss_ax_.plot(steps, losses, color=ORANGE, label=f"{name}mean loss", **look)
        n_steps = max(record["step"] for record in self.history)
        ax.set(xlabel="step", ylabel="weight, share of pairs", ylim=(0, 1.03), xlim=(0.5, n_steps + 0.5))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        handles = ax.get_legend_handles_labels()[0]
        if self.loss_ax_ is not None:
            self.loss_ax_.set(ylabel="mean loss", ylim=(0, 1.1 * self.loss_ax_.get_ylim()[1]))
            handles += self.loss_ax_.get_legend_handles_labels()[0]
        place = {"loc": "upper left", "bbox_to_anchor": (0, -0.14)}
        ax.legend(handles=handles, frameon=False, fontsize="small", ncols=3, **place)


@share
class PacePathDisplay(_FitDisplay):
    """Gain of each pace over the unpaced model, out-of-fold, in the best setting of each family.

    Points show the mean difference over the folds with its standard error; above the line is better. Members
    of the model are filled.

    Parameters
    ----------
    results : list of dict
        ``cv_results_`` of :class:`MLSPLClassifierCV`.
    criterion : str
        Its ``criterion_``.

    Attributes
    ----------
    {display}

    Examples
    --------
    >>> from mlspl import MLSPLClassifierCV, PacePathDisplay, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifierCV(families=["forest"], budget="fast", random_state=0)
    >>> display = PacePathDisplay.from_estimator(model.fit(digits.X[:100], digits.Y[:100]))
    >>> display.ax_.get_ylabel()
    'gain in held-out average precision'
    """

    _attributes = ("cv_results_", "criterion_")
    _needs = "an MLSPLClassifierCV"

    def __init__(self, results: list[dict[str, Any]], criterion: str) -> None:
        self.results, self.criterion = results, criterion

    def _draw(self, ax) -> None:
        import pandas as pd

        # Scorers have no name of their own; greater is better.
        is_gain = self.criterion == "scorer" or get_criterion(self.criterion).greater_is_better
        sign = 1.0 if is_gain else -1.0
        results = pd.DataFrame(self.results)
        families = results["family"].unique().tolist()
        for family, marker in zip(families, cycle("os^D"), strict=False):
            rows = results[results["family"] == family]
            best = rows.loc[(sign * rows["mean"]).idxmax()]
            for name in set(rows) & {"gamma", "C", "max_features"}:
                rows = rows[(rows[name] == best[name]) | rows[name].isna()]
            end = np.array(rows.loc[rows["target"] == 1.0, "folds"].item())
            for (function, per), path in rows.sort_values("target").groupby(
                ["pace_function", "per"], sort=False
            ):
                gains = sign * (np.array(path["folds"].tolist()) - end)[:, np.isfinite(end)]
                errors = gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
                name = "estimated noise" if per == "noise" else f"{function}, per {per}"
                name = name if len(families) == 1 else f"{family}: {name}"
                if per == "noise":
                    ax.axhline(gains.mean(), linestyle="--", linewidth=1, color="0.3", label=name)
                    continue
                # Shifted, so that error bars do not overlap.
                places = path["target"] + 0.006 * len(ax.containers)
                means = gains.mean(axis=1)
                bars = ax.errorbar(places, means, errors, capsize=2, linewidth=1, elinewidth=1, label=name)
                colour = bars.lines[0].get_color()
                faces = [colour if weight > 0 else "white" for weight in path["weight"]]
                ax.scatter(places, means, s=28, facecolors=faces, edgecolors=colour, marker=marker, zorder=3)
        ax.axhline(0.0, color="0.5", linestyle=":", label="unpaced")
        gain = f"gain in held-out {self.criterion.replace('_', ' ')}"
        least = results["target"].min()
        ax.set(xlabel="quantile of the losses that sets the pace", ylabel=gain, xlim=(least - 0.05, 1.0))
        ax.legend(frameon=False, fontsize="small", ncols=2)


@share
class ThresholdDisplay(Display):
    """The F1 of each label by its threshold; a dot marks the threshold in use.

    Give it rows that the model was not fitted on. A model that predicts a number of labels per row
    (:class:`mlspl.model_selection.CountThreshold`) has no thresholds to mark.

    Parameters
    ----------
    Y : array, sparse matrix or DataFrame of shape (n, L)
        Labels; NaN where unknown.
    scores : array of shape (n, L)
        Scores of the same rows.
    label_names : list of str
        Names of the labels.
    cuts : array of shape (L,), optional
        The thresholds in use.
    labels : sequence of str, optional
        Names of the labels to draw; by default the eight most frequent.

    Attributes
    ----------
    {display}

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
        labels: Sequence[str] | None = None,
    ) -> None:
        truth = check_labels(Y, "Y", list(label_names)).dense()
        self.relevant = truth.relevant
        self.known = np.ones(truth.shape, dtype=bool) if truth.known is None else truth.known
        self.scores = check_scores(scores, truth.shape)
        self.label_names = list(label_names)
        self.cuts = None if cuts is None else np.asarray(cuts, dtype=float)
        if labels is None:
            frequencies = (self.relevant & self.known).sum(axis=0)
            self.labels = np.argsort(-frequencies, kind="stable")[:_MOST_LABELS].tolist()
        elif unknown := [name for name in labels if name not in self.label_names]:
            raise UserError(
                f"There is no label {listed(unknown)}. The labels are {listed(self.label_names)}."
            )
        else:
            self.labels = [self.label_names.index(name) for name in labels]

    @classmethod
    @share
    def from_estimator(cls, estimator, X, Y: ArrayLike, labels: Sequence[str] | None = None, ax=None) -> Self:
        """Draw the thresholds of a fitted estimator on rows X, Y that it was not fitted on.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``decision_function`` of shape (n, L). Without a ``threshold_``, thresholds are 0.
        X, Y, labels
            Rows, their labels, and the names of the labels to draw.
        {ax}
        """
        scores = np.asarray(estimator.decision_function(X))
        scores = scores.reshape(len(scores), -1)
        rule = getattr(final_step(estimator), "threshold_", ZeroThreshold())
        cuts = rule.cut_ if isinstance(rule, LabelThreshold) else None
        cuts = np.zeros(scores.shape[1]) if isinstance(rule, ZeroThreshold) else cuts
        return cls(Y, scores, label_names_of(estimator, scores.shape[1]), cuts, labels).plot(ax)

    def _draw(self, ax) -> None:
        ends = []
        for label in self.labels:
            rows = self.known[:, label]
            scores = self.scores[rows, label]
            cuts, values = cut_curve(scores, self.relevant[rows, label])
            name = escape_mathtext(self.label_names[label])
            (line,) = ax.step(cuts, values, where="mid", linewidth=1, label=name)
            ends += np.quantile(self.scores[:, label], [0.01, 0.99]).tolist()
            if self.cuts is not None:
                place = self.cuts[label]
                # One entry for every distinct score above the threshold.
                value = values[len(np.unique(scores[scores > place]))]
                ax.plot(place, value, "o", color=line.get_color(), markersize=6, markeredgecolor="white")
                ends.append(place)
        low, high = np.min(ends), np.max(ends)
        room = 0.03 * (high - low or 1.0)
        ax.set(xlabel="cut of the score", ylabel="F1 of the label", xlim=(low - room, high + room))
        shown, total = len(self.labels), len(self.label_names)
        ax.set_title(f"{shown} of {total} labels" if shown < total else "", loc="left", fontsize="medium")
        ax.legend(frameon=False, fontsize="small")
