"""Inverse and integral of a decreasing curve that can only be evaluated.

The penalty needs ∫ g⁻¹, but g⁻¹ may be infinite at the ends. Integrated by parts (Young's identity),
−∫ g⁻¹ dv = ∫ g dt − v·t at t = g⁻¹(v): the integrand becomes the curve itself, bounded and known exactly.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from mlspl.pacing.base import FloatArray

Curve = Callable[[FloatArray], FloatArray]
_NODES, _NODE_WEIGHTS = np.polynomial.legendre.leggauss(16)
_MAX_PANELS = 20_000  # a curve with noise would be cut for ever


def vanishes(far: FloatArray, farther: FloatArray) -> np.ndarray:
    """Whether positive values taken far out, and much farther, are on their way to 0."""
    return np.asarray((farther <= 1e-6) | (farther <= 0.6 * far))


class NumericCurve:
    """g⁻¹(v) and −∫ g⁻¹ dv of a curve on [lowest, ∞); 0 at v = 1 if lowest is 0, else at half the height."""

    def __init__(self, curve: Curve, lowest: float) -> None:
        self.curve = curve
        self.lowest = lowest
        self.top = float(curve(np.array([max(lowest, -1e100)]))[0])

    def inverse(self, weight: FloatArray) -> FloatArray:
        """The last double t with curve(t) ≥ weight, by bisection over the doubles themselves: 64 halvings.

        For weight 0 it is the last t with a positive curve; above the top of the curve it is `lowest`.
        """
        weight = np.maximum(weight, np.nextafter(0.0, 1.0))
        low = np.full(weight.shape, _ordered(np.float64(self.lowest)))
        high = np.full(weight.shape, _ordered(np.float64(np.finfo(np.float64).max)))
        for _ in range(64):
            middle = (low >> 1) + (high >> 1) + (low & high & 1)
            above = self.curve(_ordered(middle).view(np.float64)) >= weight
            low, high = np.where(above, middle, low), np.where(above, high, middle)
        return _ordered(low).view(np.float64)

    def penalty(self, weight: FloatArray) -> FloatArray:
        """Right to about the rounding of the curve; near v = 1 that is an absolute error."""
        zero, edges, areas = self._integral
        t = self.inverse(weight)
        panel = np.clip(np.searchsorted(edges, t, side="right") - 1, 0, len(edges) - 1)
        penalty = areas[panel] + self._gauss(edges[panel], t) - weight * t + zero
        return np.where((weight > self.top) & (self.lowest < 0), np.inf, penalty)

    @cached_property
    def _integral(self) -> tuple[float, FloatArray, FloatArray]:
        """v·t where the penalty is 0, points of the line, and ∫ g dt from that t to each of them.

        The line is cut at t ± 2^k; panels on which sixteen Gauss points do not settle are halved until they
        do, so a kink or a jump ends in a panel too small to matter.
        """
        v = 1.0 if self.lowest == 0 else 0.5 * self.top
        t = 0.0 if self.lowest == 0 else float(self.inverse(np.array([v]))[0])
        steps = np.exp2(np.arange(-60.0, 1024.0))
        edges = np.unique(np.concatenate([t - steps, [t], t + steps]))
        edges = self._settled(edges[edges >= self.lowest])
        panels = self._gauss(edges[:-1], edges[1:])
        start = int(np.searchsorted(edges, t))
        left = -np.cumsum(panels[:start][::-1])[::-1]
        return v * t, edges, np.concatenate([left, [0.0], np.cumsum(panels[start:])])

    def _gauss(self, left: FloatArray, right: FloatArray) -> FloatArray:
        half = 0.5 * right - 0.5 * left
        points = (0.5 * left + 0.5 * right)[..., None] + half[..., None] * _NODES
        return half * (self.curve(points) @ _NODE_WEIGHTS)

    def _settled(self, edges: FloatArray) -> FloatArray:
        """Halve panels until the integral over each is that over its halves."""
        left, right = edges[:-1], edges[1:]
        while left.size and edges.size < _MAX_PANELS:
            middle = 0.5 * left + 0.5 * right
            width, area = right - left, self._gauss(left, middle) + self._gauss(middle, right)
            error = np.abs(self._gauss(left, right) - area)
            rounding = np.finfo(np.float64).eps * self.curve(left) * width
            rough = error > 1e-13 * np.minimum(area, width - area) + 8 * rounding
            rough &= (left < middle) & (middle < right)
            left, middle, right = left[rough], middle[rough], right[rough]
            edges = np.concatenate([edges, middle])
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        return np.sort(edges)


def _ordered(number: np.ndarray | np.float64) -> np.ndarray:
    """The bits of doubles as integers in the doubles' order, and back: the map is its own inverse."""
    bits = np.asarray(number).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))
