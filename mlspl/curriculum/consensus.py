"""`consensus`: the labels that several annotators' labels imply, and how good each annotator is."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit, logit

from mlspl._limits import check_memory
from mlspl._validation import check_labels, check_scores, row_blocks
from mlspl.curriculum._dawid_skene import Estimate, Votes, fit_dawid_skene, standard_errors
from mlspl.curriculum._models import predict_pairs
from mlspl.errors import UserError, listed
from mlspl.noise import label_codes

# Pairs of which the gain of another opinion is computed: those with the most uncertain labels.
MOST_CANDIDATES = 10_000


# Bytes that a pair takes (measured: 80, and 110 with a model).
PAIR_BYTES = 110


@dataclass(frozen=True, repr=False)
class Consensus:
    """What several annotators' labels imply. Made by :func:`consensus`.

    `labels`, `probabilities` and `weights` are DataFrames if the annotations name labels or rows.

    Attributes
    ----------
    labels : array or DataFrame of shape (n, L)
        The more probable value, 0 or 1; NaN where no annotator judged the pair.
    probabilities : array or DataFrame of shape (n, L)
        The probability that each label is truly 1.
    weights : array or DataFrame of shape (n, L)
        Certainty, abs(2 P - 1); 0 where no annotator judged the pair. For `label_weight` of `fit`.
    annotators : DataFrame
        A row per annotator, over all labels: ``rows`` (annotated), ``shared`` (of these, with another
        annotator), ``sensitivity`` and ``specificity``, each with a 95 % interval (``_low``, ``_high``).
    annotators_by_label : DataFrame
        The same rates of each annotator and label, with the expected numbers of ``positives`` and
        ``negatives`` that they rest on.
    agreement : DataFrame
        A row per label: Krippendorff's ``alpha`` (1: perfect, 0: as by chance; NaN without both values), the
        rows with at least two judgements (``shared``), and the ``prevalence`` of the consensus.
    models : dict of str to float
        The weight of each model in the log-odds that count as an opinion; empty without any.
    """

    labels: Any
    probabilities: Any
    weights: Any
    annotators: pd.DataFrame
    annotators_by_label: pd.DataFrame
    agreement: pd.DataFrame
    models: dict[str, float]
    _votes: Votes
    _estimate: Estimate
    _row_names: pd.Index

    def __repr__(self) -> str:
        """Return the size and the mean agreement in a line."""
        size = "{:,} rows × {:,} labels".format(*self.labels.shape)
        mean = self.agreement["alpha"].mean()
        return f"Consensus of {len(self.annotators)} annotators, {size}: mean alpha {mean:.2f}"

    def review(self, most: int = 1000) -> pd.DataFrame:
        """Return the pairs most worth another opinion, and whom to ask.

        Parameters
        ----------
        most : int, default=1000
            Length of the list.

        Returns
        -------
        DataFrame
            Columns ``row``, ``label``, ``probability`` (of 1), ``ask`` (the annotator) and ``gain``: by how
            much the probability of a wrong consensus label is expected to fall. Largest gain first; pairs
            that no single opinion can change are left out. Nobody is asked twice about a pair: ``ask`` is
            None where all have judged it, and a new annotator of their mean quality is assumed.
        """
        votes, p = self._votes, self._estimate.probability
        wrong = np.minimum(p, 1 - p).ravel()
        order = np.argsort(-wrong, kind="stable")[:MOST_CANDIDATES]
        rows, labels = np.unravel_index(order, p.shape)
        p, wrong = p[rows, labels, None], wrong[order, None]
        positions = np.arange(1, len(votes.rows) + 1)
        table = sparse.csr_array((positions, (votes.rows, votes.who)), (votes.n_rows, votes.n_annotators))
        at = table[rows].toarray() - 1
        judged = (at >= 0) & (votes.said[at, labels[:, None]] >= 0)
        everybody = judged.all(axis=1, keepdims=True)
        # The last column is the new annotator.
        excluded = np.hstack([judged, ~everybody])
        rates = (self._estimate.sensitivity, self._estimate.specificity)
        se, sp = (np.vstack([rate, rate.mean(axis=0)]).T[labels] for rate in rates)
        after = np.minimum(p * se, (1 - p) * (1 - sp)) + np.minimum(p * (1 - se), (1 - p) * sp)
        gains = np.where(excluded, 0.0, wrong - after)
        best = gains.argmax(axis=1)
        gain = gains[np.arange(len(gains)), best]
        found = np.flatnonzero(gain > 1e-12)
        found = found[np.argsort(-gain[found], kind="stable")][:most]
        return pd.DataFrame(
            {
                "row": self._row_names[rows[found]],
                "label": self.agreement.index[labels[found]],
                "probability": p[found, 0],
                "ask": np.array([*self.annotators.index, None], dtype=object)[best[found]],
                "gain": gain[found],
            }
        )


def consensus(
    X, annotations, *, probabilities=None, n_jobs: int | None = None, random_state=None
) -> Consensus:
    """Infer labels from those of several annotators, and the quality of each annotator.

    For each label, the model of Dawid and Skene (1979): a pair has an unknown true label; each annotator has
    a sensitivity and a specificity, and errs independently of the others. Rates with few data are shrunk to
    those of the annotator's other labels and of the label's other annotators. Out-of-sample probabilities of
    models count as one more opinion. They are calibrated with the rates (Raykar et al. 2010), so that a model
    without information is ignored.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame of numbers, of shape (n, d), or None
        The rows. The models of :func:`audit` learn from them the majority of the votes, without ties, and
        predict every label out of fold. None: annotators only.
    annotations : array, dict, list or DataFrame
        Labels are 0/1, ±1 or boolean; NaN where the annotator did not judge. One of

        - an array of shape (n, L, A) for A annotators;
        - a dict by annotator, or a list, of tables (n, L). DataFrames may hold different rows, which their
          index names;
        - a DataFrame with columns ``row``, ``annotator`` and one per label, or ``labels`` with collections of
          label names or text such as ``a|b``.

        Rows are named by the index of X if that is a DataFrame, and numbered if X is an array.
    probabilities : array or DataFrame of shape (n, L), optional
        Out-of-sample probabilities of your own model, in place of those computed from X.
    n_jobs, random_state : optional
        As in :func:`audit`.

    References
    ----------
    A. P. Dawid, A. M. Skene: Maximum likelihood estimation of observer error-rates using the EM algorithm.
    Applied Statistics 28, 1979.

    V. C. Raykar et al.: Learning from crowds. Journal of Machine Learning Research 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl import curriculum
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((500, 3)) < 0.3
    >>> wrong = {"ann": 0.05, "bob": 0.1, "cid": 0.3}
    >>> given = {name: truth ^ (rng.random(truth.shape) < rate) for name, rate in wrong.items()}
    >>> found = curriculum.consensus(None, given)
    >>> found.annotators["specificity"].round(1).to_dict()
    {'ann': 0.9, 'bob': 0.9, 'cid': 0.7}
    """
    X = X if X is None or hasattr(X, "shape") else np.asarray(X)
    votes, annotators, label_names, row_names, named = _read(annotations, X)
    check_memory(
        len(votes.said) * len(label_names) + PAIR_BYTES * votes.n_rows * len(label_names),
        f"the consensus of {votes.n_rows:,} rows and {len(label_names):,} labels",
        "Leave out labels that hardly anybody gave, or split the labels.",
    )
    judged, ones = votes.count()
    _check(votes, judged, ones, annotators, label_names, X is not None or probabilities is not None)
    odds, models = None, {}
    if probabilities is not None:
        if set(label_names) <= set(getattr(probabilities, "columns", ())):
            probabilities = probabilities[label_names]
        p = check_scores(probabilities, judged.shape, "probabilities")
        if ((p < 0) | (p > 1)).any():
            raise UserError("probabilities holds values outside 0 to 1. Give the probability of every label.")
        odds, models = logit(np.clip(p, 1e-3, 1 - 1e-3)), {"probabilities": 1.0}
    elif X is not None:
        # Ties would teach the model whichever value they are given.
        majority = np.where(2 * ones == judged, -1, 2 * ones > judged).astype(np.int8)
        odds, models, _ = predict_pairs(X, majority, n_jobs=n_jobs, random_state=random_state)
    found = fit_dawid_skene(votes, odds)
    p, known = found.probability, judged > 0
    labels = (p > 0.5).astype(int) if known.all() else np.where(known, p > 0.5, np.nan)
    tables: list[Any] = [labels, p, np.where(known, np.abs(2 * p - 1), 0.0)]
    if named:
        tables = [pd.DataFrame(table, index=row_names, columns=label_names) for table in tables]
    agreement = pd.DataFrame(index=pd.Index(label_names, name="label"))
    agreement["alpha"], agreement["shared"] = krippendorff_alpha(judged, ones), (judged >= 2).sum(axis=0)
    agreement["prevalence"] = np.mean(p, axis=0, where=known)
    overall, by_label = _rate_tables(votes, found, annotators, label_names)
    return Consensus(*tables, overall, by_label, agreement, models, votes, found, row_names)  # type: ignore


def krippendorff_alpha(judged, ones) -> NDArray[np.float64]:
    """Return Krippendorff's alpha of each label from the numbers of judgements and of ones, (n, L)."""
    pairable = judged >= 2
    n, k = np.where(pairable, judged, 0), np.where(pairable, ones, 0)
    total, total_ones = n.sum(axis=0), k.sum(axis=0)
    observed = (2 * k * (n - k) / np.maximum(n - 1, 1)).sum(axis=0)
    expected = 2 * total_ones * (total - total_ones) / np.maximum(total - 1, 1)
    return np.where(expected > 0, 1 - observed / np.where(expected > 0, expected, 1), np.nan)


