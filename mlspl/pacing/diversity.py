"""Self-paced learning with diversity: easy pairs, but from every group."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mlspl.errors import UserError
from mlspl.pacing.arrays import check_number, loss_array, pace_array, product, weight_array
from mlspl.pacing.base import FloatArray, SelfPacedFunction

__all__ = ["Diversity"]


@dataclass(frozen=True)
class Diversity(SelfPacedFunction):
    """v* = 1 if l₍ᵣ₎ < λ + γ/(√r + √(r−1)), else 0: Jiang et al. 2014, SPLD.

    f = −λ Σ v − γ Σ_b ‖v_b‖₂ over groups b, and r is the rank of a loss in its group. The first pairs of
    a group come in more cheaply than its later ones, so every group is heard. The regulariser is not
    convex in the weights of a group (condition 1 of Definition 1), and as λ → 0 the easiest pairs below γ
    stay in play (condition 3): both on purpose.

    Parameters
    ----------
    gamma : float, default=1.0
        γ ≥ 0, the worth of diversity in units of the loss; 0 is `Hard`.
    groups : array-like of int, optional
        The group of each entry of the losses: the shape of the losses, or one number a row, which then groups
        the rows of each column. By default a column of the losses (a label) is a group, and a vector is one.

    Examples
    --------
    The second label is harder throughout; `Hard` would leave it out.

    >>> from mlspl.pacing import Diversity
    >>> losses = [[0.1, 1.3], [0.2, 1.4], [0.9, 1.5]]
    >>> print(Diversity(gamma=1.0).weight(losses, pace=0.5))
    [[1. 1.]
     [1. 0.]
     [0. 0.]]
    """

    gamma: float = 1.0
    groups: ArrayLike | None = None

    name = "diversity"
    tex = r"[\,l_{(r)}<\lambda+\frac{\gamma}{\sqrt{r}+\sqrt{r-1}}\,]"

    def __post_init__(self) -> None:
        """Refuse a negative γ, and keep the groups as tuples, which can be compared and hashed."""
        check_number("gamma of a diversity function", self.gamma, "a number, 0 or more", 0.0, closed=True)
        if self.groups is not None:
            groups = np.asarray(self.groups)
            if groups.ndim not in (1, 2) or groups.dtype.kind not in "iub":
                raise UserError(
                    "the groups of a diversity function are whole numbers in one or two dimensions."
                )
            rows = groups.tolist()
            kept = tuple(rows) if groups.ndim == 1 else tuple(tuple(row) for row in rows)
            object.__setattr__(self, "groups", kept)

    @property
    def by_label(self) -> bool:
        """Unless groups of pairs were given."""
        return self.groups is None or np.ndim(self.groups) == 1

    def weight(self, loss: ArrayLike, pace: ArrayLike) -> FloatArray:
        """1 for the easiest pairs of each group, up to the rank at which the bonus no longer pays."""
        loss, pace = np.broadcast_arrays(loss_array(loss), pace_array(pace))
        with np.errstate(invalid="ignore"):
            margin = np.ravel(loss - pace)
        margin[np.isnan(margin)] = -np.inf  # ∞ − ∞: the pace wins
        group, count = self._group_of(loss.shape)
        order = np.lexsort((margin, group))
        first = np.concatenate([[0], np.cumsum(count)[:-1]])
        rank = np.arange(1, margin.size + 1) - first[group[order]]
        in_play = np.empty(margin.size)
        in_play[order] = margin[order] < self.gamma / (np.sqrt(rank) + np.sqrt(rank - 1))
        return in_play.reshape(loss.shape)[()]

    def inverse(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """−∂f/∂v = λ + γ v/‖v_b‖₂; in a group of one, the loss at which it drops out."""
        v, pace = np.broadcast_arrays(weight_array(weight), pace_array(pace))
        return (pace + self.gamma * self._share(v))[()]

    def penalty(self, weight: ArrayLike, pace: ArrayLike) -> FloatArray:
        """Each entry's part −λv − γ v²/‖v_b‖₂; over a group the parts add up to −λ‖v_b‖₁ − γ‖v_b‖₂."""
        v, pace = np.broadcast_arrays(weight_array(weight), pace_array(pace))
        with np.errstate(invalid="ignore"):
            return (-product(pace, v) - self.gamma * v * self._share(v))[()]

    def _share(self, v: FloatArray) -> FloatArray:
        """v/‖v_b‖₂; where a whole group is out, 0."""
        group, count = self._group_of(v.shape)
        norm = np.sqrt(np.bincount(group, weights=np.square(v).ravel(), minlength=count.size))
        return v / np.where(norm > 0, norm, 1.0)[group].reshape(v.shape)

    def _group_of(self, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """The group of each entry, numbered from 0 without gaps, and the size of each group."""
        if self.groups is None:
            columns = np.arange(shape[1]) if len(shape) == 2 else np.zeros((), dtype=np.intp)
            group = np.broadcast_to(columns, shape).ravel()
            count = np.bincount(group)
            return group, count
        given = np.asarray(self.groups)
        if given.shape == shape[:1] and len(shape) == 2:
            given = given[:, None] * shape[1] + np.arange(shape[1])
        if given.shape != shape:
            raise UserError(
                f"the groups of a diversity function have the shape {given.shape}, and the losses "
                f"{shape}: give one group for each loss, or one for each row."
            )
        _, group, count = np.unique(given.ravel(), return_inverse=True, return_counts=True)
        return group, count
