"""MLSPL with everything it needs to be told chosen by cross-validation: families, settings and paces."""

from copy import copy
from itertools import product
from typing import Any

import numpy as np
from joblib import effective_n_jobs

from mlspl._limits import FLOAT, Cost, FitSize
from mlspl.errors import UserError
from mlspl.model_selection import get_calibration
from mlspl.models._alternation import Coding
from mlspl.models._base import MultiLabelClassifier
from mlspl.models._budgets import BUDGETS
from mlspl.models._families import Family, FamilyModel, blend, drop_families, judge_candidates
from mlspl.models._family_search import recall_visits, search_families
from mlspl.models._forest_family import ForestFamily
from mlspl.models._kernel_family import KernelFamily, split_rows
from mlspl.models._machine import smaller_spaces, tell_space
from mlspl.models._pace_path import Setting, list_points
from mlspl.models._progress import CallbackSupportMixin, fit_progress, with_callbacks
from mlspl.models.path_display import PacePathDisplay
from mlspl.models.self_paced_forest import SelfPacedForestClassifier
from mlspl.models.tuned_decision import DecisionMixin, judge_of, known_labels
from mlspl.pacing import Trace
from mlspl.spaces import Gram, SpaceChoice, choose_space

__all__ = ["MLSPLClassifierCV"]

_FAMILIES = ("kernel", "forest", "linear")
_JUDGED = ("weight", "mean", "folds")


