"""Sigmoids fitted to scores: compiled, a label at a time, and fast on very many rows.

The exponential and the logarithm of the mathematical library take one number at a time; polynomials in a loop
are worked out for several at once, and round alike on every machine.
"""

import numpy as np

from mlspl._numba_cache import njit

__all__ = ["fit_sigmoids", "fit_slopes"]

# Slope per standard deviation of a label whose scores say nothing: too flat to matter, enough to keep order.
FLAT = 1e-6
_BLOCK = 512
_PER_LN2 = 1.4426950408889634
# ln 2 in two parts, of which the first has zeros at its end: its multiples are exact.
_LN2, _LN2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10
# Added to a number below 2⁵¹, it leaves the whole number next to it in the last bits.
_WHOLE = 6755399441055744.0
# Below, the exponential is no normal number.
_LEAST = -708.0

# Loops over coefficients would stay loops, and those around them one number at a time.
_inlined = njit(inline="always", error_model="numpy")
_compiled = njit(cache=True, nogil=True, error_model="numpy")


@_inlined
def _exp_negative(x):  # pragma: no cover - compiled
    """eˣ of x ≤ 0, to the last digit: 2ᵏ eʳ with |r| ≤ ½ ln 2. Whatever is below −708 counts as that."""
    x = max(x, _LEAST)
    shifted = x * _PER_LN2 + _WHOLE
    k = shifted - _WHOLE
    r = (x - k * _LN2) - k * _LN2_REST
    value = 1.0 / 6227020800.0
    value = value * r + 1.0 / 479001600.0
    value = value * r + 1.0 / 39916800.0
    value = value * r + 1.0 / 3628800.0
    value = value * r + 1.0 / 362880.0
    value = value * r + 1.0 / 40320.0
    value = value * r + 1.0 / 5040.0
    value = value * r + 1.0 / 720.0
    value = value * r + 1.0 / 120.0
    value = value * r + 1.0 / 24.0
    value = value * r + 1.0 / 6.0
    value = value * r + 1.0 / 2.0
    value = value * r + 1.0
    value = value * r + 1.0
    power = (np.float64(shifted).view(np.int64) + np.int64(1023)) << np.int64(52)
    return value * np.int64(power).view(np.float64)


@_inlined
def _log_one_plus(e):  # pragma: no cover - compiled
    """ln(1 + e) of 0 ≤ e ≤ 1 to some units of the last digit: 2 artanh t with t = e / (2 + e) ≤ ⅓."""
    t = e / (2.0 + e)
    square = t * t
    value = 1.0 / 35.0
    value = value * square + 1.0 / 33.0
    value = value * square + 1.0 / 31.0
    value = value * square + 1.0 / 29.0
    value = value * square + 1.0 / 27.0
    value = value * square + 1.0 / 25.0
    value = value * square + 1.0 / 23.0
    value = value * square + 1.0 / 21.0
    value = value * square + 1.0 / 19.0
    value = value * square + 1.0 / 17.0
    value = value * square + 1.0 / 15.0
    value = value * square + 1.0 / 13.0
    value = value * square + 1.0 / 11.0
    value = value * square + 1.0 / 9.0
    value = value * square + 1.0 / 7.0
    value = value * square + 1.0 / 5.0
    value = value * square + 1.0 / 3.0
    value = value * square + 1.0
    return 2.0 * t * value


