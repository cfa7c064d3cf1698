"""ML-kNN: Bayes' rule on the number of neighbours that have a label (Zhang & Zhou 2007)."""

import numpy as np
from scipy import sparse

from mlspl._docs import share
from mlspl.errors import UserError
from mlspl.model_selection import ShrunkCalibration
from mlspl.models._base import MultiLabelClassifier, store_parameters
from mlspl.models._checks import warn_of_data
from mlspl.models._neighbours import nearest_rows, weigh_features, weigh_rows

_JUDGED_ROWS = 2000


@share
class MLkNNClassifier(MultiLabelClassifier):
    r"""Multi-label k nearest neighbours (Zhang & Zhou 2007).

    The posterior of a label follows from Bayes' rule: the prior of the label, and how often a training row
    with (or without) the label had exactly this many neighbours with it,

    .. math::

        F_l = \frac{\pi_l\,p_1[l, c]}{\pi_l\,p_1[l, c] + (1 - \pi_l)\,p_0[l, c]}, \qquad
        \pi_l = \frac{s + n_l}{2s + n}, \qquad p_1[l, r] = \frac{s + κ_1[l, r]}{s(k+1) + \sum_r κ_1[l, r]},

    with c the number of the new row's neighbours that have the label, κ₁[l, r] the number of training rows
    with label l and r such neighbours, and κ₀, p₀ likewise for rows without the label. A label is
    predicted where F ≥ ½. No training row is its own neighbour; at equal distance the lower training index
    is nearer.

    With ``label_weight`` every count is a sum of weights, and c is k times the weighted share of neighbours
    with the label; a fractional c is interpolated. If all neighbours have weight 0, F is the prior.

    With few rows, posteriors are overconfident. So the log-odds are shrunk towards those of π as far as
    leave-one-out log-odds of the training rows require (:class:`~mlspl.model_selection.ShrunkCalibration`).

    Parameters
    ----------
    k : "auto" or int, default="auto"
        Number of neighbours; less than the number of training rows. "auto": 10, or 20 with feature weights.
    s : float, default=1.0
        Smoothing: added to every count.
    prior_weight : "auto" or float, default="auto"
        Weight of the prior in the log-odds, from 0, as published, to 1. "auto" chooses it.
    {feature_weights}

    Attributes
    ----------
    {neighbours_}
    label_counts_ : array of shape (2, n_labels)
        Training rows without and with each label.
    neighbour_counts_ : array of shape (2, n_labels, k + 1)
        κ₀ and κ₁.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou. ML-KNN: A lazy learning approach to multi-label learning. Pattern
    Recognition 40(7):2038-2048, 2007.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from mlspl.models import MLkNNClassifier
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = MLkNNClassifier(k=5).fit(X[:150], Y[:150])
    >>> model.predict_proba(X[150:152]).round(2)
    array([[0.34, 0.47, 0.47, 0.67],
           [0.66, 0.47, 0.47, 0.29]])
    """

    _contents = {
        "_positive": "float (rows, labels)",
        "_weight": "float (rows, labels)?",
        "_rows": "rows (rows, features)",
        "label_counts_": "float (2, labels)",
        "neighbour_counts_": "float (2, labels, counts)",
        "prior_weight_": "float",
        "feature_weights_": "float (features)?",
        "k_": "int",
    }

    def __init__(self, k="auto", s=1.0, *, prior_weight="auto", feature_weights="auto"):
        store_parameters(self, locals())

    def _fit(self, X, Y, label_weight):
        warn_of_data(X, type(self).__name__)
        n, n_labels = Y.shape
        self.feature_weights_ = weigh_features(X, Y, label_weight) if self.feature_weights else None
        self.k_ = (10 if self.feature_weights_ is None else 20) if self.k == "auto" else self.k
        self._check_k(n)
        weight = np.ones(Y.shape) if label_weight is None else label_weight
        self._positive = weight * Y
        self._weight = label_weight
        self._rows = X = weigh_rows(X, self.feature_weights_)
        self.label_counts_ = np.stack([(weight * ~Y).sum(axis=0), self._positive.sum(axis=0)])
        below, share, informed = self._count_positive(nearest_rows(X, X, self.k_, np.arange(n))[1])
        counted = np.where(informed, weight, 0.0)
        cell = ((Y * n_labels + np.arange(n_labels)) * (self.k_ + 1) + below).ravel()
        size = 2 * n_labels * (self.k_ + 1)
        counts = np.bincount(cell, (counted * (1 - share)).ravel(), minlength=size)
        counts += np.bincount(cell + 1, (counted * share).ravel(), minlength=size)
        self.neighbour_counts_ = counts.reshape(2, n_labels, self.k_ + 1)
        self.prior_weight_ = self.prior_weight
        if self.prior_weight == "auto":
            rows = slice(None, None, -(-n // _JUDGED_ROWS))
            Y, weight = Y[rows], weight[rows]
            of_rows = (below[rows], share[rows], np.broadcast_to(informed, below.shape)[rows])
            scores = self._log_odds(*of_rows, own=np.stack([weight * ~Y, weight * Y]))
            self.prior_weight_ = 1.0 - ShrunkCalibration().fit(scores, Y, weight).share_

    def _scores(self, X):
        X = weigh_rows(X, self.feature_weights_)
        scores = self._log_odds(*self._count_positive(nearest_rows(X, self._rows, self.k_)[1]))
        if self.prior_weight_ > 0:
            against, in_favour = self.s + self.label_counts_
            scores += self.prior_weight_ * (np.log(in_favour / against) - scores)
        # F = ½ is predicted, so its score must be positive; but not for a label without any known pair.
        least = np.where(self.label_counts_.any(axis=0), 1.0, -1.0) * 4 * np.finfo(np.float64).eps
        return np.where(scores == 0, least, scores)

    def _log_odds(self, below, share, informed, own=(0.0, 0.0)):
        """Log-odds of the posterior; `own` is the weight of the pairs themselves, which are not counted."""
        labels, sides = np.arange(below.shape[1]), []
        # What a pair between two counts added to the interpolated value.
        twice = np.square(1 - share) + np.square(share)
        for rows, counts, mine in zip(self.label_counts_, self.neighbour_counts_, own, strict=True):
            alike = (1 - share) * counts[labels, below] + share * counts[labels, below + 1] - twice * mine
            parts = rows - mine, alike, counts.sum(axis=1) - mine
            sides.append([np.maximum(part, 0.0) for part in parts])
        (absent, absent_alike, absent_counted), (present, present_alike, present_counted) = sides
        # Products of counts, divided once, so that equal posteriors are equal and none saturates.
        all_counts = self.s * (self.k_ + 1)
        in_favour = (self.s + present_alike) * (all_counts + absent_counted)
        against = (self.s + absent_alike) * (all_counts + present_counted)
        in_favour = (self.s + present) * np.where(informed, in_favour, 1.0)
        against = (self.s + absent) * np.where(informed, against, 1.0)
        return np.log(in_favour / against)

    def _count_positive(self, index):
        """The number c of neighbours with each label, as c = below + share, and whether any has weight.

        `below` is an integer from 0 to k-1, `share` lies in [0, 1].
        """
        ends = np.arange(0, index.size + 1, self.k_)
        shape = (index.shape[0], self._positive.shape[0])
        chosen = sparse.csr_array((np.ones(index.size), index.ravel(), ends), shape=shape)
        carriers, informed = chosen @ self._positive, np.True_
        if self._weight is not None:
            weight = chosen @ self._weight
            informed = weight > 0
            carriers = np.divide(self.k_ * carriers, weight, out=np.zeros_like(weight), where=informed)
        below = np.clip(carriers.astype(np.intp), 0, self.k_ - 1)
        return below, np.minimum(carriers - below, 1.0), informed

    def _check_contents(self):
        """Refuse counts for another k."""
        self._check_parameters()
        self._check_k(self._positive.shape[0])
        if self.neighbour_counts_.shape[2] != self.k_ + 1:
            raise ValueError(f"the counts do not fit k = {self.k_}")

    def _check_k(self, n_samples):
        if self.k_ >= n_samples:
            raise UserError(
                f"k={self.k_} neighbours need at least {self.k_ + 1} training rows, but n_samples={n_samples}"
                ": give more rows, a smaller k (in Python) or another method."
            )
