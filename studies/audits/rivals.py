"""Methods that the audit is compared with; each scores every pair, higher where it suspects an error."""

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
    """Return out-of-fold P(given = 1) (n, L) of a logistic regression per label."""
    X = StandardScaler(with_mean=not sparse.issparse(X)).fit_transform(X)
    probabilities = np.empty(Y.shape)
    for label, y in enumerate(Y.T):
        if min(y.sum(), len(y) - y.sum()) < FOLDS:
            probabilities[:, label] = y.mean()
            continue
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
        found = cross_val_predict(LogisticRegression(max_iter=300), X, y, cv=folds, method="predict_proba")
        probabilities[:, label] = found[:, 1]
    return probabilities


def rank_by_cleanlab(Y, probabilities, adjusted=False):
    """Return 1 − cleanlab's quality score of each label: self-confidence, adjusted for the classes or not."""
    scores = [
        1 - get_label_quality_scores(y.astype(int), np.column_stack([1 - p, p]), adjust_pred_probs=adjusted)
        if not adjusted or 0 < y.sum() < len(y)
        else np.zeros(len(y))
        for y, p in zip(Y.T, probabilities.T, strict=True)
    ]
    return np.column_stack(scores)


def confident_rates(Y, probabilities):
    """Return P(given 0 | true 1) and P(given 1 | true 0) by confident learning, two arrays (L,)."""
    lost, false = np.zeros(Y.shape[1]), np.zeros(Y.shape[1])
    for label, (y, p) in enumerate(zip(Y.T.astype(int), probabilities.T, strict=True)):
        if y.min() == y.max():
            continue
        joint = compute_confident_joint(y, np.column_stack([1 - p, p]))
        lost[label], false[label] = joint[0, 1] / joint[:, 1].sum(), joint[1, 0] / joint[:, 0].sum()
    return lost, false


def disagree_neighbours(X, Y):
    """Return the share of the nearest rows (cosine if sparse, Euclidean on z-scores) with the other label."""
    metric = "cosine" if sparse.issparse(X) else "euclidean"
    X = X if sparse.issparse(X) else StandardScaler().fit_transform(X)
    near = NearestNeighbors(n_neighbors=NEIGHBOURS, metric=metric).fit(X).kneighbors(return_distance=False)
    share = Y[near].mean(axis=1)
    return np.where(Y == 1, 1 - share, share)
