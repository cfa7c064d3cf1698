"""Base of the displays."""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "ORANGE", "Display", "final_step", "label_names_of"]

# Blue and orange of the Okabe–Ito palette, which is safe for colour-blind readers.
BLUE, ORANGE = "#0072b2", "#d55e00"


class Display:
    """Base of the displays, like scikit-learn's; subclasses implement ``_draw(ax)``."""

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        """
        if ax is None:
            from matplotlib import pyplot as plt

            _, ax = plt.subplots(figsize=(6.4, self._height()), layout="constrained")
        self._draw(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _height(self) -> float:
        return 4.0

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def final_step(estimator: Any) -> Any:
    """The estimator at the end of a pipeline; any other as it is."""
    from sklearn.pipeline import Pipeline

    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return estimator


def label_names_of(estimator: Any, n_labels: int) -> list[str]:
    """Label names of a fitted estimator."""
    return [str(name) for name in getattr(final_step(estimator), "label_names_", range(n_labels))]
