"""`audit`: which labels of a data set are probably wrong."""

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator

from mlspl._validation import Labels, check_labels
from mlspl.curriculum._annotators import Opinions
from mlspl.curriculum._models import predict_pairs
from mlspl.curriculum.consensus import Consensus
from mlspl.curriculum.difficulty import Difficulty, difficulty, rank_pairs
from mlspl.curriculum.issues import row_scores
from mlspl.errors import UserError
from mlspl.metrics import score_labels
from mlspl.noise import NoiseEstimate, estimate_noise, label_codes
from mlspl.pacing import Trace

LEAST_SUSPICION = 0.1
"""Pairs with at least this suspicion are listed as issues."""
MOST_ISSUES = 100_000
# Pairs that are offered because their review tells most.
MOST_INFORMATIVE = 100
# Another label is mentioned if it moves the log-odds by at least this: an even chance to nearly 2 to 1.
WORTH = 0.5


@dataclass(frozen=True, repr=False)
class Audit(NoiseEstimate):
    """What an audit found. Made by :func:`audit`.

    Attributes
    ----------
    suspicion : ndarray of shape (n, L)
        The probability that each given label is wrong; NaN where unknown; 0 or 1 where reviewed.
    truth : ndarray of shape (n, L)
        The probability that each label is truly 1; for an unknown label, the proposal.
    probabilities : ndarray of shape (n, L)
        Out-of-sample P(given = 1) of the models.
    given : int8 ndarray of shape (n, L)
        The labels: 1, 0, or -1 where unknown.
    noise_rates : DataFrame
        As :func:`noise_rates` returns it.
    instance_dependent : float
        The weight of instance-dependent noise in the suspicion: how far uncertain labels count as errors.
    error_range : tuple of float
        The 90 % interval of the number of errors, by what that weight may be.
    information : ndarray of shape (n, L)
        How much the review of each pair would change that weight.
    difficulty : Difficulty
        By the trace of the paced model if there was one, otherwise by the loss of the given label.
    trace : Trace or None
        Of the paced model.
    models : dict of str to float
        The weight each model's log-odds got, by its held-out loss.
    label_names, row_names : list, Index
        Names of labels and rows.
    reviewed : bool ndarray of shape (n, L), or None
        Which pairs were reviewed.
    annotators : Consensus or None
        The quality of the annotators, if `annotations` were given.
    other_labels : OtherLabels or None
        The log-odds adjusted for the other labels of the row, and the influence of each.
    """

    probabilities: NDArray[np.float64]
    difficulty: Difficulty
    trace: Trace | None
    models: dict[str, float]
    label_names: list[str]
    row_names: pd.Index
    annotators: Consensus | None = None
    _opinions: Opinions | None = None
    _negative: int = 0
    _framed: bool = False

    def __repr__(self) -> str:
        """Return the size and the number of expected errors, in a line."""
        n, L = self.given.shape
        sure = int(np.sum(self.suspicion >= 0.8))
        low, high = self.error_range
        expected = f"{self.expected_errors:,.0f} errors expected ({low:,.0f} to {high:,.0f})"
        return f"Audit of {n:,} rows × {L:,} labels: {expected}, {sure:,} with a suspicion of 0.8 or more"

    def _repr_html_(self) -> str:
        """Return the line, and the ten strongest suspicions as a table, for notebooks."""
        return f"<p>{self!r}</p>{self.issues[:10].drop(columns=['row_number', 'label_number']).to_html()}"

    @property
    def votes(self):
        """Row, annotator (positions) and codes (L,) of every judgement of a row; None without annotators."""
        return None if self._opinions is None else self._opinions.votes()

    @property
    def expected_errors(self) -> float:
        """The estimated number of wrong labels, the sum of all suspicions."""
        return float(np.nansum(self.suspicion))

    @cached_property
    def issues(self) -> pd.DataFrame:
        """Suspected pairs, the strongest suspicion first.

        Columns: ``row``, ``label`` (names), ``given``, ``suggested`` (0 or 1), ``suspicion``, ``probability``
        (of 1 by the models alone), ``difficulty``, ``why``; and ``row_number``, ``label_number`` to index
        arrays. All with a suspicion of at least 0.1 that were not reviewed, at most 100,000. With annotators
        also ``judged``, how many judged the pair, and ``ones``, how many gave the label.
        """
        suspicion = np.nan_to_num(self.suspicion)
        if self.reviewed is not None:
            suspicion[self.reviewed] = 0.0
        found = np.flatnonzero(suspicion.ravel() >= LEAST_SUSPICION)
        return self._list_issues(found[np.argsort(-suspicion.ravel()[found], kind="stable")][:MOST_ISSUES])

    @cached_property
    def most_informative(self) -> pd.DataFrame:
        """Pairs whose review would tell most about which model of noise holds, at most 100.

        Columns as in `issues`. Labels and given values take turns, the most informative pair of each first.
        Pass what was decided to ``audit(..., reviewed=...)``.
        """
        flat = self.information.ravel()
        order = np.argsort(-flat, kind="stable")[: np.count_nonzero(flat)]
        group = 2 * (order % self.given.shape[1]) + self.given.ravel()[order]
        turn = pd.Series(group).groupby(group).cumcount().to_numpy()
        return self._list_issues(order[np.argsort(turn, kind="stable")][:MOST_INFORMATIVE])

    @cached_property
    def proposals(self) -> pd.DataFrame:
        """Unknown labels with what they probably are, the surest first.

        Columns: ``row``, ``label``, ``suggested``, ``probability`` (of 1), ``row_number``, ``label_number``.
        """
        rows, labels = np.nonzero(self.given < 0)
        order = np.argsort(-np.abs(self.truth[rows, labels] - 0.5), kind="stable")[:MOST_ISSUES]
        rows, labels = rows[order], labels[order]
        truth = self.truth[rows, labels]
        return self._pairs(rows, labels).assign(suggested=(truth > 0.5).astype(int), probability=truth)

    @cached_property
    def labels(self) -> pd.DataFrame:
        """A row per label.

        Columns: ``prevalence`` (of the given), ``unknown`` (a number), ``difficulty``, ``lost`` and
        ``false`` with their intervals (see :func:`noise_rates`), ``expected_lost`` and ``expected_false``
        (numbers of pairs), ``auc`` (of the models' probabilities, out of sample, against what is given; NaN
        without both classes).
        """
        known, wrong = self.given >= 0, np.nan_to_num(self.suspicion)
        table = pd.DataFrame(index=self.noise_rates.index)
        table["prevalence"] = (self.given == 1).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
        table["unknown"] = (~known).sum(axis=0)
        table["difficulty"] = self.difficulty.labels
        table = table.join(self.noise_rates)
        table["expected_lost"] = np.where(self.given == 0, wrong, 0.0).sum(axis=0)
        table["expected_false"] = np.where(self.given == 1, wrong, 0.0).sum(axis=0)
        given: Any = Labels(self.given == 1, ~known)
        table["auc"] = score_labels(given, self.probabilities, self.probabilities > 0.5)["auc"]
        return table

    @cached_property
    def rows(self) -> pd.DataFrame:
        """A row per row: the columns of :func:`row_scores`, and ``difficulty``.

        With annotators also ``disagreement``, the mean over labels of the share of pairs of annotators who
        differ: high in ambiguous rows, NaN where fewer than two judged.
        """
        table = row_scores(self.suspicion).set_axis(self.row_names).assign(difficulty=self.difficulty.rows)
        return table if self._opinions is None else table.assign(disagreement=self._opinions.disagreement())

    def corrected(self, threshold: float = 0.8, unknown: bool = True) -> Any:
        """Return the labels with the suspects unknown, or inverted.

        Parameters
        ----------
        threshold : float, default=0.8
            Pairs with at least this suspicion are changed.
        unknown : bool, default=True
            Make them unknown, so that every estimator of mlspl leaves them out of its fit; False inverts
            them.

        Returns
        -------
        ndarray or DataFrame of shape (n, L)
            In the coding that was given (0/1 or ±1); NaN where unknown; a DataFrame if a DataFrame was given.
        """
        if not 0 < threshold <= 1:
            raise UserError(f"threshold={threshold}: it must be above 0 and at most 1.")
        suspects = np.nan_to_num(self.suspicion) >= threshold
        is_one = (self.given == 1) if unknown else (self.given == 1) ^ suspects
        labels = np.where(is_one, 1.0, float(self._negative))
        labels[(self.given < 0) | (suspects & unknown)] = np.nan
        if self._framed:
            return pd.DataFrame(labels, index=self.row_names, columns=self.label_names)
        return labels

    def to_html(self, path: str | PathLike, X, **options) -> Path:
        """Write the page on which suspected labels are reviewed, one self-contained HTML file.

        X holds the features, in units that a reader knows. :func:`mlspl.pages.write_audit` has the options,
        such as ``name``, ``ids``, ``texts``, ``images`` and ``force``.
        """
        from mlspl.pages import write_audit

        return write_audit(path, self, X, **options)

    def _pairs(self, rows, labels) -> pd.DataFrame:
        """Return a table of names and positions of pairs."""
        names = {"row": self.row_names[rows], "label": np.asarray(self.label_names, dtype=object)[labels]}
        return pd.DataFrame({**names, "row_number": rows, "label_number": labels})

    def _list_issues(self, order) -> pd.DataFrame:
        """Return the table of the pairs at flat positions."""
        rows, labels = np.unravel_index(order, self.given.shape)
        given, probability = self.given[rows, labels], self.probabilities[rows, labels]
        never = None if self.trace is None else self.trace.entered[rows, labels] == 0
        evidence = (self.given, probability, self.other_labels, never)
        why = explain_issues(rows, labels, self.label_names, *evidence)
        votes = {}
        if self._opinions is not None:
            counts = (self._opinions.judged, self._opinions.ones, self._opinions.same)
            judged, ones, same = (count[rows, labels].astype(int) for count in counts)
            votes = {"judged": judged, "ones": ones}
            why = [
                f"{n - k} of {n} annotators differ; {text}" if n else text
                for n, k, text in zip(judged, same, why, strict=True)
            ]
        return self._pairs(rows, labels).assign(
            given=given,
            suggested=1 - given,
            suspicion=self.suspicion[rows, labels],
            probability=probability,
            difficulty=self.difficulty.pairs[rows, labels],
            **votes,
            why=why,
        )