def _rate_tables(votes, found, annotators, label_names) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rates of annotators over all labels, and by label, with 95 % intervals."""
    shared = np.bincount(votes.rows, minlength=votes.n_rows)[votes.rows] > 1
    A = len(annotators)
    pairs = pd.MultiIndex.from_product([annotators, label_names], names=["annotator", "label"])
    overall = pd.DataFrame(index=pd.Index(annotators, name="annotator"))
    overall["rows"] = np.bincount(votes.who, minlength=A)
    overall["shared"] = np.bincount(votes.who[shared], minlength=A)
    counts = {"positives": found.positives, "negatives": found.negatives}
    by_label = pd.DataFrame({name: n.ravel() for name, n in counts.items()}, index=pairs)
    names = ("sensitivity", "specificity")
    for name, n, error in zip(names, counts.values(), standard_errors(votes, found), strict=True):
        rates = getattr(found, name)
        share = (n + 1e-9) / (n + 1e-9).sum(axis=1, keepdims=True)
        mean = (share * rates).sum(axis=1)
        # Delta method, with independent rates of the labels.
        mean_error = np.sqrt(((share * rates * (1 - rates) * error) ** 2).sum(axis=1)) / (mean * (1 - mean))
        for table, rate, e in ((by_label, rates.ravel(), error.ravel()), (overall, mean, mean_error)):
            table[name] = rate
            table[f"{name}_low"], table[f"{name}_high"] = (expit(logit(rate) + z * e) for z in (-1.96, 1.96))
    return overall, by_label


def _check(votes, judged, ones, annotators, label_names, with_model: bool) -> None:
    """Refuse labels that nobody used, and annotators whose quality cannot be compared; warn of one alone."""
    if unused := [label_names[j] for j in np.flatnonzero(ones.sum(axis=0) == 0)]:
        raise UserError(f"no annotator gave the label {listed(unused)} to any row. Leave it out.")
    if not with_model and not (judged >= 2).any():
        raise UserError(
            "no two annotators judged the same pair, so their quality cannot be estimated. Have some rows "
            "annotated twice, or give X or probabilities."
        )
    shared = np.zeros(votes.n_annotators, dtype=bool)
    for part, said in row_blocks(votes.said):
        several = ((said >= 0) & (judged[votes.rows[part]] > 1)).any(axis=1)
        shared[votes.who[part][several]] = True
    if not with_model and (alone := [str(annotators[a]) for a in np.flatnonzero(~shared)]):
        warnings.warn(
            f"{listed(alone)} judged no pair that another annotator judged: the rates are guessed from those "
            "of the others. Have some rows annotated twice, or give X or probabilities.",
            UserWarning,
            stacklevel=3,
        )


def _read(annotations, X) -> tuple[Votes, list, list[str], pd.Index, bool]:
    """Return votes; names of annotators, labels and rows; and whether rows or labels were named."""
    long = isinstance(annotations, pd.DataFrame)
    who, keys, codes, names = _read_long(annotations) if long else _read_tables(annotations)
    who, annotators = pd.factorize(who, sort=long)
    if X is None:
        row_names = pd.Index(pd.unique(pd.Series(keys)))
    elif isinstance(X, pd.DataFrame):
        row_names = X.index
    else:
        row_names = pd.RangeIndex(X.shape[0])
    if not row_names.is_unique:
        raise UserError("the index of X has duplicates. Give every row a name of its own.")
    rows = row_names.get_indexer(keys)
    if (rows < 0).any():
        raise UserError(
            f"annotations has a row {str(keys[np.argmax(rows < 0)])!r} that X does not have. Name rows by "
            "the index of a DataFrame X, or number them from 0."
        )
    twice = pd.DataFrame({"row": rows, "who": who}).duplicated().to_numpy()
    if twice.any():
        name, row = str(annotators[who[twice.argmax()]]), str(keys[twice.argmax()])
        raise UserError(f"annotator {name!r} has row {row!r} twice. Keep one of them.")
    judged = (codes >= 0).any(axis=1)
    rows, who = (part[judged].astype(np.int64) for part in (rows, who))
    votes = Votes(rows, who, codes[judged], len(row_names), len(annotators))
    named = names is not None or not row_names.equals(pd.RangeIndex(len(row_names)))
    return votes, list(annotators), names or [str(j) for j in range(codes.shape[1])], row_names, named


def _read_long(table: pd.DataFrame):
    """Return annotators, row names, codes and label names of a long table."""
    if table.empty:
        raise UserError("annotations has no rows. Give a row per annotated row and annotator.")
    for column in ("row", "annotator"):
        if column not in table.columns or table[column].isna().any():
            raise UserError(f"annotations needs a column {column!r} without gaps, and those of the labels.")
    labels: Any = table.drop(columns=["row", "annotator"])
    if list(labels.columns) == ["labels"]:
        cells = table["labels"]
        labels = [list(filter(None, cell.split("|"))) if isinstance(cell, str) else cell for cell in cells]
    found = check_labels(labels, "annotations")
    return table["annotator"], table["row"].to_numpy(), label_codes(found), found.names


def _read_tables(annotations):
    """Return the same of an array (n, L, A), or of a dict or list of tables."""
    if hasattr(annotations, "ndim"):
        if annotations.ndim != 3:
            raise UserError(f"annotations has shape {annotations.shape}: give (rows, labels, annotators).")
        annotations = np.moveaxis(np.asarray(annotations), 2, 0)
    if not isinstance(annotations, dict):
        annotations = {str(a): table for a, table in enumerate(annotations)}
    names, tables, shapes = None, {}, set()
    for annotator, table in annotations.items():
        labels = check_labels(table, f"annotations[{annotator!r}]")
        names = names or labels.names
        columns: Any = labels.names or names or range(labels.shape[1])
        index = table.index if hasattr(table, "iloc") else None
        shapes.add((labels.shape[0] if index is None else None, labels.shape[1], frozenset(columns)))
        if len(columns) == labels.shape[1]:
            tables[annotator] = pd.DataFrame(label_codes(labels), index, columns)
    if len(shapes) != 1:
        raise UserError(
            "annotations has tables of different labels or lengths. Give every annotator a table of the same "
            "rows and labels, with NaN where a label was not judged."
        )
    long = pd.concat(tables)
    who, keys = (long.index.get_level_values(level).to_numpy() for level in (0, 1))
    return who, keys, long[names or long.columns].to_numpy(), names
