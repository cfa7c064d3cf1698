"""MLSPL with everything it needs to be told chosen by cross-validation: the pace above all."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np
from joblib import effective_n_jobs

from mlspl import pacing
from mlspl.metrics import get_criterion
from mlspl.model_selection import (
    AnchoredCalibration,
    IterativeStratification,
    get_calibration,
    get_threshold,
)
from mlspl.models.alternation import Alternation
from mlspl.models.base import MultiLabelClassifier
from mlspl.models.class_weight import class_costs
from mlspl.models.decision import choose_decision, judge
from mlspl.models.kernels import kernel_matrix, resolve_gamma
from mlspl.models.limits import FLOAT, Cost
from mlspl.models.mlspl import MLSPLClassifier
from mlspl.models.progress import CallbackSupportMixin, fit_progress, with_callbacks

__all__ = ["MLSPLClassifierCV", "PathPoint"]


class PathPoint(NamedTuple):
    """A point of a pace path; with a target of 1 every pair is in play and the other two say nothing.

    Attributes
    ----------
    pace_function : str
        Name of the self-paced function.
    per : {"label", "class"}
        Whose losses the quantile is taken of.
    target : float
        The quantile.
    """

    pace_function: str | None
    per: str | None
    target: float


UNPACED = PathPoint(None, None, 1.0)


class MLSPLClassifierCV(CallbackSupportMixin, MultiLabelClassifier):
    """Self-paced multi-label learning whose pace is a path, from few pairs to all of them.

    Whether pacing pays, and how much of it, depends on how noisy the labels are, which nobody knows
    beforehand. So the pace is treated as a path whose last point is the unpaced model. For every setting of
    C, γ and class balance, cross-fitted codes and out-of-fold losses are computed once; every point of the
    path weighs the pairs by these losses and fits the classifiers from the last point's solution. The
    setting and the point that do best on rows held out from all of this are taken; the unpaced end is left
    only for a point that is better by more than two standard errors of the difference between folds, for
    held-out labels are as noisy as the others. Then calibration and threshold rule are chosen on the same
    held-out scores, and one :class:`MLSPLClassifier` is fitted on all rows.

    Parameters
    ----------
    criterion : str, default="average_precision"
        Which of the five criteria decides.
    pace_functions : sequence of str, default=("gaussian", "huber")
        Self-paced functions to try.
    quantiles : sequence of float, default=(0.5, 0.7, 0.9)
        Points of each path: the share of each group's pairs whose loss lies below the pace. The unpaced end
        is always added.
    per : sequence of {"label", "class"}, default=("label", "class")
        Groups whose quantiles are tried.
    C : sequence of float, default=(0.5, 2.0, 8.0)
        Costs to try.
    gamma_factors : sequence of float, default=(0.25, 0.5, 1.0)
        Multiples of the "scale" rule to try as γ of the RBF kernel.
    class_weights : sequence of float, default=(0.0, 0.5)
        Exponents of the class balance to try.
    calibrations : sequence of str, default=("none", "platt")
        Calibrations to try.
    thresholds : sequence of str, default=("zero", "label", "count")
        Threshold rules to try.
    n_codes : int, default=15
        Number of prototypes.
    regressor : {"ridge", "svr"} or CodeRegressor, default="ridge"
        What predicts codes.
    cv : int, default=5
        Folds of the selection.
    tol : float, default=1e-3
        Tolerance of the SVMs.
    n_jobs : int, optional
        Threads over labels.
    random_state : int, RandomState or None, default=None
        Seeds folds and k-means.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    best_estimator_ : MLSPLClassifier
        Fitted on all rows with the chosen setting and pace.
    best_params_ : dict
        C, gamma, class_weight, pace_function, per, target, calibration and threshold.
    calibration_, threshold_ : calibration and threshold of :mod:`mlspl.model_selection`
        Fitted on the held-out scores.
    cv_results_ : list of dict
        For every setting and point the criterion in each fold.
    decisions_ : list of dict
        The calibrations and threshold rules tried, best first.
    label_weights_ : array (n_samples, n_labels)
        Weights at the chosen point.

    Examples
    --------
    >>> from mlspl import MLSPLClassifierCV, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifierCV(C=(1.0,), gamma_factors=(1.0,), random_state=0)
    >>> model.fit(digits.X[:150], digits.Y[:150]).best_params_["C"]
    1.0
    """

    def __init__(
        self,
        criterion="average_precision",
        pace_functions=("gaussian", "huber"),
        quantiles=(0.5, 0.7, 0.9),
        per=("label", "class"),
        C=(0.5, 2.0, 8.0),
        gamma_factors=(0.25, 0.5, 1.0),
        class_weights=(0.0, 0.5),
        calibrations=("none", "platt"),
        thresholds=("zero", "label", "count"),
        n_codes=15,
        regressor="ridge",
        cv=5,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.criterion = criterion
        self.pace_functions = pace_functions
        self.quantiles = quantiles
        self.per = per
        self.C = C
        self.gamma_factors = gamma_factors
        self.class_weights = class_weights
        self.calibrations = calibrations
        self.thresholds = thresholds
        self.n_codes = n_codes
        self.regressor = regressor
        self.cv = cv
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    fit = with_callbacks(MultiLabelClassifier.fit)

    def plot_path(self, ax=None):
        """Draw the criterion along the pace, for the chosen C, γ and class balance.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        from matplotlib import pyplot as plt

        ax = plt.figure(layout="constrained").subplots() if ax is None else ax
        chosen = {name: self.best_params_[name] for name in ("C", "gamma", "class_weight")}
        rows = [row for row in self.cv_results_ if chosen.items() <= row.items()]
        (end,) = (row for row in rows if row["target"] == 1.0)
        for function, per in product(self.pace_functions, self.per):
            line = [r for r in rows if (r["pace_function"], r["per"]) == (function, per)] + [end]
            errors = [np.std(r["folds"], ddof=1) / np.sqrt(len(r["folds"])) for r in line]
            label = f"{function}, per {per}"
            ax.errorbar(
                [r["target"] for r in line],
                [r["mean"] for r in line],
                errors,
                marker="o",
                capsize=2,
                label=label,
            )
        ax.axhline(end["mean"], color="0.5", linestyle=":", label="unpaced")
        ax.axvline(self.best_params_["target"], color="0.8", zorder=0)
        ax.set(xlabel="quantile of the losses that sets the pace", ylabel=self.criterion.replace("_", " "))
        ax.legend(frameon=False)
        return ax

    def _cost(self, size):
        """The kernel of all rows and four of the rows of a fold, or the last fit; every point costs anew."""
        matrices = max(3.2, 1.0 + 4.2 * (1.0 - 1.0 / self.cv) ** 2)
        tables = 18 * size.rows * size.labels
        fits = len(self.gamma_factors) * self.cv * (4 + len(self._settings()) * len(self._path()))
        return Cost(
            super()._cost(size).bytes + FLOAT * (matrices * size.rows**2 + tables),
            2e-10 * fits * size.rows**2.5 * size.labels,
        )

    def _fit(self, X, Y, label_weight):
        n, n_labels = Y.shape
        if n < 4:
            raise ValueError(f"Choosing the pace needs at least 4 rows to fold, but n_samples={n}.")
        # One label alone cannot be ranked; then only the labels themselves can be judged.
        self._criterion = get_criterion(self.criterion if n_labels > 1 else "hamming_loss")
        scale = resolve_gamma("scale", X)
        gammas = [float(factor) * scale for factor in self.gamma_factors]
        folds = self._split(Y, self.cv)
        self.cv_results_ = []
        with fit_progress(self, len(gammas) * len(folds), X, Y) as report:
            for gamma in gammas:
                found: dict[Any, list[float]] = {}
                K = kernel_matrix(X, X, "rbf", gamma=gamma)
                for train, test in folds:
                    tried = self._held_out(K, Y, label_weight, train, test, self._settings(), self._path())
                    for key, scores in tried:
                        found.setdefault(key, []).append(judge(self._criterion, Y[test], scores, scores > 0))
                    report(f"gamma {gamma:.2g}")
                self.cv_results_ += [_result(gamma, key, values) for key, values in found.items()]
        best = self._choose()
        scores = np.empty(Y.shape)
        K = kernel_matrix(X, X, "rbf", gamma=best["gamma"])
        point = PathPoint(best["pace_function"], best["per"], best["target"])
        for train, test in folds:
            setting = [(best["C"], best["class_weight"])]
            ((_, scores[test]),) = self._held_out(K, Y, label_weight, train, test, setting, [point])
        del K
        thresholds = self.thresholds if n_labels > 1 else ("zero",)
        self.decisions_ = choose_decision(
            scores, Y, label_weight, folds, self._criterion, self.calibrations, thresholds
        )
        decision = self.decisions_[0]
        names = ("C", "gamma", "class_weight", "pace_function", "per", "target")
        self.best_params_ = {name: best[name] for name in names} | {
            name: decision[name] for name in ("calibration", "threshold")
        }
        self.best_score_ = best["mean"]
        self.calibration_ = get_calibration(decision["calibration"]).fit(scores, Y, label_weight)
        self.threshold_ = get_threshold(decision["threshold"])
        scores = self.calibration_.log_odds(scores)
        self.threshold_.fit(scores, Y, label_weight)
        self._probability = AnchoredCalibration().fit(scores, Y, label_weight)
        self.best_estimator_ = self._estimator(best).fit(X, Y.astype(np.int8), label_weight)
        self.label_weights_ = self.best_estimator_.label_weights_
        self.history_ = self.best_estimator_.history_

    def _split(self, Y, n_folds):
        n_folds = min(n_folds, len(Y))
        return list(IterativeStratification(n_folds, random_state=self.random_state).split(Y, Y))

    def _settings(self) -> list:
        return list(product(self.C, self.class_weights))

    def _path(self) -> list[PathPoint]:
        """All points: the unpaced end first, then each path from its gentlest point on."""
        paths = product(self.pace_functions, self.per, sorted(self.quantiles, reverse=True))
        return [UNPACED, *(PathPoint(*point) for point in paths)]

    def _held_out(self, K, Y, label_weight, train, test, settings, path):
        """Yield ((setting, point), scores of the test rows) of models that saw only the training rows."""
        weight = None if label_weight is None else label_weight[train]
        state = Alternation(
            np.ascontiguousarray(K[np.ix_(train, train)]),
            Y[train],
            np.ones((len(train), Y.shape[1])),
            C=1.0,
            beta=MLSPLClassifier().beta,
            n_codes=self.n_codes,
            regressor=self.regressor,
            folds=self._split(Y[train], MLSPLClassifier().n_folds),
            solver="auto",
            tol=self.tol,
            n_threads=effective_n_jobs(self.n_jobs),
            random_state=self.random_state,
        )
        K_test = K[np.ix_(test, train)]
        everything = np.ones((len(train), Y.shape[1]))
        for setting in settings:
            state.C = setting[0]
            state.prior = class_costs(Y[train], setting[1], weight)
            losses = state.losses(everything)
            for point in path:
                state.fit_classifiers(_weights(point, losses, Y[train]))
                coef, intercept = state.expansion()
                yield (setting, point), K_test @ coef.T + intercept

    def _choose(self) -> dict[str, Any]:
        """The best row of the results, or the best unpaced one if that is no worse than chance has it."""
        sign = 1.0 if self._criterion.greater_is_better else -1.0
        ranked = [r for r in self.cv_results_ if np.isfinite(r["mean"])] or self.cv_results_
        best = max(ranked, key=lambda row: sign * row["mean"])
        unpaced = max((r for r in ranked if r["target"] == 1.0), key=lambda row: sign * row["mean"])
        gain = sign * (np.array(best["folds"]) - np.array(unpaced["folds"]))
        certain = gain.mean() > 2.0 * gain.std(ddof=1) / np.sqrt(len(gain))
        return best if certain else unpaced

    def _estimator(self, chosen) -> MLSPLClassifier:
        target = chosen["target"]
        return MLSPLClassifier(
            chosen["pace_function"],
            schedule=pacing.QuantilePace(target, target, 1, per=chosen["per"] or "class"),
            n_codes=self.n_codes,
            C=chosen["C"],
            regressor=self.regressor,
            gamma=chosen["gamma"],
            class_weight=chosen["class_weight"],
            tol=self.tol,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        )

    def _scores(self, X):
        return self.calibration_.log_odds(self.best_estimator_.decision_function(X))

    def _labels(self, X, scores):
        return self.threshold_.apply(scores)

    def _probabilities(self, X, scores):
        return self._probability.transform(scores)


def _weights(point, losses, Y) -> np.ndarray:
    """Weights of all pairs at a point of the path."""
    if point == UNPACED:
        return np.ones(losses.shape)
    schedule = pacing.QuantilePace(point.target, point.target, 1, per=point.per)
    return pacing.get(point.pace_function).weight(losses, schedule.pace(point.target, losses, Y))


def _result(gamma, key, folds) -> dict[str, Any]:
    (C, class_weight), point = key
    setting = {"gamma": gamma, "C": C, "class_weight": class_weight}
    return {**setting, **point._asdict(), "mean": float(np.mean(folds)), "folds": [float(v) for v in folds]}
