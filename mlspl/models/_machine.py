"""Estimators whose machines are fitted in a space."""

from joblib import effective_n_jobs

from mlspl._limits import Cost
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._calibrated import OutOfFoldProbabilitiesMixin
from mlspl.models._class_weight import class_costs
from mlspl.spaces import Gram, Model, Space

__all__ = ["Machine"]


class Machine(OutOfFoldProbabilitiesMixin, MultiLabelClassifier):
    """Base of the estimators with ``kernel``, ``gamma``, ``degree`` and ``coef0``.

    A subclass's ``_fit`` places X in ``_space()`` and leaves in ``model_`` what scores new rows.
    """

    _contents = {"model_": Model}

    def _space(self) -> Space:
        """Where the machines are fitted, from the estimator's parameters."""
        return self._gram()

    def _gram(self) -> Gram:
        return Gram(
            self.kernel,
            self.gamma,
            self.degree,
            self.coef0,
            solver=getattr(self, "solver", "auto"),
            tol=self.tol,
            n_threads=effective_n_jobs(getattr(self, "n_jobs", 1)),
        )

    def _class_costs(self, Y, label_weight):
        """Cost of every pair (n, L), in units of C."""
        classes = (0, 1) if self._multilabel else self.classes_
        return class_costs(Y, self.class_weight, label_weight, classes)

    def _cost(self, size):
        machines = self._space().cost(size)
        return Cost(super()._cost(size).bytes + machines.bytes, machines.seconds)

    def _scores(self, X):
        return self.model_.scores(X)

    @property
    def dual_coef_(self):
        """Signed dual coefficients (n_labels, n_support) of the rows that support any label."""
        return self.model_.coef

    @property
    def intercept_(self):
        """The biases (n_labels,)."""
        return self.model_.intercept

    @property
    def support_(self):
        """Which training rows have a coefficient."""
        return self.model_.support

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