def audit(
    X,
    Y,
    estimator: BaseEstimator | None = None,
    cv: int = 5,
    n_jobs: int | None = None,
    random_state=None,
    verbose: int = 0,
    *,
    absent: str = "negative",
    reviewed=None,
    instance_dependent: float | None = None,
    annotations=None,
) -> Audit:
    """Find the labels that are probably wrong.

    Models predict every label out of sample. From their probabilities and the other labels of the row, noise
    rates and the probability that each given label is wrong are estimated as in :func:`label_issues`, which
    takes the probabilities of any model.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of numbers, of shape (n, d)
        The rows. Features need not be scaled for the default models.
    Y : array, sparse matrix or DataFrame of shape (n, L), or label names per row
        The labels as given: 0/1, ±1 or boolean, NaN where unknown.
    estimator : estimator of all labels, default=None
        Predicts out of fold, by `decision_function` or `predict_proba`; a
        :class:`~mlspl.SelfPacedForestClassifier` predicts out of bag. By default a kernel SVM, a
        self-paced forest (not for large data) and a linear model, weighted by their held-out losses; a linear
        model alone for sparse X.
    cv : int, default=5
        Number of folds.
    n_jobs : int, optional
        Threads of the default models, or folds of the given one at a time.
    random_state : int, RandomState or None, default=None
        Seeds folds and forests.
    verbose : int, default=0
        1 shows a progress bar.
    absent, reviewed, instance_dependent : optional
        As in :func:`label_issues`.
    annotations : optional
        The labels of several annotators, in any form that :func:`consensus` takes, or its result. Y is then
        one annotator's labels, or those of all of them. The quality of the annotators and the model decide
        on pairs that several judged. Pairs on which the others agree count as reviewed for all other pairs.

    Examples
    --------
    >>> from mlspl import BSVMClassifier, curriculum, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> X, (Y, planted) = digits.X[:400], datasets.corrupt(digits.Y[:400], "missing", 0.1, random_state=0)
    >>> found = curriculum.audit(X, Y, BSVMClassifier(gamma="scale"), random_state=0)
    >>> row, label = found.issues.loc[0, ["row_number", "label_number"]]
    >>> bool(planted[row, label])
    True
    """
    labels = check_labels(Y)
    given = label_codes(labels)
    X = X if hasattr(X, "shape") else np.asarray(X)
    if X.shape[0] != len(given):
        raise UserError(f"X has {X.shape[0]} rows and Y has {len(given)}: they must be the same rows.")
    if not 2 <= cv <= len(given):
        raise UserError(f"cv={cv}: the number of folds lies between 2 and the {len(given)} rows.")
    odds, weights, trace = predict_pairs(X, given, estimator, cv, n_jobs, random_state, verbose)
    probabilities = expit(odds)
    names = [str(name) for name in labels.names or range(given.shape[1])]
    opinions = None if annotations is None else Opinions(annotations, X, given, probabilities, names)
    noise = estimate_noise(
        Labels(given == 1, given < 0, names=names),
        probabilities,
        absent=absent,
        reviewed=reviewed,
        agreed=None if opinions is None else opinions.agreed(given),
        instance_dependent=instance_dependent,
        n_jobs=n_jobs,
    )
    if opinions is not None:
        noise = opinions.settle(noise, trusted=absent == "unknown")
    if trace is None:
        improbable = np.where(given == 1, 1 - probabilities, probabilities)
        hard = Difficulty(rank_pairs(np.where(given < 0, np.nan, improbable)))
    else:
        hard = difficulty(trace)
    indices = (table.index for table in (Y, X) if isinstance(table, pd.DataFrame))
    return Audit(
        **vars(noise),
        probabilities=probabilities,
        difficulty=hard,
        trace=trace,
        models=weights,
        label_names=names,
        row_names=next(indices, pd.RangeIndex(len(given))),
        annotators=None if opinions is None else opinions.consensus,
        _opinions=opinions,
        _negative=labels.negative,
        _framed=hasattr(Y, "columns"),
    )


