"""MLSPL with everything it needs to be told chosen by cross-validation: the pace above all."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from mlspl._limits import FLOAT, Cost, FitSize
from mlspl.metrics import get_criterion
from mlspl.model_selection import IterativeStratification
from mlspl.models._alternation import Alternation, Coding
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._pace_path import PathPoint, PathStep, Setting, list_points, walk_paths
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks
from mlspl.models.tuned_decision import DecisionMixin, judge, judge_of, known_labels
from mlspl.pacing import Trace
from mlspl.spaces import Gram, Linear, Model, Space, SpaceChoice, choose_space, resolve_gamma

__all__ = ["MLSPLClassifierCV"]

_CODE_FOLDS = 3  # of the cross-fitted codes and losses, as in MLSPLClassifier


class MLSPLClassifierCV(CallbackSupportMixin, DecisionMixin, MultiLabelClassifier):
    """Self-paced multi-label learning whose pace is a path, from few pairs to all of them.

    Whether pacing pays, and how much of it, depends on how noisy the labels are, which nobody knows
    beforehand. So the pace is treated as a path whose last point is the unpaced model. For every setting of
    C, γ and class balance, cross-fitted codes and out-of-fold losses are computed once; every point of the
    path weighs the pairs by these losses and fits the classifiers from the last point's solution. Each is
    judged on rows held out from all of this. Held-out labels are few, and as noisy as the others, so the very
    best is partly a matter of luck: the best points of each of the best settings are taken, and their scores
    averaged. Then calibration and threshold rule are chosen on the averaged held-out scores, and the members
    are fitted on all rows.

    Parameters
    ----------
    criterion : str, default="average_precision"
        Which of the five criteria decides; Hamming loss does where no row has both present and absent labels
        to rank.
    pace_functions : sequence of str, default=("gaussian", "huber")
        Self-paced functions to try.
    quantiles : sequence of float, default=(0.5, 0.7, 0.9)
        Points of each path: the share of each group's pairs whose loss lies below the pace. The unpaced end
        is always added; with no quantile at all nothing is paced.
    per : sequence of {"label", "class", "negatives", "all"}, default=("label", "class", "negatives")
        Groups whose quantiles are tried; see :class:`mlspl.pacing.QuantilePace`.
    C : sequence of float, default=(0.125, 0.5, 2.0, 8.0)
        Costs to try.
    gamma_factors : sequence of float, default=(0.25, 0.5, 1.0)
        Multiples of the "scale" rule to try as γ of the RBF kernel.
    class_weights : sequence of float, default=(0.5,)
        Exponents of the class balance to try.
    n_settings, n_points : int, default=6 and 2
        How many of the settings, and points of each, are averaged; 1 and 1 is plain selection.
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
    space : {"auto", "gram", "linear", "nystroem"} or Space, default="auto"
        Where the machines are fitted: on a kernel matrix, on the features themselves, or on kernel values
        with landmarks. "auto" is the first up to 8,000 rows, then the second for a sparse X, the third for a
        dense.
    loss : {"auto", "hinge", "squared_hinge", "logistic"}, default="auto"
        What the machines minimise and what paces. "auto" is the hinge, the paper's, on a kernel matrix, which
        has no other, and logistic elsewhere.
    n_landmarks : "auto" or int, default="auto"
        Landmarks of the space "nystroem"; "auto" is 2,000, or as many as memory allows.

    Attributes
    ----------
    space_ : str
        Which space was taken, and why.
    members_ : list of dict
        The models that are averaged, best first: C, gamma, class_weight, pace_function, per, target and the
        criterion on held-out rows (mean, folds).
    criterion_ : str
        Name of what decided.
    best_params_ : dict
        C, gamma, class_weight, pace_function, per and target of the first member, and the calibration and the
        threshold of all.
    best_score_ : float
        The criterion of the first member on held-out rows.
    calibration_, threshold_ : calibration and threshold of :mod:`mlspl.model_selection`
        Fitted on the held-out scores.
    cv_results_ : list of dict
        As `members_`, of every setting and point.
    decisions_ : list of dict
        The calibrations and threshold rules tried, best first.
    label_weights_ : array (n_samples, n_labels)
        Weights of the pairs, the mean over the members.
    trace_ : Trace
        Of every pair at which of the members, from the smallest quantile to the largest, it entered, and its
        out-of-fold losses in their settings: see :class:`mlspl.pacing.Trace`.
    history_ : list of dict
        Of every member, in the same order, setting and pace, the mean loss and the mean weight.
    stop_reason_ : str
        "max_steps", or "callback" where one asked to try no further γ.

    Notes
    -----
    With S settings, P points and L labels, the selection fits S·P·cv·L SVMs with warm starts, on kernels that
    are computed once for each γ; memory is about three n×n matrices, in other spaces than Gram a few copies
    of the data. Prediction evaluates the kernel to all training rows once for each γ among the members.

    If `best_params_` has the largest or smallest of the values tried, try further ones: sparse text, for
    instance, often asks for a larger C than other data.

    Examples
    --------
    >>> from mlspl import MLSPLClassifierCV, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifierCV(C=(1.0,), gamma_factors=(1.0,), random_state=0)
    >>> model.fit(digits.X[:150], digits.Y[:150]).best_params_["C"]
    1.0
    """

    _contents = {
        "machines_": [Model],
        "space_": "text",
        "label_weights_": "float (rows, labels)",
        "trace_": Trace,
        "history_": "any",
        "stop_reason_": "text",
        "criterion_": "text",
        "cv_results_": "any",
        "members_": "any",
        "best_params_": "any",
        "best_score_": "float",
    }

    def __init__(
        self,
        criterion="average_precision",
        pace_functions=("gaussian", "huber"),
        quantiles=(0.5, 0.7, 0.9),
        per=("label", "class", "negatives"),
        C=(0.125, 0.5, 2.0, 8.0),
        gamma_factors=(0.25, 0.5, 1.0),
        class_weights=(0.5,),
        n_settings=6,
        n_points=2,
        calibrations=("none", "platt"),
        thresholds=("zero", "label", "count"),
        n_codes=15,
        regressor="ridge",
        cv=5,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
        loss="auto",
        n_landmarks="auto",
    ):
        self.criterion = criterion
        self.pace_functions = pace_functions
        self.quantiles = quantiles
        self.per = per
        self.C = C
        self.gamma_factors = gamma_factors
        self.class_weights = class_weights
        self.n_settings = n_settings
        self.n_points = n_points
        self.calibrations = calibrations
        self.thresholds = thresholds
        self.n_codes = n_codes
        self.regressor = regressor
        self.cv = cv
        self.tol = tol
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.space = space
        self.loss = loss
        self.n_landmarks = n_landmarks

    _float_types = [np.float64, np.float32]
    fit = with_callbacks(MultiLabelClassifier.fit)

    def plot_path(self, ax=None):
        """Draw what each pace gains over the unpaced end, for the best C, γ and class balance.

        The mean over the folds of the difference on the same held-out rows, with its standard error; above
        the line is better. Points that belong to the model are filled.

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
        criterion = get_criterion(self.criterion_)
        sign = 1.0 if criterion.greater_is_better else -1.0
        paths = list(product(self.pace_functions, self.per))
        for i, (function, per) in enumerate(paths):
            line = [row for row in rows if (row["pace_function"], row["per"]) == (function, per)]
            line.sort(key=lambda row: row["target"])
            gains = sign * np.array([np.subtract(row["folds"], end["folds"]) for row in line])
            aside = 0.012 * (i - (len(paths) - 1) / 2)  # lest error bars lie upon one another
            places = np.array([row["target"] for row in line]) + aside
            gains = gains[:, np.isfinite(end["folds"])]
            means, errors = gains.mean(axis=1), gains.std(axis=1, ddof=1) / np.sqrt(gains.shape[1])
            name = f"{function}, {'negatives' if per == 'negatives' else f'per {per}'}"
            drawn = ax.errorbar(places, means, errors, capsize=2, linewidth=1, elinewidth=1, label=name)
            taken = [row in self.members_ for row in line]
            colour = drawn.lines[0].get_color()
            faces = [colour if member else "white" for member in taken]
            ax.scatter(places, means, s=28, facecolors=faces, edgecolors=colour, zorder=3)
        ax.axhline(0.0, color="0.5", linestyle=":", label="unpaced")
        gain = f"gain in held-out {criterion.name.replace('_', ' ')}"
        ax.set(xlabel="quantile of the losses that sets the pace", ylabel=gain)
        ax.legend(frameon=False, fontsize="small", ncols=2)
        return ax

    def _cost(self, size):
        """The kernel of all rows and five of the rows of a fold, or the last fit; every point costs anew."""
        copies = max(2.8, 5.0 * (1.0 - 1.0 / max(self.cv, 2)) ** 2)
        machines = self._choose_space(size).space.cost(size, copies)
        fits = len(self.gamma_factors) * self.cv * (4 + sum(map(len, self._grid().values())))
        tables = FLOAT * 18 * size.rows * size.labels
        return Cost(super()._cost(size).bytes + machines.bytes + tables, 2 * fits * machines.seconds)

    def _fit(self, X, Y, label_weight):
        if len(Y) < 4:
            raise ValueError(f"Choosing the pace needs at least 4 rows to fold, but n_samples={len(Y)}.")
        criterion = judge_of(self.criterion, known_labels(Y, label_weight))
        self.criterion_ = criterion.name
        for name in ("n_settings", "n_points"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}; at least 1 must be taken.")
        for name in ("C", "gamma_factors", "class_weights"):
            if not len(getattr(self, name)):
                raise ValueError(f"{name} is empty; give at least one value to try.")
        choice = self._choose_space(FitSize.of(X, Y))
        self.space_ = choice.reason
        if self.verbose:
            print(f"{type(self).__name__}: {choice.reason}.")
        spaces = self._list_spaces(choice.space, X)
        folds = self._split(Y, self.cv)
        self.cv_results_ = []
        self.stop_reason_ = "max_steps"
        with fit_progress(self, len(spaces) * len(folds), X, Y) as report:
            for gamma in spaces:
                found, asked = self._judge_all(
                    spaces[gamma].place(X), gamma, Y, label_weight, folds, criterion, report
                )
                self.cv_results_ += found
                if asked:
                    self.stop_reason_ = "callback"
                    break
        self.members_ = self._choose(-1.0 if criterion.greater_is_better else 1.0)
        self.machines_ = []
        scores = np.zeros(Y.shape)
        learned: list[PathStep] = []
        for gamma in dict.fromkeys(member["gamma"] for member in self.members_):
            rows = spaces[gamma].place(X)
            itinerary = _itinerary(member for member in self.members_ if member["gamma"] == gamma)
            for train, test in folds:
                for _, held_out in self._held_out(rows, Y, label_weight, train, test, itinerary):
                    scores[test] += held_out / len(self.members_)
            learned += self._learn(rows, Y, label_weight, itinerary)
            del rows
        self._remember(learned, Y.shape, label_weight)
        self._decide(scores, Y, label_weight, folds, criterion)
        names = ("C", "gamma", "class_weight", "pace_function", "per", "target")
        self.best_params_ = {name: self.members_[0][name] for name in names} | {
            name: self.decisions_[0][name] for name in ("calibration", "threshold")
        }
        self.best_score_ = self.members_[0]["mean"]

    def _judge_all(self, rows, gamma, Y, label_weight, folds, criterion, report):
        """The criterion of every setting and point on the rows that each fold holds out, and whether to stop.

        It is NaN for a fold without a row to rank, and the mean is that of the others. Asked to stop, a γ is
        given up, unless it is the first.
        """
        truth = known_labels(Y, label_weight)
        found: dict[tuple[Setting, PathPoint], list[float]] = {}
        asked = False
        for train, test in folds:
            for step, scores in self._held_out(rows, Y, label_weight, train, test, self._grid()):
                value = judge(criterion, truth[test], scores, scores > 0)
                found.setdefault((step.setting, step.point), []).append(float(value))
            asked |= report("linear" if gamma is None else f"gamma {gamma:.2g}")
            if asked and self.cv_results_:
                return [], asked
        results = [
            {"gamma": gamma, **setting._asdict(), **point._asdict(), "mean": float(np.nanmean(v)), "folds": v}
            for (setting, point), v in found.items()
        ]
        return results, asked

    def _choose_space(self, size) -> SpaceChoice:
        gram = Gram("rbf", tol=self.tol, n_threads=effective_n_jobs(self.n_jobs))
        return choose_space(self.space, self.loss, size, gram, self.n_landmarks, self.random_state)

    def _list_spaces(self, space, X) -> dict[float | None, Space]:
        """The space at every γ; a linear one has none."""
        if isinstance(space, Linear):
            return {None: space}
        scale = resolve_gamma("scale", X)
        gammas = [float(factor) * scale for factor in self.gamma_factors]
        return {gamma: replace(space, gamma=gamma) for gamma in gammas}

    def _grid(self) -> dict[Setting, list[PathPoint]]:
        """All points in every setting of C and class balance."""
        points = list_points(self.pace_functions, self.per, self.quantiles)
        return {Setting(*setting): points for setting in product(self.C, self.class_weights)}

    def _held_out(self, rows, Y, label_weight, train, test, itinerary) -> Iterator[tuple[PathStep, Any]]:
        """Yield every step of the way over the training rows, and its scores of the test rows."""
        weight = None if label_weight is None else label_weight[train]
        inner, held_out = rows.split(train, test)
        for step in self._walk(inner, Y[train], weight, itinerary):
            yield step, held_out.scores(step.coef, step.intercept)

    def _choose(self, sign: float) -> list[dict[str, Any]]:
        """The best points of the best settings, best first; the sign makes less better.

        What is equal up to rounding goes in the order in which it was tried.
        """

        def badness(row):
            return round(sign * row["mean"], 9)

        settings: dict[tuple, list[dict[str, Any]]] = {}
        for row in sorted(self.cv_results_, key=badness):
            points = settings.setdefault((row["gamma"], row["C"], row["class_weight"]), [])
            if len(points) < self.n_points:
                points.append(row)
        best = sorted(settings.values(), key=lambda rows: round(np.mean([badness(row) for row in rows]), 9))
        return sorted((row for rows in best[: self.n_settings] for row in rows), key=badness)

    def _learn(self, rows, Y, label_weight, itinerary) -> list[PathStep]:
        """Fit the members of one γ on all rows; their mean is one model."""
        coef: Any = 0.0
        intercept = np.zeros(Y.shape[1])
        steps = []
        for step in self._walk(rows, Y, label_weight, itinerary, with_losses=True):
            coef = coef + step.coef / len(self.members_)
            intercept += step.intercept / len(self.members_)
            steps.append(step._replace(coef=np.empty(0), intercept=np.empty(0)))
        self.machines_.append(rows.keep(coef, intercept))
        return steps

    def _remember(self, steps, shape, label_weight) -> None:
        """Weights, trace and history of the members, in the order of their pace."""
        known = np.ones(shape, dtype=bool) if label_weight is None else label_weight > 0
        self.label_weights_ = sum(step.label_weights for step in steps) / len(steps)
        self.trace_ = Trace(shape)
        self.history_ = []
        for number, step in enumerate(sorted(steps, key=lambda step: step.point.target), start=1):
            self.trace_.add(step.losses, step.label_weights)
            self.history_.append(
                {
                    "step": number,
                    "pace": step.point.target,
                    "mean_loss": float(step.losses.mean(where=known)),
                    "mean_weight": float(step.label_weights.mean(where=known)),
                    **step.setting._asdict(),
                }
            )

    def _walk(self, rows, Y, label_weight, itinerary, *, with_losses=False) -> Iterator[PathStep]:
        coding = Coding(self.n_codes, regressor=self.regressor, random_state=self.random_state)
        learner = Alternation(rows, Y, coding, self._split(Y, _CODE_FOLDS))
        return walk_paths(learner, Y, label_weight, itinerary, with_losses=with_losses)

    def _split(self, Y, n_folds):
        n_folds = min(n_folds, len(Y))
        return list(IterativeStratification(n_folds, random_state=self.random_state).split(Y, Y))

    def _raw_scores(self, X):
        return sum(machine.scores(X) for machine in self.machines_)


def _itinerary(members) -> dict[Setting, list[PathPoint]]:
    """The points to visit in each setting to meet all members."""
    itinerary: dict[Setting, list[PathPoint]] = {}
    for member in members:
        point = PathPoint(*(member[name] for name in PathPoint._fields))
        itinerary.setdefault(Setting(member["C"], member["class_weight"]), []).append(point)
    return itinerary
