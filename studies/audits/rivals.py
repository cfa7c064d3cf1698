"""What the audit is measured against: each gives a score for every pair, higher where it suspects more."""

import numpy as np
from cleanlab.count import compute_confident_joint
from cleanlab.rank import get_label_quality_scores
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import StandardScaler

__all__ = ["confident_rates", "disagree_neighbours", "fit_logistic", "rank_by_cleanlab"]

NEIGHBOURS = 10
FOLDS = 5


def fit_logistic(X, Y, seed):
    """P(given = 1) (n, L) by a logistic regression per label: out of fold, and of its own training rows."""
    X = StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)
    outside, inside = np.empty(Y.shape), np.empty(Y.shape)
    for label, y in enumerate(Y.T):
        if min(y.sum(), len(y) - y.sum()) < FOLDS:
            outside[:, label] = inside[:, label] = y.mean()
            continue
        model = LogisticRegression(max_iter=300)
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        outside[:, label] = cross_val_predict(model, X, y, cv=folds, method="predict_proba")[:, 1]
        inside[:, label] = model.fit(X, y).predict_proba(X)[:, 1]
    return outside, inside


def rank_by_cleanlab(Y, probabilities):
    """1 − cleanlab's quality score of each label by its default method, self-confidence."""
    scores = [
        1 - get_label_quality_scores(y.astype(int), np.column_stack([1 - p, p]))
        for y, p in zip(Y.T, probabilities.T, strict=True)
    ]
    return np.column_stack(scores)


def confident_rates(Y, probabilities):
    """P(given 0 | true 1) and P(given 1 | true 0) of each label by confident learning, two arrays (L,)."""
    lost, false = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
    for label, (y, p) in enumerate(zip(Y.T.astype(int), probabilities.T, strict=True)):
        if y.min() == y.max():
            continue
        joint = compute_confident_joint(y, np.column_stack([1 - p, p]))
        lost[label], false[label] = joint[0, 1] / joint[:, 1].sum(), joint[1, 0] / joint[:, 0].sum()
    return lost, false


def disagree_neighbours(X, Y):
    """The share of the nearest rows (cosine of sparse rows, Euclidean on z-scores) with the other label."""
    metric = "cosine" if sparse.issparse(X) else "euclidean"
    X = X if sparse.issparse(X) else StandardScaler().fit_transform(X)
    near = NearestNeighbors(n_neighbors=NEIGHBOURS, metric=metric).fit(X).kneighbors(return_distance=False)
    share = Y[near].mean(axis=1)
    return np.where(Y == 1, 1 - share, share)