class MLSPLClassifierCV(CallbackSupportMixin, DecisionMixin, MultiLabelClassifier):
    """Self-paced multi-label learning by several families of learners, each along a path of paces.

    Whether pacing pays, and how much of it, depends on how noisy the labels are, which nobody knows
    beforehand. So the pace is a path from few pairs to all of them, whose last point is the unpaced model.
    There are two families: kernel machines with cross-fitted codes, for which C, γ and class balance are
    tried, and forests, for which the size of leaves is; half of the trees also see what the others say of all
    labels. Every setting and every point of its path is judged on rows held out from all of it.

    Held-out labels are few, and as noisy as the others: measured on development data, weights of families, a
    point of the forests' path or a greedy selection chosen by them were chosen by their noise in part, and
    lost to plain means. So the best points of the best settings of the kernel are averaged, and all points of
    the forests' path, and then the log-odds of both families: unpaced models keep it level where labels are
    right, paced ones hold it up where they are wrong. Only unpaced forests whose held-out log loss is smaller
    by more than a standard error go without the paced ones, and only a family that alone beats the mean by
    more than two stands alone. A threshold rule is chosen on the mean's held-out scores.

    Parameters
    ----------
    criterion : str or scikit-learn scorer, default="average_precision"
        What decides: any name of :data:`mlspl.metrics.CRITERIA`, or a scorer. Hamming loss decides in its
        place where no row has both present and absent labels to rank.
    families : sequence of {"kernel", "forest", "linear"}, default=("kernel", "forest")
        The families to average: machines in `space`, forests, and machines on the features themselves.
    budget : {"fast", "default", "thorough"}, default="default"
        How much to try: sets whatever of `quantiles`, `per`, `C`, `gamma_factors`, `n_settings`,
        `n_estimators`, `min_samples_leaf` and `cv` is None.
    pace_functions : sequence of str, default=("gaussian",)
        Self-paced functions, each with its paths.
    quantiles : sequence of float, optional
        Points of each path: the share of each group's pairs whose loss lies below the pace; by default .5
        and .7. The unpaced end is always added; with no quantile at all nothing is paced.
    per : sequence of {"label", "class", "negatives", "all"}, optional
        Groups whose quantiles are taken, by default "class" and "negatives"; see
        :class:`mlspl.pacing.QuantilePace`.
    C : sequence of float, optional
        Costs of the kernel machines to try, by default from .125 to 8; in a linear space from .125 to 8 over
        the mean squared length of a row.
    gamma_factors : sequence of float, optional
        Multiples of the "scale" rule to try as γ of the RBF kernel, by default .25, .5 and 1.
    class_weights : sequence of float, default=(0.5,)
        Exponents of the class balance of the kernel machines to try.
    n_settings : int, optional
        How many of the kernel's settings are averaged, by default 6.
    n_points : int or None, default=2
        How many points of the path of each of these settings are averaged, the best first; None for all. Of
        the forests' path, which has one setting, all are.
    n_estimators : int, optional
        Trees a label, by default 1,000, or 1,000,000/n for more than 1,000 rows, at least 400. Half of them
        see the labels; of each half, half are unpaced, and the paced points of the path share the others. In
        a fold half as many.
    min_samples_leaf : sequence of int, optional
        Smallest numbers of rows in a leaf to try, by default 1, 2 and 5: the log loss out of bag decides.
    calibrations : sequence of str, default=("shrunk",)
        Calibrations to try. The mean of the families is on the scale of log-odds already; "shrunk" draws it
        towards the labels' frequencies as far as held-out rows ask for it. A sigmoid per label ("platt")
        follows the errors of noisy labels.
    thresholds : sequence of str, default=("zero", "label", "count")
        Threshold rules to try.
    n_codes : int, default=15
        Number of prototypes.
    regressor : {"ridge", "svr"} or CodeRegressor, default="ridge"
        What predicts codes.
    cv : int, optional
        Folds of the selection, by default 5.
    tol : float, default=1e-3
        Tolerance of the SVMs.
    n_jobs : int, optional
        Threads over labels and trees.
    random_state : int, RandomState or None, default=None
        Seeds folds, k-means and trees.
    verbose : int, default=0
        1 shows a progress bar.
    space : {"auto", "gram", "linear", "nystroem"} or Space, default="auto"
        Where the kernel's machines are fitted: on a kernel matrix, on the features themselves, or on kernel
        values with landmarks. "auto" is the first up to 8,000 rows, then the second for a sparse X, the third
        for a dense.
    loss : {"auto", "hinge", "squared_hinge", "logistic"}, default="auto"
        What the machines minimise and what paces. "auto" is the hinge, the paper's, on a kernel matrix, which
        has no other, and logistic elsewhere.
    n_landmarks : "auto" or int, default="auto"
        Landmarks of the space "nystroem"; "auto" is 1,400 less the features, or what memory allows.

    Attributes
    ----------
    space_ : str or None
        Which space the family "kernel" took, and why.
    members_ : list of dict
        The models that are averaged, best first: family, weight in the mean, settings (gamma, C and
        class_weight, or min_samples_leaf and sees_labels), pace_function, per, target, and the criterion on
        held-out rows (mean, folds).
    criterion_ : str
        Name of what decided.
    best_params_ : dict
        Family, settings, pace_function, per and target of the first member, and the calibration and the
        threshold of all.
    best_score_ : float
        The criterion of the first member on held-out rows.
    calibration_, threshold_ : calibration and threshold of :mod:`mlspl.model_selection`
        Fitted on the held-out scores.
    cv_results_ : list of dict
        As `members_`, of every setting and point; weight 0 for those not taken.
    decisions_ : list of dict
        The calibrations and threshold rules tried, best first.
    families_ : list of FamilyModel
        The fitted models of each family.
    label_weights_ : array (n_samples, n_labels)
        Weights of the pairs, the mean over the members.
    trace_ : Trace
        Of every pair at which of the first family's members, from the smallest quantile to the largest, it
        entered, and its losses in their settings: see :class:`mlspl.pacing.Trace`.
    history_ : list of dict
        Of every member, in the same order, family, setting and pace, the mean loss and the mean weight.
    stop_reason_ : str
        "max_steps"; "callback" or "interrupted" where a callback or Ctrl-C ended the search, and what was
        finished by then is used.

    Notes
    -----
    With S settings, P points and L labels, the search fits S·P·cv·L SVMs with warm starts, on kernels that
    are computed once for each γ, and P·cv·L forests; memory is about three n×n matrices and the held-out
    scores, S·P·n·L numbers. Prediction evaluates the kernel to all training rows once for each γ among the
    members.

    If `best_params_` has the largest or smallest C of those tried, try further ones: sparse text, for
    instance, often asks for a larger C than other data.

    Examples
    --------
    >>> from mlspl import MLSPLClassifierCV, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifierCV(budget="fast", C=(1.0,), random_state=0).fit(digits.X[:150], digits.Y[:150])
    >>> sorted({member["family"] for member in model.members_})
    ['forest', 'kernel']
    """

    _contents = {
        "families_": [FamilyModel],
        "space_": "text?",
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
        families=("kernel", "forest"),
        budget="default",
        pace_functions=("gaussian",),
        quantiles=None,
        per=None,
        C=None,
        gamma_factors=None,
        class_weights=(0.5,),
        n_settings=None,
        n_points=2,
        n_estimators=None,
        min_samples_leaf=None,
        calibrations=("shrunk",),
        thresholds=("zero", "label", "count"),
        n_codes=15,
        regressor="ridge",
        cv=None,
        tol=1e-3,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
        loss="auto",
        n_landmarks="auto",
    ):
        self.criterion = criterion
        self.families = families
        self.budget = budget
        self.pace_functions = pace_functions
        self.quantiles = quantiles
        self.per = per
        self.C = C
        self.gamma_factors = gamma_factors
        self.class_weights = class_weights
        self.n_settings = n_settings
        self.n_points = n_points
        self.n_estimators = n_estimators
        self.min_samples_leaf = min_samples_leaf
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
        """Draw what each pace gains over the unpaced end: the Axes of a :class:`PacePathDisplay`.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        return PacePathDisplay.from_estimator(self, ax).ax_

    def _fit(self, X, Y, label_weight):
        if len(Y) < 4:
            raise ValueError(f"Choosing the pace needs at least 4 rows to fold, but n_samples={len(Y)}.")
        criterion = judge_of(self.criterion, known_labels(Y, label_weight))
        self.criterion_ = criterion.name
        given = self._given()
        folds = split_rows(Y, given["cv"], self.random_state)
        families = self._make_families(given, X, FitSize.of(X, Y))
        with fit_progress(self, sum(family.n_reports for family in families), X, Y) as report:
            found, self.stop_reason_ = search_families(families, X, Y, label_weight, folds, report)
        truth = known_labels(Y, label_weight)
        sign = -1.0 if criterion.greater_is_better else 1.0
        judged, odds, scales = [], [], []
        for family, candidates in found:
            rows = judge_candidates(candidates, family.cut, truth, folds, criterion)
            taken = family.choose(candidates, [sign * row["mean"] for row in rows], Y, label_weight)
            members = [candidates[i] for i in taken]
            weights = family.weigh(members)
            held_out = family.scores(sum(w * m.held_out for w, m in zip(weights, members, strict=True)))
            scale = get_calibration(family.calibration if len(found) > 1 else "none")
            scales.append(scale.fit(held_out, Y, label_weight))
            odds.append(scale.log_odds(held_out))
            judged.append((rows, members, dict(zip(taken, weights.tolist(), strict=True))))
        kept = drop_families(odds, criterion, truth, folds, sign)
        self.families_, self.cv_results_ = [], []
        visits = []
        for number, ((family, _), (rows, members, weight_of)) in enumerate(zip(found, judged, strict=True)):
            share = 1.0 / len(kept) if number in kept else 0.0
            self.cv_results_ += [
                {"family": family.name, "weight": share * weight_of.get(i, 0.0), **row}
                for i, row in enumerate(rows)
            ]
            if number in kept:
                learned = family.learn(X, Y, label_weight, members)
                self.families_.append(FamilyModel(family.name, learned.models, scales[number]))
                visits.append((family, learned.visits))
        known = np.ones(Y.shape, dtype=bool) if label_weight is None else label_weight > 0
        self.label_weights_, self.trace_, self.history_ = recall_visits(visits, known)
        self._decide(blend([odds[number] for number in kept]), Y, label_weight, folds, criterion)
        self.members_ = sorted(
            (row for row in self.cv_results_ if row["weight"] > 0),
            key=lambda row: round(sign * row["mean"], 9),
        )
        described = {name: part for name, part in self.members_[0].items() if name not in _JUDGED}
        self.best_params_ = described | {
            name: self.decisions_[0][name] for name in ("calibration", "threshold")
        }
        self.best_score_ = self.members_[0]["mean"]

    def _given(self) -> dict[str, Any]:
        """The parameters that the budget may set."""
        given = {
            name: default if getattr(self, name) is None else getattr(self, name)
            for name, default in BUDGETS[self.budget].items()
        }
        if not len(self.families) or not set(self.families) <= set(_FAMILIES):
            names = ", ".join(map(repr, _FAMILIES))
            raise UserError(f"families is {self.families!r}; give some of {names}, in a tuple.")
        return given

    def _make_families(self, given, X, size) -> list[Family]:
        points = list_points(self.pace_functions, given["per"], given["quantiles"])
        self.space_ = None
        made: list[Family] = []
        for name in dict.fromkeys(self.families):
            if name == "forest":
                leaves, n_trees = given["min_samples_leaf"], self._count_trees(given, size)
                made.append(
                    ForestFamily(leaves, points, n_trees, given["cv"], self.n_jobs, self.random_state)
                )
                continue
            choice = self._choose_space(name, size)
            if name == "kernel":
                self.space_ = tell_space(self, choice)
            unit = choice.space.unit_cost(X) if self.C is None else 1.0
            costs = [unit * C for C in given["C"]]
            settings = [Setting(*setting) for setting in product(costs, self.class_weights)]
            coding = Coding(self.n_codes, regressor=self.regressor, random_state=self.random_state)
            made.append(
                KernelFamily(
                    name,
                    choice.space,
                    settings,
                    given["gamma_factors"],
                    points,
                    coding,
                    given["cv"],
                    given["n_settings"],
                    self.n_points,
                )
            )
        return made

    def _count_trees(self, given, size) -> int:
        """Trees a label: where nobody says, fewer for more rows, of which each takes longer and says more."""
        n_trees = given["n_estimators"]
        if self.n_estimators is None:
            n_trees = max(2 * n_trees // 5, min(n_trees, 1000 * n_trees // size.rows))
        return n_trees

    def _choose_space(self, family, size) -> SpaceChoice:
        gram = Gram("rbf", tol=self.tol, n_threads=effective_n_jobs(self.n_jobs))
        space = "linear" if family == "linear" else self.space
        return choose_space(space, self.loss, size, gram, self.n_landmarks, self.random_state)

    def _smaller_settings(self):
        settings = smaller_spaces(self) if "kernel" in self.families else {}
        smaller = {"budget='fast'": self.families, "budget='fast' and families=('kernel',)": ("kernel",)}
        for words, families in smaller.items():
            other = copy(self)
            other.budget, other.families = "fast", families
            settings[words] = other._cost
        return settings

    def _raw_scores(self, X):
        return blend([model.log_odds(X) for model in self.families_])

    def _cost(self, size):
        """What each family takes, and the scores held out; every point costs anew."""
        given = self._given()
        points = 1 + len(self.pace_functions) * len(given["per"]) * len(given["quantiles"])
        settings = len(given["C"]) * len(self.class_weights) * len(given["gamma_factors"])
        n_bytes = super()._cost(size).bytes + 18 * FLOAT * size.rows * size.labels
        seconds = 0.0
        for family in self.families:
            if family == "forest":
                cost = SelfPacedForestClassifier(self._count_trees(given, size))._cost(size)
                forests = 1 + given["cv"] / 2 + len(given["min_samples_leaf"]) / 4
                n_bytes, seconds = n_bytes + cost.bytes, seconds + forests * cost.seconds
                continue
            copies = max(2.8, 5.0 * (1.0 - 1.0 / max(given["cv"], 2)) ** 2)
            cost = self._choose_space(family, size).space.cost(size, copies)
            fits = given["cv"] * (4 * len(given["gamma_factors"]) + settings * points)
            n_bytes += cost.bytes + FLOAT / 2 * settings * points * size.rows * size.labels
            seconds += 2 * fits * cost.seconds
        return Cost(n_bytes, seconds)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = set(self.families) == {"forest"}
        return tags
