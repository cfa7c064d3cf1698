"""TRAM: transductive classification by label propagation (Kong, Ng & Zhou 2013)."""

import warnings

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import cg
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning

from mlspl._docs import share
from mlspl.errors import UserError
from mlspl.metrics import rank_criteria
from mlspl.models._base import MultiLabelClassifier, store_parameters
from mlspl.models._checks import warn_of_data
from mlspl.models._neighbours import nearest_rows, weigh_features, weigh_rows

_TOLERANCE = 1e-13
_MAX_ITERATIONS = 10_000
_DECIMALS = 10  # beyond them the solver's rounding shows, and would break ties by chance
_SURE = 25.0  # log-odds of a probability that is 1 up to those decimals
_PRIOR_WEIGHTS = np.array([0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0])
_JUDGED_ROWS = 2000


@share
class TRAMClassifier(MultiLabelClassifier):
    r"""Transductive multi-label classification by propagation (Kong, Ng & Zhou 2013).

    All rows, labelled or not, are connected to their k nearest neighbours with weights
    :math:`w_{ij} = \exp(-d_{ij}^2 / 2σ^2)`, where σ² is the mean squared length of these edges; W is made
    symmetric by the maximum. With :math:`P = D^{-1} W`, the label shares F of an unlabelled row are
    the average of its neighbours' shares,

    .. math:: (I - P_{UU})\,F_U = P_{UL}\,\bar Y,

    where a row of :math:`\bar Y` is a labelled row divided by its number of labels. The same system gives
    the number of labels z of each row, and the round(z) labels of highest share are predicted.

    The rows to predict are part of the graph, so predictions depend on the rows that are predicted together.
    Rows not connected to a labelled one get the mean of the labelled rows. The odds of `predict_proba` are in
    the ratio of the shares, the probabilities of a row add up to z, and just the predicted labels exceed ½.

    The shares are averaged with the mean of the labelled rows if this improves the average precision of the
    labelled rows by over two standard errors.

    Parameters
    ----------
    k : "auto" or int, default="auto"
        Number of neighbours of each row. "auto": 10, or 20 with feature weights.
    prior_weight : "auto" or float, default="auto"
        Weight of the mean of the labelled rows in the shares, from 0, as published, to 1. "auto" chooses it.
    {feature_weights}

    Attributes
    ----------
    {neighbours_}
    shares_, counts_ : arrays of shape (n_samples, n_labels), (n_samples,)
        The labelled rows, each divided by its number of labels, and these numbers.

    References
    ----------
    X. Kong, M. K. Ng and Z.-H. Zhou. Transductive multilabel learning via label set propagation. IEEE
    Transactions on Knowledge and Data Engineering 25(3):704-719, 2013.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from mlspl import TRAMClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = TRAMClassifier(k=5).fit(X[:60], Y[:60])
    >>> model.predict(X[60:])[:2]
    array([[1, 0, 1, 0],
           [1, 1, 0, 0]])
    """

    _contents = {
        "counts_": "float (rows)",
        "shares_": "float (rows, labels)",
        "prior_weight_": "float",
        "feature_weights_": "float (features)?",
        "k_": "int",
        "_labelled": "rows (rows, features)",
    }

    _scores_rows_alone = False  # transductive

    def __init__(self, k="auto", *, prior_weight="auto", feature_weights="auto"):
        store_parameters(self, locals())

    def fit(self, X, Y, label_weight=None):  # type: ignore[override]
        """Store the labelled rows, as in :meth:`BSVMClassifier.fit` without `sample_weight`.

        With a weight w below 1, a label is w·y + (1 − w)·prior.
        """
        return super().fit(X, Y, label_weight)

    def _fit(self, X, Y, label_weight):
        warn_of_data(X, type(self).__name__)
        self.feature_weights_ = weigh_features(X, Y, label_weight) if self.feature_weights else None
        self.k_ = (10 if self.feature_weights_ is None else 20) if self.k == "auto" else self.k
        X = weigh_rows(X, self.feature_weights_)
        relevant, Y = Y, Y.astype(np.float64)
        if label_weight is not None:
            weight = np.minimum(label_weight, 1.0)
            prior = _ratio((label_weight * Y).sum(axis=0), label_weight.sum(axis=0))
            Y = weight * Y + (1 - weight) * prior
        self.counts_ = Y.sum(axis=1)
        self.shares_ = _ratio(Y, self.counts_[:, None])
        self._labelled = X
        self.prior_weight_ = 0.0 if self.prior_weight == "auto" else float(self.prior_weight)
        if self.prior_weight == "auto" and self.k_ < len(Y):
            self.prior_weight_ = _choose_prior_weight(X, self.shares_, relevant, self.k_)

    def _scores(self, X):
        parts = [self._labelled, weigh_rows(X, self.feature_weights_)]
        if any(map(sparse.issparse, parts)):
            rows = sparse.vstack([sparse.csr_matrix(part) for part in parts], format="csr")
        else:
            rows = np.concatenate(parts)
        if self.k_ >= rows.shape[0]:
            raise UserError(
                f"k={self.k_} neighbours need at least {self.k_ + 1} rows, but labelled and new ones are "
                f"{rows.shape[0]}: give more rows, a smaller k (in Python) or another method."
            )
        known = np.column_stack([self.shares_, self.counts_])
        W = _edges(rows, self.k_)
        spread = _propagate(W.maximum(W.T), known)[-X.shape[0] :]
        shares = (1 - self.prior_weight_) * spread[:, :-1] + self.prior_weight_ * self.shares_.mean(axis=0)
        return _log_odds(np.round(shares, _DECIMALS), spread[:, -1])


