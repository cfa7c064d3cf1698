"""`corrupt`: plant label errors of a known kind."""

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from mlspl.errors import UserError

KINDS = ("flip", "missing", "swap", "ambiguous", "annotator")
# Correlation of the errors of a row, before the threshold, for kind "annotator".
ROW_CORRELATION = 0.5
FOLDS = 5


def corrupt(Y, kind: str, rate: float, random_state=None, *, X=None) -> tuple[np.ndarray, np.ndarray]:
    """Return a copy of Y with some labels wrong, and the mask of those that were changed.

    Parameters
    ----------
    Y : array or sparse matrix of shape (n_rows, n_labels)
        0 or 1; NaN, where a label is unknown, stays NaN and is never counted. A sparse Y comes back dense.
    kind : {"flip", "missing", "swap", "ambiguous", "annotator"}
        - ``"flip"``: a share `rate` of all pairs is inverted.
        - ``"missing"``: a share `rate` of the relevant pairs becomes 0.
        - ``"swap"``: a share `rate` of the relevant pairs moves to an irrelevant label of the same row.
        - ``"ambiguous"``: as flip, each pair with a probability proportional to min(p, 1 − p) of a logistic
          regression in five-fold cross-validation on X.
        - ``"annotator"``: as flip, with correlated errors in a row (a Gaussian copula of correlation 0.5).
    rate, random_state : float, int or RandomState
        Between 0 and 1; the number of pairs is exact, `rate` times those there are. The seed.
    X : array or sparse matrix of shape (n_rows, n_features), optional
        The features, for ``"ambiguous"``.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.datasets import corrupt
    >>> Y = np.eye(4, dtype=int)
    >>> noisy, mask = corrupt(Y, "missing", 0.5, random_state=0)
    >>> int(noisy.sum()), int(mask.sum())
    (2, 2)
    """
    if kind not in KINDS:
        raise UserError(f"kind={kind!r}: labels are corrupted by {', '.join(KINDS)}.")
    if not 0 <= rate <= 1:
        raise UserError(f"rate={rate}: the share of labels to corrupt lies between 0 and 1.")
    noisy = Y.toarray() if sparse.issparse(Y) else np.array(Y)
    relevant, irrelevant = noisy == 1, noisy == 0
    if noisy.ndim != 2 or not np.all(relevant | irrelevant | (noisy != noisy)):
        raise UserError("Y must have rows and labels, all of them 0, 1 or NaN.")
    random = check_random_state(random_state)
    if kind == "swap":
        mask = _swapped(relevant, irrelevant, rate, random)
    else:
        pairs = np.flatnonzero(relevant if kind == "missing" else relevant | irrelevant)
        if kind == "ambiguous":
            # The k largest of log-weight + Gumbel noise are drawn without replacement by weight.
            key = np.log(_unsureness(X, noisy)) + random.gumbel(size=noisy.shape)
        elif kind == "annotator":
            shared, own = random.normal(size=(len(noisy), 1)), random.normal(size=noisy.shape)
            key = np.sqrt(ROW_CORRELATION) * shared + np.sqrt(1 - ROW_CORRELATION) * own
        if kind in ("ambiguous", "annotator"):
            pairs = pairs[np.argsort(-key.ravel()[pairs], kind="stable")]
        else:
            pairs = random.permutation(pairs)
        mask = np.zeros(noisy.shape, bool)
        mask.flat[pairs[: round(rate * len(pairs))]] = True
    noisy[mask] = 1 - noisy[mask]
    return noisy, mask


def _unsureness(X, Y: np.ndarray) -> np.ndarray:
    """min(p, 1 − p) of an out-of-fold logistic regression per label; its mean where a label is too rare."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if X is None or X.shape[0] != len(Y):
        raise UserError("kind='ambiguous' needs the features of the rows of Y. Give them as X=.")
    unsure = np.full(Y.shape, np.nan)
    for label in range(Y.shape[1]):
        known = np.flatnonzero(~np.isnan(Y[:, label].astype(float)))
        y = Y[known, label].astype(int)
        if min(y.sum(), len(y) - y.sum()) >= FOLDS:
            model = make_pipeline(StandardScaler(with_mean=not sparse.issparse(X)), LogisticRegression(C=0.1))
            p = cross_val_predict(model, X[known], y, cv=FOLDS, method="predict_proba")[:, 1]
            unsure[known, label] = np.minimum(p, 1 - p)
    fill = np.nanmean(unsure) if np.isfinite(unsure).any() else 0.5
    return np.maximum(np.where(np.isnan(unsure), fill, unsure), 1e-6)


def _swapped(relevant, irrelevant, rate: float, random: np.random.RandomState) -> np.ndarray:
    """Mask of the labels that leave and, as many in each row, those that take their place."""
    shuffled = random.uniform(size=relevant.shape)
    # Position of each pair among those of its row; pairs of the other kind rank behind.
    leaving_rank, arriving_rank = (
        np.argsort(np.argsort(np.where(part, shuffled, 2.0), axis=1, kind="stable"), axis=1, kind="stable")
        for part in (relevant, irrelevant)
    )
    movable = relevant & (leaving_rank < irrelevant.sum(axis=1, keepdims=True))
    candidates = random.permutation(np.flatnonzero(movable))
    leaving = np.zeros(relevant.shape, bool)
    leaving.flat[candidates[: round(rate * relevant.sum())]] = True
    return leaving | (irrelevant & (arriving_rank < leaving.sum(axis=1, keepdims=True)))
