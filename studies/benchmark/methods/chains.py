"""An ensemble of classifier chains of logistic regressions, in random orders."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.multioutput import ClassifierChain

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


class ChainEnsemble(BaseEstimator):
    """Chains of logistic regressions, each in an order of its own; their mean probability.

    Parameters
    ----------
    C : float
        Inverse of the regularisation.
    n_chains : int
        How many.
    random_state : int
        Seeds the orders.
    """

    def __init__(self, C=1.0, n_chains=3, random_state=0):
        self.C = C
        self.n_chains = n_chains
        self.random_state = random_state

    def fit(self, X, Y):
        """Fit the chains on the labels that differ between rows."""
        self.share_ = Y.mean(axis=0)
        self.varied_ = (self.share_ > 0) & (self.share_ < 1)
        link = LogisticRegression(C=self.C, solver="liblinear", class_weight="balanced")
        self.chains_ = [
            ClassifierChain(link, order="random", random_state=self.random_state + chain).fit(
                X, Y[:, self.varied_]
            )
            for chain in range(self.n_chains if self.varied_.any() else 0)
        ]
        return self

    def predict_proba(self, X):
        """Probabilities of shape (n, L)."""
        shares = np.tile(self.share_, (X.shape[0], 1))
        if self.chains_:
            shares[:, self.varied_] = np.mean([chain.predict_proba(X) for chain in self.chains_], axis=0)
        return shares


def build(**parameters):
    """Return the estimator of these parameters."""
    return AllLabels(ChainEnsemble(**parameters))


METHOD = Method("ecc", "ECC", build, {"n_chains": 3}, {"C": [0.01, 0.1, 1.0]})