def _choose_prior_weight(X, shares, Y, k):
    """The weight of the mean share with the best average precision on labelled rows; 0 unless significant."""
    mixed = np.flatnonzero(Y.any(axis=1) & ~Y.all(axis=1))
    rows = mixed[:: max(1, -(-len(mixed) // _JUDGED_ROWS))]
    if not len(rows):
        return 0.0
    W = _edges(X, k, rows)
    seen = np.round(_ratio(W @ shares, np.broadcast_to(W.sum(axis=1)[:, None], Y[rows].shape)), _DECIMALS)
    prior = shares.mean(axis=0)
    precision = np.array([rank_criteria(Y[rows], (1 - w) * seen + w * prior)[-1] for w in _PRIOR_WEIGHTS])
    precision = np.round(precision, _DECIMALS)
    best = precision.mean(axis=1).round(_DECIMALS).argmax()
    gain = precision[best] - precision[0]
    is_sure = len(gain) > 1 and gain.mean() > 2 * gain.std(ddof=1) / np.sqrt(len(gain))
    return float(_PRIOR_WEIGHTS[best]) if is_sure else 0.0


def _edges(X, k, rows=None):
    """CSR weights exp(-d²/2σ²) from each row, or from these rows, to its k nearest others."""
    rows = np.arange(X.shape[0]) if rows is None else rows
    distance, index = nearest_rows(X[rows], X, k, rows)
    squared = np.square(distance)
    scale = squared.mean()
    weight = np.exp(-squared / (2 * scale)) if scale > 0 else np.ones_like(squared)
    starts = np.arange(0, weight.size + 1, k)
    return sparse.csr_array((weight.ravel(), index.ravel(), starts), shape=(len(weight), X.shape[0]))


def _propagate(W, known):
    """Solve (I − P_UU) F = P_UL · known, the known rows being first; unconnected rows get their mean."""
    n = len(known)
    W.eliminate_zeros()
    spread = np.tile(known.mean(axis=0), (W.shape[0] - n, 1))
    component = connected_components(W, directed=False)[1]
    reached = np.flatnonzero(np.isin(component[n:], component[:n]))
    edges, degree = W[n + reached], W.sum(axis=1)[n + reached]
    if not len(reached):
        return np.round(spread, _DECIMALS)
    # Scaled to a unit diagonal. Starting from the mean, weakly connected rows stay near it.
    root = np.sqrt(degree)
    scaled = sparse.diags_array(1 / root) @ edges[:, n + reached] @ sparse.diags_array(1 / root)
    system = sparse.eye_array(len(reached), format="csr") - scaled
    for column, (b, start) in enumerate(zip((edges[:, :n] @ known).T, spread[reached].T, strict=True)):
        solved, failed = cg(
            system, b / root, root * start, rtol=0.0, atol=_TOLERANCE * root.max(), maxiter=_MAX_ITERATIONS
        )
        if failed:
            warnings.warn("Labels had not settled. Use a larger k.", ConvergenceWarning, stacklevel=2)
        spread[reached, column] = solved / root
    return np.round(np.clip(spread, known.min(axis=0), known.max(axis=0)), _DECIMALS)


def _ratio(numerator, denominator):
    """The quotient, 0 where the denominator is."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)


def _log_odds(shares, counts):
    """Log-odds in the ratio of the shares; probabilities sum to the count, so many scores are positive."""
    smallest = 10.0**-_DECIMALS
    scores = np.log(np.maximum(shares, smallest))
    low, high = -_SURE - scores.max(axis=1), _SURE - scores.min(axis=1)
    for _ in range(45):
        middle = (low + high) / 2
        short = expit(scores + middle[:, None]).sum(axis=1) < counts
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    scores += high[:, None]
    place = np.argsort(np.argsort(-scores, axis=1, kind="stable"), axis=1)
    chosen = place < np.floor(counts + 0.5)[:, None]
    last = np.where(chosen, scores, np.inf).min(axis=1)
    next_one = np.where(chosen, -np.inf, scores).max(axis=1)
    scores += np.where(last <= 0, smallest - last, -np.maximum(next_one, 0))[:, None]
    return np.round(np.where(chosen, np.maximum(scores, smallest), np.minimum(scores, 0.0)), _DECIMALS)
