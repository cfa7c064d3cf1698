"""What all displays share: axes of their own if none are given, and `ax_` and `figure_` afterwards."""

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BLUE", "ORANGE", "Display", "final_step", "label_names_of"]

# Blue and orange of the Okabe–Ito palette, told apart with any colour vision.
BLUE, ORANGE = "#0072b2", "#d55e00"


class Display:
    """Base of the displays, as scikit-learn has them: `plot` draws, subclasses say what in ``_draw(ax)``."""

    def plot(self, ax: "Axes | None" = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where; by default in a new figure.
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
    """What the labels of a fitted estimator are called."""
    return [str(name) for name in getattr(final_step(estimator), "label_names_", range(n_labels))]
