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
        """Of two equal forms the one without cancellation: near v = 1 the curve hardly differs from 1."""
        start, anchor, integral = self._anchored
        t = self.inverse(weight)
        below, above = integral(t)
        penalty = np.where(
            weight <= 0.5,
            below - weight * t + start * anchor,
            (1.0 - weight) * t - above - (1.0 - start) * anchor,
        )
        return np.where((weight > self.top) & (self.lowest < 0), np.inf, penalty)

    @cached_property
    def _anchored(self) -> tuple[float, float, "CurveIntegral"]:
        """Where the penalty is 0, as v and as t, and the integral of the curve from there."""
        start = 1.0 if self.lowest == 0 else 0.5 * self.top
        anchor = 0.0 if self.lowest == 0 else float(self.inverse(np.array([start]))[0])
        return start, anchor, CurveIntegral(self.curve, anchor, self.lowest)


def _ordered(number: np.ndarray | np.float64) -> np.ndarray:
    """The bits of doubles as integers in the doubles' order, and back: the map is its own inverse."""
    bits = np.asarray(number).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFF_FFFF_FFFF_FFFF))


class CurveIntegral:
    """∫ g dt and ∫ (1 − g) dt from an anchor to any t, to about the rounding of g.

    The line is cut at anchor ± 2^k; panels on which sixteen Gauss points do not settle are halved until they
    do, so a kink or a jump ends in a panel too small to matter.
    """

    def __init__(self, curve: Curve, anchor: float, lowest: float) -> None:
        steps = np.exp2(np.arange(-60.0, 1024.0))
        edges = np.unique(np.concatenate([anchor - steps, [anchor], anchor + steps]))
        self._curve = curve
        self._edges = edges = self._settled(edges[edges >= lowest])
        below = self._gauss(edges[:-1], edges[1:])
        start = int(np.searchsorted(edges, anchor))
        self._below, self._above = _from(below, start), _from(np.diff(edges) - below, start)

    def __call__(self, t: FloatArray) -> tuple[FloatArray, FloatArray]:
        """∫ g and ∫ (1 − g) from the anchor to t."""
        panel = np.clip(np.searchsorted(self._edges, t, side="right") - 1, 0, len(self._edges) - 1)
        left = self._edges[panel]
        part = self._gauss(left, t)
        return self._below[panel] + part, self._above[panel] + ((t - left) - part)

    def _gauss(self, left: FloatArray, right: FloatArray) -> FloatArray:
        half = 0.5 * right - 0.5 * left
        points = (0.5 * left + 0.5 * right)[..., None] + half[..., None] * _NODES
        return half * (self._curve(points) @ _NODE_WEIGHTS)

    def _settled(self, edges: FloatArray) -> FloatArray:
        """Halve panels until the integral over each is that over its halves."""
        left, right = edges[:-1], edges[1:]
        while left.size and edges.size < _MAX_PANELS:
            middle = 0.5 * left + 0.5 * right
            width, area = right - left, self._gauss(left, middle) + self._gauss(middle, right)
            error = np.abs(self._gauss(left, right) - area)
            rounding = np.finfo(np.float64).eps * self._curve(left) * width
            rough = error > 1e-13 * np.minimum(area, width - area) + 8 * rounding
            rough &= (left < middle) & (middle < right)
            left, middle, right = left[rough], middle[rough], right[rough]
            edges = np.concatenate([edges, middle])
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
        return np.sort(edges)


def _from(panels: FloatArray, start: int) -> FloatArray:
    """Running sums of the panels' integrals, counted from edge `start` in both directions."""
    right = np.cumsum(panels[start:])
    left = -np.cumsum(panels[:start][::-1])[::-1]
    return np.concatenate([left, [0.0], right])
