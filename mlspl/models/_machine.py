"""Estimators whose machines are fitted in a space."""

import sys
from collections.abc import Callable
from copy import copy

import numpy as np
from joblib import effective_n_jobs

from mlspl._limits import Cost, FitSize
from mlspl.models._alternation import Coding
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._calibrated import OutOfFoldProbabilitiesMixin
from mlspl.models._class_weight import class_costs
from mlspl.models._cost_choice import choose_C
from mlspl.spaces import Gram, Linear, LinearModel, Model, Nystroem, Space, SpaceChoice, choose_space

__all__ = ["Machine", "SpaceMachine", "smaller_spaces", "tell_space"]


def smaller_spaces(estimator) -> dict[str, Callable]:
    """The spaces without a kernel matrix as settings of an estimator, and what a fit costs there."""
    settings = {}
    for space in ("nystroem", "linear"):
        other = copy(estimator)
        other.space = space
        settings[f"space={space!r}"] = other._cost
    return settings


def tell_space(estimator, choice: SpaceChoice) -> str:
    """Which space was taken and why; also on standard error, of an estimator that is to be verbose."""
    if getattr(estimator, "verbose", 0):
        print(f"{type(estimator).__name__}: {choice.reason}.", file=sys.stderr)
    return choice.reason


class Machine(OutOfFoldProbabilitiesMixin, MultiLabelClassifier):
    """Base of the estimators with ``kernel``, ``gamma``, ``degree`` and ``coef0``.

    A subclass's ``_fit`` leaves in ``model_`` what scores new rows.
    """

    _contents = {"model_": Model}

    def _choose_space(self, size) -> SpaceChoice:
        """Where machines of this size are fitted."""
        return SpaceChoice(self._gram(), "gram space")

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

    def _row_copies(self) -> float:
        """How many copies of the rows, as their space keeps them, a fit holds beside them."""
        return 0.0

    def _cost(self, size):
        machines = self._choose_space(size).space.cost(size, self._row_copies())
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


class SpaceMachine(Machine):
    """Base of the machines with ``space``, ``loss``, ``n_landmarks`` and ``random_state`` besides.

    A subclass's ``_fit`` takes its space from ``_take_space``, which says in ``space_`` which it is and why,
    and in ``C_`` at what cost. ``_gram_C`` is what the C of "auto" is on a kernel matrix.
    """

    _contents = {"space_": "text", "C_": "float"}
    _gram_C = 1.0
    _float_types = [np.float64, np.float32]

    def _choose_space(self, size) -> SpaceChoice:
        return choose_space(self.space, self.loss, size, self._gram(), self.n_landmarks, self.random_state)

    def _coding(self, space) -> Coding | None:
        """How the codes are made that the machines see, if they see any."""
        return None

    def _folds(self, Y) -> list | None:
        """The folds in which codes are cross-fitted, if they are."""
        return None

    def _smaller_settings(self):
        return {} if self.kernel == "precomputed" else smaller_spaces(self)

    def _take_space(self, X, Y, label_weight) -> Space:
        choice = self._choose_space(FitSize.of(X, Y))
        self.space_ = tell_space(self, choice)
        if self.C != "auto":
            self.C_ = self.C
        elif isinstance(choice.space, Linear | Nystroem):
            coding = self._coding(choice.space)
            self.C_ = choose_C(choice.space, X, Y, label_weight, self._class_costs, self._folds, coding)
        else:
            self.C_ = self._gram_C
        return choice.space

    @property
    def coef_(self):
        """Weights (n_labels, n_features), in a linear space."""
        if not isinstance(self.model_, LinearModel):
            raise AttributeError("coef_ is there in a linear space only.")
        return self.model_.coef