def explain_issues(rows, labels, names, given, probability, other_labels, never_entered):
    """Return a text for each suspected pair (rows[k], labels[k]).

    The model's probability; the other label that is the strongest evidence against the given one; whether the
    pair never entered the paced fit.
    """
    texts = [f"{share:.0%} likely by its features" for share in probability]
    if other_labels is not None and len(rows):
        weight = other_labels.weights[labels]
        others = np.where(given[rows] >= 0, given[rows] - other_labels.centre, 0.0)
        # Positive where a label moves the odds away from what is given.
        against = weight * others * np.where(given[rows, labels] == 0, 1.0, -1.0)[:, None]
        for k, other in enumerate(against.argmax(axis=1).tolist()):
            if against[k, other] >= WORTH:
                texts[k] += "; " + _relation(weight[k, other] > 0, given[rows[k], other] == 1, names[other])
    for k in [] if never_entered is None else np.flatnonzero(never_entered).tolist():
        texts[k] += "; the paced model left it out"
    return texts


def _relation(together: bool, present: bool, name: str) -> str:
    """Return how the pair's own label, the subject, relates to the other one."""
    if present:
        return f"{'usually' if together else 'rarely'} comes with {name}, which is given"
    return f"rarely comes without {name}" if together else f"usually given where {name} is not"
