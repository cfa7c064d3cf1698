"""What a paced fit remembers of every (instance, label) pair."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Trace"]

_LATEST = np.iinfo(np.int16).max


class Trace:
    """Of every pair: the step at which it entered, and where its loss stood and moved.

    A pair enters at the first step that gives it a weight of at least ½. Four numbers a pair are kept,
    however many steps there are.

    Parameters
    ----------
    shape : tuple (n, L)
        Rows and labels.

    Attributes
    ----------
    n_steps : int
        Steps seen.
    entered : int16 array (n, L)
        The first step, from 1 on, at which a pair had at least half its weight; 0 if it never had.
    last_loss, mean_loss : float32 arrays (n, L)
        The last of its losses, and their mean; NaN before the first step.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.pacing import Trace
    >>> trace = Trace((1, 2))
    >>> trace.add(np.array([[0.5, 2.0]]), np.array([[0.9, 0.1]]))
    >>> trace.add(np.array([[0.1, 4.0]]), np.array([[1.0, 0.2]]))
    >>> trace.entered, trace.mean_loss, trace.spread
    (array([[1, 0]], dtype=int16), array([[0.3, 3. ]], dtype=float32), array([[0.2, 1. ]], dtype=float32))
    """

    _contents = {
        "n_steps": "int",
        "entered": "int (rows, labels)",
        "last_loss": "float (rows, labels)",
        "mean_loss": "float (rows, labels)",
        "_squares": "float (rows, labels)",
    }

    def __init__(self, shape: tuple[int, int]) -> None:
        self.n_steps = 0
        self.entered = np.zeros(shape, dtype=np.int16)
        self.last_loss = np.full(shape, np.nan, dtype=np.float32)
        self.mean_loss = np.full(shape, np.nan, dtype=np.float32)
        self._squares = np.zeros(shape, dtype=np.float32)

    def add(self, losses: NDArray[Any], weights: NDArray[Any]) -> None:
        """Remember one more step.

        Parameters
        ----------
        losses, weights : arrays (n, L)
            The losses that the step began with, and the weights that they led to.
        """
        self.n_steps += 1
        fresh = (self.entered == 0) & (weights >= 0.5)
        self.entered[fresh] = min(self.n_steps, _LATEST)
        # Welford's update: means and squared deviations without a table of all losses.
        losses = np.asarray(losses, dtype=np.float32)
        before = losses if self.n_steps == 1 else self.mean_loss
        self.mean_loss = before + (losses - before) / np.float32(self.n_steps)
        self._squares += (losses - before) * (losses - self.mean_loss)
        self.last_loss = losses

    def fill(self, labels: slice, part: "Trace") -> None:
        """Take over what a trace of some of the labels remembers.

        Parameters
        ----------
        labels : slice
            Which labels.
        part : Trace
            Of shape (n, as many).
        """
        self.n_steps = max(self.n_steps, part.n_steps)
        for name in ("entered", "last_loss", "mean_loss", "_squares"):
            getattr(self, name)[:, labels] = getattr(part, name)

    @property
    def spread(self) -> NDArray[np.float32]:
        """How much each pair's loss moved over the steps: its standard deviation (n, L)."""
        return np.sqrt(self._squares / np.float32(max(self.n_steps, 1)))

    @property
    def lateness(self) -> NDArray[np.float64]:
        """When each pair entered, from 0 (the first step) to 1 (never), of shape (n, L)."""
        when = np.where(self.entered > 0, self.entered - 1.0, self.n_steps)
        return when / max(self.n_steps, 1)
