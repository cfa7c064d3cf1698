"""MLSPL with families, settings and paces chosen by cross-validation."""

import time
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from mlspl._docs import share
from mlspl.errors import UserError
from mlspl.model_selection import get_calibration
from mlspl.models._base import (
    CallbackSupportMixin,
    MultiLabelClassifier,
    fit_progress,
    store_parameters,
    with_callbacks,
)
from mlspl.models._checks import CONSTRAINTS, warn_of_data
from mlspl.models._families import (
    BUDGETS,
    FEWEST_ROWS,
    MOST_LABELS_ESTIMATED,
    Budget,
    FamilyModel,
    average_families,
    choose_members,
    evaluate_candidates,
    list_points,
    search_families,
    split_rows,
    summarise_members,
    weigh_families,
)
from mlspl.models._family_learners import ForestFamily, KernelFamily
from mlspl.models._space_classifier import report_space
from mlspl.models.local_correlation import Coding
from mlspl.models.tuned_decision import DecisionMixin, known_labels, resolve_criterion
from mlspl.pacing import Trace
from mlspl.spaces import Gram, choose_space

_FAMILIES = ("joint", "kernel", "forest", "linear", "net")
_FORESTS = {"joint", "forest"}
# Beyond these, kernel classifiers take too long; beyond so many labels, so do the paces of linear ones.
_MOST_LABELS, _MOST_PAIRS = 64, 100_000
# A time limit below this many seconds means the settings of "fast".
_FAST_SECONDS = 120.0
# The share of a time limit that the search may take; the rest is for the fit on all rows.
_SEARCH_SHARE = 0.6