@_compiled
def _measure_sigmoid(z, t, w, a, b):
    """The loss and its first and second derivatives by a and b, some numbers at a time."""
    odds, losses = np.empty(_BLOCK), np.empty(_BLOCK)
    loss = ga = gb = haa = hab = hbb = 0.0
    for start in range(0, len(z), _BLOCK):
        count = min(_BLOCK, len(z) - start)
        for k in range(count):
            odds[k] = _exp_negative(-abs(a * z[start + k] + b))
        for k in range(count):
            losses[k] = _log_one_plus(odds[k])
        for k in range(count):
            i = start + k
            s, e = a * z[i] + b, odds[k]
            likely = 1.0 / (1.0 + e)
            p = likely if s > 0.0 else e * likely
            residual, curvature = w[i] * (p - t[i]), w[i] * e * likely * likely
            loss += w[i] * (max(s, 0.0) + losses[k] - t[i] * s)
            ga += residual * z[i]
            gb += residual
            haa += curvature * z[i] * z[i]
            hab += curvature * z[i]
            hbb += curvature
    return loss, ga, gb, haa, hab, hbb


@_compiled
def fit_sigmoids(Z, target, weight):
    """Return slopes and offsets of L sigmoids on standardised scores Z (L, n) by Newton's method.

    The loss Σ w (ln(1 + eˢ) − t s), s = a z + b, is convex; steps are halved until it decreases enough.
    Targets strictly between 0 and 1 keep its minimum finite.
    """
    L = len(Z)
    slopes, offsets = np.full(L, FLAT), np.zeros(L)
    for label in range(L):
        z, t, w = Z[label], target[label], weight[label]
        total = w.sum()
        if total == 0.0:
            continue
        mean_target = (w * t).sum() / total
        prior = np.log(mean_target / (1.0 - mean_target))
        a, b = 0.0, prior
        loss, ga, gb, haa, hab, hbb = _measure_sigmoid(z, t, w, a, b)
        for _ in range(100):
            if max(abs(ga), abs(gb)) <= 1e-10 * total:
                break
            haa += 1e-12 * total
            hbb += 1e-12 * total
            determinant = haa * hbb - hab * hab
            da, db = -(hbb * ga - hab * gb) / determinant, -(haa * gb - hab * ga) / determinant
            step, slope_of_loss = 1.0, ga * da + gb * db
            if -slope_of_loss <= 1e-14 * loss:
                # What is left to gain is lost in the rounding of the loss: no line search could see it.
                a, b = a + da, b + db
                break
            while step > 1e-10:
                trial = _measure_sigmoid(z, t, w, a + step * da, b + step * db)
                if trial[0] <= loss + 1e-4 * step * slope_of_loss:
                    break
                step *= 0.5
            if step <= 1e-10:
                break
            a, b = a + step * da, b + step * db
            loss, ga, gb, haa, hab, hbb = trial
        if a > FLAT:
            slopes[label], offsets[label] = a, b
        else:
            offsets[label] = prior
    return slopes, offsets


@_compiled
def fit_slopes(scores, target, weight, least, most):
    """Return slopes a from `least` to `most`, (2, L): of the smallest loss of a·f for f < 0, and for f > 0.

    The loss of a label and side is convex in a: its derivative is searched for 0 by Newton's steps in ln a,
    within bounds that close in. All arrays are (L, n).
    """
    L, n = scores.shape
    slopes = np.empty((2, L))
    f, t, w = np.empty(n), np.empty(n), np.empty(n)
    for label in range(L):
        for side in range(2):
            count = 0
            for i in range(n):
                score = scores[label, i]
                if weight[label, i] > 0.0 and (score > 0.0 if side else score < 0.0):
                    f[count], t[count], w[count] = score, target[label, i], weight[label, i]
                    count += 1
            low, high, x = np.log(least), np.log(most), 0.0
            for _ in range(100):
                a = np.exp(x)
                _, slope, _, bend, _, _ = _measure_sigmoid(f[:count], t[:count], w[:count], a, 0.0)
                if slope < 0.0:
                    low = x
                else:
                    high = x
                if high - low <= 1e-11:
                    break
                step = -slope / (a * bend) if bend > 0.0 else np.inf
                if abs(step) <= 1e-11:
                    low = x + step
                    break
                x = x + step if low < x + step < high else (low + high) / 2
            slopes[side, label] = np.exp(low)
    return slopes
