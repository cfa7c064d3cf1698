"""The picture of a paced fit, step by step: weights, pairs in play, losses."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from mlspl._display import BLUE, ORANGE, Display, final_step
from mlspl.errors import UserError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HistoryDisplay"]

_STYLES = ("-", "--", ":")


class HistoryDisplay(Display):
    """How a paced fit went: mean weight and mean loss of the pairs at every step, and which were in play.

    The band reaches from the label with the fewest pairs in play (weight of at least ½) to the one with the
    most. Of :class:`MLSPLClassifierCV` the steps are the members of each family, by their pace.

    Parameters
    ----------
    history : list of dict
        As ``history_`` of a self-paced estimator, or ``history`` of :func:`mlspl.pacing.paced`.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After :meth:`plot`.
    loss_ax_ : matplotlib Axes or None
        The axis of the losses, on the right; None if there were none.

    Examples
    --------
    >>> from mlspl import HistoryDisplay, MLSPLClassifier, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifier(random_state=0).fit(digits.X[:100], digits.Y[:100])
    >>> display = HistoryDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel(), display.loss_ax_.get_ylabel()
    ('step', 'mean loss')
    """

    def __init__(self, history: list[dict[str, Any]]) -> None:
        self.history = history

    @classmethod
    def from_estimator(cls, estimator, ax: "Axes | None" = None) -> Self:
        """Draw the history of a fitted self-paced estimator, or of a pipeline that ends in one.

        Parameters
        ----------
        estimator : estimator or Pipeline
            Fitted, with ``history_``.
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
        """
        fitted = final_step(estimator)
        history = getattr(fitted, "history_", None)
        if not history:
            raise UserError(
                f"{type(fitted).__name__} has no steps to draw: fit a self-paced estimator first."
            )
        return cls(history).plot(ax)

    def _draw(self, ax) -> None:
        from matplotlib.ticker import MaxNLocator

        families = list(dict.fromkeys(record.get("family") for record in self.history))
        self.loss_ax_ = (
            ax.twinx() if any(record["mean_loss"] is not None for record in self.history) else None
        )
        for number, family in enumerate(families):
            records = [record for record in self.history if record.get("family") == family]
            steps = [record["step"] for record in records]
            look = {"linestyle": _STYLES[number % len(_STYLES)], "marker": "o", "markersize": 4}
            name = "" if family is None else f"{family}: "
            weights = [record["mean_weight"] for record in records]
            ax.plot(steps, weights, color=BLUE, label=f"{name}mean weight", **look)
            if "in_play" in records[0]:
                in_play = np.array([record["in_play"] for record in records])
                ax.fill_between(
                    steps,
                    in_play.min(axis=1),
                    in_play.max(axis=1),
                    color=BLUE,
                    alpha=0.15,
                    label="in play, by label",
                )
            if self.loss_ax_ is not None:
                losses = [np.nan if r["mean_loss"] is None else r["mean_loss"] for r in records]
                self.loss_ax_.plot(steps, losses, color=ORANGE, label=f"{name}mean loss", **look)
        ax.set(xlabel="step", ylabel="weight, share of pairs", ylim=(0, 1.03))
        steps = [record["step"] for record in self.history]
        ax.set_xlim(min(steps) - 0.5, max(steps) + 0.5)  # one step has no width of its own
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        handles = ax.get_legend_handles_labels()[0]
        if self.loss_ax_ is not None:
            self.loss_ax_.set_ylabel("mean loss")
            self.loss_ax_.set_ylim(0, 1.1 * self.loss_ax_.get_ylim()[1])
            handles += self.loss_ax_.get_legend_handles_labels()[0]
        ax.legend(
            handles=handles,
            frameon=False,
            fontsize="small",
            loc="upper left",
            bbox_to_anchor=(0, -0.14),
            ncols=3,
        )