@share
class MLSPLClassifierCV(CallbackSupportMixin, DecisionMixin, MultiLabelClassifier):
    """Mean of several families of self-paced learners, whose paces are chosen by validation.

    The pace is a path from few pairs to all of them; its last point is the unpaced model. There are two
    families by default: forests of joint trees, which serve all labels at once, and kernel classifiers with
    cross-fitted codes (C and γ are tried). Every setting and point is evaluated out-of-fold.

    Of each setting, the point nearest to the unpaced model is taken that has nearly the smallest log loss.
    The best settings of a family are averaged. The probabilities of the families are averaged with fixed
    weights, 0.7 for joint trees: on noisy labels, validation prefers the family that learns the noise best.
    A threshold rule is chosen on the out-of-fold scores.

    With S settings, P points and L labels, the search fits S·P·cv·L SVMs with warm starts and up to 2·cv
    joint forests. Memory is about three n×n matrices and the held-out scores, S·P·n·L numbers.

    Parameters
    ----------
    criterion : str, default="average_precision"
        The criterion of the choices, a name of :data:`mlspl.metrics.CRITERIA`. Hamming loss takes its place
        if no row has both present and absent labels.
    families : "auto" or sequence of {"joint", "kernel", "forest", "linear", "net"}, default="auto"
        The families to average: joint trees, classifiers in `space`, a forest per label, linear classifiers,
        and networks, which need PyTorch. "auto" is the first two, or joint trees and linear classifiers with
        more than 64 labels or 100,000 pairs of a row and a label.
    budget : {"fast", "default", "thorough"} or float, default="default"
        How much to try; or a time limit in seconds. The search ends after 60 % of it, between folds, and the
        rest is for the fit on all rows. At least one family is always finished.
    quantiles : sequence of float, optional
        Points of each path: the share of the pairs of each label and class whose loss lies below the pace;
        by default 0.7, 0.8 and 0.9, and none with fewer than 100 rows. The unpaced end is always added.
        Forests of up to 64 labels also try the estimated share of right labels
        (:class:`~mlspl.pacing.NoisePace`). With more labels only forests are paced.
    C : sequence of float, optional
        Costs to try, by default from 0.125 to 8, in a linear space divided by the mean squared length of a
        row. Try further ones if `best_params_` has the largest or smallest.
    n_estimators : int, optional
        Trees of the joint forest, and of the forest of each label, by default 500. In a fold a third of them.
    {thresholds}
    cv : int, optional
        Folds of the selection, by default 5.
    {n_jobs}
    random_state : int, RandomState or None, default=None
        Seeds folds, k-means and trees.
    {verbose}
    space : {"auto", "gram", "linear", "nystroem"} or Space, default="auto"
        Where the classifiers of the family "kernel" are fitted, as in :class:`MLSPLClassifier`.

    Attributes
    ----------
    space_ : str or None
        The space of the family "kernel", and why it was taken.
    cv_results_, members_ : list of dict
        Every setting and point: family, weight in the mean, gamma and C or max_features, target (the quantile
        of the losses, "noise", or 1 if unpaced), and the criterion out-of-fold (mean, folds). The members are
        those with a weight, best first.
    criterion_ : str
        Name of the criterion that was used.
    best_params_, best_score_ : dict, float
        The first member and its criterion, with the calibration and the threshold of all.
    {decisions_}
    families_ : list of FamilyModel
        The fitted models of each family.
    label_weights_ : array (n_samples, n_labels)
        Weights of the pairs, the mean over the members.
    history_, trace_ : list of dict, Trace
        Every member as a step, from the smallest quantile to the largest; the trace is that of the family
        with the most members.
    stop_reason_ : str
        "max_steps"; "budget", "callback" or "interrupted" if the time limit, a callback or Ctrl-C ended the
        search early.

    Examples
    --------
    >>> from mlspl import MLSPLClassifierCV, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLSPLClassifierCV(budget="fast", C=(1.0,), random_state=0).fit(digits.X[:150], digits.Y[:150])
    >>> sorted({member["family"] for member in model.members_})
    ['joint', 'kernel']
    """

    _contents = {
        "families_": [FamilyModel],
        "space_": "text?",
        "label_weights_": "float (rows, labels)",
        "trace_": Trace,
        "history_": "plain",
        "stop_reason_": "text",
        "criterion_": "text",
        "cv_results_": "plain",
        "members_": "plain",
        "best_params_": "plain",
        "best_score_": "float",
    }

    _parameter_constraints = CONSTRAINTS | {
        "C": ["array-like", None],
        "cv": [*CONSTRAINTS["cv"], None],
        "n_estimators": [*CONSTRAINTS["n_estimators"], None],
    }
    calibrations = ("shrunk",)  # for DecisionMixin

    def __init__(
        self,
        criterion="average_precision",
        families="auto",
        budget="default",
        quantiles=None,
        C=None,
        n_estimators=None,
        thresholds=("zero", "label", "count"),
        cv=None,
        n_jobs=None,
        random_state=None,
        verbose=0,
        space="auto",
    ):
        store_parameters(self, locals())

    _float_types = [np.float64, np.float32]
    fit = with_callbacks(MultiLabelClassifier.fit)

    def _fit(self, X, Y, label_weight):
        if len(Y) < 4:
            raise ValueError(f"Choosing the pace needs at least 4 rows to fold, but n_samples={len(Y)}.")
        names = self._family_names(*Y.shape)
        if not set(names) <= _FORESTS:
            warn_of_data(X, type(self).__name__)
        deadline = np.inf
        if not isinstance(self.budget, str):
            deadline = time.monotonic() + _SEARCH_SHARE * self.budget
        truth = known_labels(Y, label_weight)
        criterion = resolve_criterion(self.criterion, truth)
        self.criterion_ = criterion.name
        given = self._given(len(Y))
        folds = split_rows(Y, given.cv, self.random_state)
        families = self._make_families(names, given, X, Y.shape[1])
        if deadline < np.inf:  # linear classifiers first: a short limit on text still ends with good ones
            families.sort(key=lambda family: hasattr(getattr(family, "space", Gram), "gamma"))
        with fit_progress(self, sum(family.n_reports for family in families), X, Y) as report:
            found, self.stop_reason_ = search_families(families, X, Y, label_weight, folds, report, deadline)
        sign = -1.0 if criterion.greater_is_better else 1.0
        weights = weigh_families([family.name for family in found], sparse.issparse(X))
        self.families_, self.cv_results_ = [], []
        odds, fitted = [], []
        for (family, candidates), weight in zip(found.items(), weights, strict=True):
            rows = evaluate_candidates(candidates, truth, folds, criterion)
            badness = [sign * row["mean"] for row in rows]
            taken = choose_members(candidates, badness, Y, label_weight, family.n_settings)
            self.cv_results_ += [
                {"family": family.name, "weight": weight / len(taken) if i in taken else 0.0, **row}
                for i, row in enumerate(rows)
            ]
            held_out = np.mean([candidates[i].held_out for i in taken], axis=0)
            calibration = get_calibration(family.calibration if len(found) > 1 else "none")
            odds.append(calibration.fit(held_out, Y, label_weight).log_odds(held_out))
            members = [candidates[i] for i in taken]
            models, tables = family.learn(X, Y, label_weight, members)
            self.families_.append(FamilyModel(family.name, models, calibration, weight))
            fitted.append((family.name, members, tables))
        known = np.ones(Y.shape, dtype=bool) if label_weight is None else label_weight > 0
        self.label_weights_, self.trace_, self.history_ = summarise_members(fitted, known)
        self._decide(average_families(odds, weights), Y, label_weight, folds, criterion)
        weighted = [row for row in self.cv_results_ if row["weight"] > 0]
        self.members_ = sorted(weighted, key=lambda row: round(sign * row["mean"], 9))
        self.best_params_ = dict(self.members_[0])
        self.best_score_ = self.best_params_.pop("mean")
        del self.best_params_["weight"], self.best_params_["folds"]
        self.best_params_ |= {name: self.decisions_[0][name] for name in ("calibration", "threshold")}

    def _given(self, n_rows) -> Budget:
        """What the budget says, unless a parameter says otherwise; few rows are not paced."""
        if self.C is not None and (not len(self.C) or min(self.C) <= 0):
            raise UserError(f"C is {self.C!r}; give one or more positive numbers to try.")
        budget = self.budget
        if not isinstance(budget, str):
            budget = "fast" if budget < _FAST_SECONDS else "default"
        given = {name: getattr(self, name, None) for name in Budget._fields}
        if self.quantiles is None and n_rows < FEWEST_ROWS:
            given["quantiles"] = ()
        return BUDGETS[budget]._replace(**{name: value for name, value in given.items() if value is not None})

    def _family_names(self, n_rows, n_labels) -> tuple[str, ...]:
        if isinstance(self.families, str) and self.families == "auto":
            is_large = n_labels > _MOST_LABELS or n_rows * n_labels > _MOST_PAIRS
            return ("joint", "linear" if is_large else "kernel")
        names = tuple(dict.fromkeys(self.families))
        if not names or not set(names) <= set(_FAMILIES):
            known = ", ".join(map(repr, _FAMILIES))
            raise UserError(f"families is {self.families!r}; give 'auto', or some of {known} in a tuple.")
        return names

    def _make_families(self, names, given, X, n_labels) -> list[Any]:
        points = list_points(given.quantiles if n_labels <= _MOST_LABELS else ())
        self.space_ = None
        made: list[Any] = []
        for name in names:
            if name in _FORESTS:
                paces = list_points(given.quantiles, follow_noise=n_labels <= MOST_LABELS_ESTIMATED)
                n_trees = given.n_estimators
                made.append(ForestFamily(name, paces, n_trees, given.cv, self.n_jobs, self.random_state))
                continue
            if name == "net":
                from mlspl.torch import NetFamily

                made.append(NetFamily(points, self.random_state))
                continue
            gram = Gram("rbf", n_threads=effective_n_jobs(self.n_jobs))
            space = "linear" if name == "linear" else self.space
            choice = choose_space(space, X, gram, random_state=self.random_state)
            if name == "kernel":
                self.space_ = report_space(self, choice)
            unit = choice.space.unit_cost(X) if self.C is None else 1.0
            costs = [unit * C for C in given.C]
            coding = Coding(regressor="ridge", random_state=self.random_state)
            made.append(KernelFamily(name, choice.space, costs, points, coding, given))
        return made

    def _raw_scores(self, X):
        odds = [model.log_odds(X) for model in self.families_]
        return average_families(odds, [model.weight for model in self.families_])

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = set(self.families) <= _FORESTS
        return tags
