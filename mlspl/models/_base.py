"""Base of all estimators: checks of the input, label names, containers of the output, progress."""

import warnings
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.pipeline import Pipeline
from sklearn.utils import gen_batches, get_tags
from sklearn.utils._param_validation import InvalidParameterError
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from mlspl._docs import share
from mlspl._label_sets import label_sets
from mlspl._limits import check_memory
from mlspl._progress import show_progress
from mlspl._validation import (
    Labels,
    check_label_weight,
    check_labels,
    check_names,
    check_order,
    check_sparse,
    explain,
    label_table,
    name_columns,
    unmask,
)
from mlspl.errors import UserError
from mlspl.metrics import top_labels
from mlspl.models._checks import CONSTRAINTS, check_values, warn_of_empty_predictions
from mlspl.solvers import raise_interrupts

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks in this version of scikit-learn."""

    def with_callbacks(method):
        """No callbacks in this version of scikit-learn."""
        return method


_BLOCK_PAIRS = 2**24  # scores of 128 MiB


def store_parameters(estimator, parameters: dict[str, Any]) -> None:
    """Set the arguments of an estimator's ``__init__``, given its ``locals()``, as attributes."""
    for name, value in parameters.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
    """Base of the multi-label classifiers: public methods check, private ones compute.

    A subclass implements

    - ``_fit(X, Y, label_weight)``: X is a float64 array or CSR matrix, Y a boolean array (n, L),
      label_weight None or a float64 array (n, L) that is 0 where Y was unknown (NaN);
    - ``_scores(X)``: real scores (n, L), a label being predicted where its score is positive;

    and, if needed, ``_labels(X, scores)``, the boolean labels (n, L), and ``_probabilities(X, scores)``.

    A one-dimensional y is a single label with any two values; predictions are then one-dimensional, as in
    scikit-learn's binary classifiers.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = CONSTRAINTS
    _float_types: list = [np.float64]  # types that X may have; others are converted to the first
    _sparse_labels = False  # whether `_fit` takes a CSR matrix Y, if no pair has a weight
    _checks_predictions = False  # whether the fit warns if nearly all training rows get no label
    _scores_rows_alone = True  # whether the score of a row is independent of the other rows

    _contents: ClassVar[dict[str, Any]] = {
        "n_features_in_": "int",
        "feature_names_in_": "text (features)?",
        "label_names_": "text (labels)",
        "classes_": "values (_)",
        "_multilabel": "bool",
        "_target_dtype": "dtype?",
        "_negative": "int?",
    }

    @share
    def fit(self, X, Y, label_weight=None, sample_weight=None):
        """Learn all labels.

        Parameters
        ----------
        {X}
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            The labels: 0/1, -1/+1 or boolean; NaN where a label is unknown. Or a collection of label names
            per row, as for `MultiLabelBinarizer`; None for a row with unknown labels.
        label_weight : array of shape (n_samples, n_labels), optional
            Prior weight of each (instance, label) pair; 0 leaves the pair out.
        sample_weight : array of shape (n_samples,), optional
            Weight of each instance; it multiplies the weights of its pairs.

        Returns
        -------
        self
        """
        self._check_parameters()
        X, Y, label_weight, names = self._check_training(X, Y, label_weight, sample_weight)
        names = range(Y.shape[1]) if names is None else names
        self.label_names_ = np.array([str(name) for name in names], dtype=object)
        with raise_interrupts():
            self._fit(X, Y, label_weight)
        if self._multilabel and self._checks_predictions:
            warn_of_empty_predictions(self._predict_rows, X, Y, type(self).__name__)
        return self

    def _check_parameters(self) -> None:
        try:
            self._validate_params()
        except InvalidParameterError as error:
            raise UserError(str(error)) from None

    @share
    def decision_function(self, X, output="array"):
        """Scores of shape (n_samples, n_labels); higher is more likely.

        A label is predicted where its score is positive, unless the estimator has a threshold rule.

        Parameters
        ----------
        {X}
        {output}
        """
        _check_output(output)
        return _output(self._shaped(self._scores(self._check_new(X))), output, self.label_names_, X)

    @share
    def predict(self, X, output="array"):
        """Labels of shape (n_samples, n_labels), in the coding of the training labels.

        Parameters
        ----------
        {X}
        output : {"array", "pandas", "polars", "sets", "sparse"}, default="array"
            "pandas" is a DataFrame with the label names, and the index of X if it has one; "polars" is one of
            polars; "sets" is a list of the label names of each row; "sparse" is a boolean CSR array,
            computed in blocks. Pipelines pass it on: ``pipeline.predict(X, output="sets")``.
        """
        _check_output(output, "sets", "sparse")
        rows = self._check_new(X)
        if output == "sets" and not self._multilabel:
            raise UserError("y was one-dimensional, so there are no sets of labels. Use output='array'.")
        if output not in ("sets", "sparse"):
            return _output(self._coded(self._predict_rows(rows)), output, self.label_names_, X)
        parts = [sparse.csr_array(self._predict_rows(block)) for block in self._row_blocks(rows)]
        table = sparse.vstack(parts, format="csr")
        return label_sets(table, self.label_names_.tolist()) if output == "sets" else table

    def predict_top(self, X, k=5):
        """The k labels of highest score of each row, computed in blocks: see :func:`mlspl.predict_top`."""
        X = self._check_new(X)
        if not 1 <= k <= len(self.label_names_):
            raise UserError(f"k is {k!r}; there are {len(self.label_names_)} labels to choose from.")
        labels, best = [], []
        for rows in self._row_blocks(X):
            scores = self._scores(rows)
            order = top_labels(scores, k)
            labels.append(order)
            best.append(np.take_along_axis(scores, order, axis=1))
        return np.concatenate(labels), np.concatenate(best)

    @share
    def predict_proba(self, X, output="array"):
        """Probabilities of shape (n_samples, n_labels) that each label is present.

        For a one-dimensional y, of shape (n_samples, 2): the probability of each class.

        Parameters
        ----------
        {X}
        {output}
        """
        _check_output(output)
        rows = self._check_new(X)
        probabilities = self._probabilities(rows, self._scores(rows))
        names = self.label_names_
        if not self._multilabel:
            probabilities = np.column_stack([1.0 - probabilities, probabilities])[:, -len(self.classes_) :]
            names = self.classes_
        return _output(probabilities, output, names, X)

    def score(self, X, y, sample_weight=None):
        """Share of rows whose known labels are all predicted correctly (subset accuracy), by row weights.

        Labels in `y` are unknown where they are NaN.
        """
        check_is_fitted(self)
        if not self._multilabel:
            return super().score(X, y, sample_weight)
        predicted = self.predict(X) == 1
        labels = check_labels(y, "y", list(self.label_names_)).dense()
        if labels.shape != predicted.shape:
            raise ValueError(f"y has shape {labels.shape}, and the predictions {predicted.shape}.")
        right = predicted == labels.relevant
        if labels.known is not None:
            right |= ~labels.known
        return float(np.average(right.all(axis=1), weights=sample_weight))

    def _row_blocks(self, X):
        """Blocks of X whose scores fit in memory; all of X if rows are scored together."""
        size = max(1, _BLOCK_PAIRS // len(self.label_names_)) if self._scores_rows_alone else X.shape[0]
        return (X[rows] for rows in gen_batches(X.shape[0], size))

    def _scores_and_labels(self, X) -> tuple[np.ndarray, np.ndarray]:
        """What `decision_function` and `predict` return, with the scores computed once."""
        rows = self._check_new(X)
        scores = self._scores(rows)
        return self._shaped(scores), self._coded(self._labels(rows, scores))

    def _predict_rows(self, X) -> np.ndarray:
        """Boolean labels (n, L) of checked rows."""
        return self._labels(X, self._scores(X))

    def _fit(self, X, Y, label_weight) -> None:
        raise NotImplementedError

    def _scores(self, X) -> np.ndarray:
        raise NotImplementedError

    def _labels(self, X, scores) -> np.ndarray:
        return scores > 0

    def _probabilities(self, X, scores) -> np.ndarray:
        return expit(scores)

    def _check_training(self, X, Y, label_weight, sample_weight=None):
        if Y is None:
            raise ValueError(f"This {type(self).__name__} requires y to be passed, but the target y is None.")
        X = self._table(X)
        Y, names = label_table(Y)
        if X.shape[0] != Y.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but Y has {Y.shape[0]}: they must match.")
        n_labels = Y.shape[1] if Y.ndim == 2 else 1
        is_weighted = label_weight is not None or sample_weight is not None
        n_pairs = X.shape[0] * n_labels if not self._sparse_labels or is_weighted else 0
        check_memory(
            16.0 * X.shape[1] + 100.0 * n_labels + 48.0 * n_pairs,
            f"Tables of {X.shape[0]:,} rows, {X.shape[1]:,} features and {n_labels:,} labels",
            "Use fewer rows or labels, or BSVMClassifier(space='linear') with a sparse Y.",
        )
        check_order(names, label_weight, "label_weight")
        self._multilabel = Y.ndim == 2 and not (Y.shape[1] == 1 and _is_column_of_classes(Y))
        if self._multilabel:
            self._target_dtype = Y.dtype
            labels = check_labels(Y)
            if not self._sparse_labels or is_weighted or labels.unknown is not None:
                labels = labels.dense()
            self._negative = labels.negative
            self.classes_ = np.arange(Y.shape[1])
        else:
            y = column_or_1d(Y, warn=True)
            y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            if len(self.classes_) > 2:
                raise ValueError(
                    "Only binary classification is supported for a one-dimensional y. "
                    f"The type of the target is {type_of_target(y)}: give one 0/1 column per class, "
                    "or a list of labels per row: [[label] for label in y], or y.str.split('|')."
                )
            if joined := [name for name in self.classes_ if isinstance(name, str) and set(name) & set(",;|")]:
                warnings.warn(
                    f"y is read as one label with the classes {self.classes_.tolist()}. If '{joined[0]}' "
                    "means several labels, give a list of labels per row, such as y.str.split(',').",
                    stacklevel=4,
                )
            labels = Labels((y == self.classes_[-1]).reshape(-1, 1))
        label_weight = check_label_weight(label_weight, labels, sample_weight)
        Y = labels.relevant
        if label_weight is not None:
            # The label of a pair without weight must not matter in folds, prototypes and counts.
            Y = Y & (label_weight > 0)
        return X, Y, label_weight, names

    def _check_new(self, X):
        check_is_fitted(self)
        return self._table(X, reset=False)

    def _table(self, X, reset=True):
        """X as an array or CSR matrix of floats; unless `reset`, with the features of the fit."""
        X = name_columns(unmask(X))
        check_names(X, "X")
        check_sparse(X, "X")
        layout = {"accept_sparse": "csr", "order": "C", "ensure_all_finite": False}
        try:
            table = validate_data(self, X, reset=reset, dtype=self._float_types, **layout)
        except (TypeError, ValueError) as error:
            raise explain(error, X, "X", "features") from None
        if sparse.issparse(table):
            # SciPy takes 32-bit indices if they suffice; scikit-learn's trees refuse others.
            table = sparse.csr_matrix((table.data, table.indices, table.indptr), shape=table.shape)
        names = getattr(self, "feature_names_in_", None)
        allow_nan = get_tags(self).input_tags.allow_nan
        check_values(table, type(self).__name__, names, allow_nan=allow_nan, training=reset)
        return table

    def _shaped(self, scores):
        return scores if self._multilabel else scores[:, 0]

    def _coded(self, labels):
        if self._multilabel:
            return np.where(labels, 1, self._negative).astype(self._target_dtype)
        return self.classes_[np.where(labels[:, 0], -1, 0)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        tags.classifier_tags.multi_label = True
        tags.classifier_tags.multi_class = False
        return tags


def _check_output(output: str, *others: str) -> None:
    choices = ("array", "pandas", "polars", *others)
    if output not in choices:
        raise UserError(f"output is {output!r}; give one of {', '.join(map(repr, choices))}.")


def _output(values: Any, output: str, names: Any, X: Any) -> Any:
    """Return an array as it is, or as a DataFrame or Series; that of pandas has the index of X, if any."""
    if output == "polars":
        import polars as pl

        return pl.Series(values) if values.ndim == 1 else pl.DataFrame(values, list(map(str, names)))
    if output == "array":
        return values
    import pandas as pd

    index = X.index if isinstance(X, pd.DataFrame | pd.Series) else None
    if values.ndim == 1:
        return pd.Series(values, index=index)
    return pd.DataFrame(values, index=index, columns=list(names))


@share
def predict_top(model, X, k=5):
    """Return the k labels of highest score of each row.

    Parameters
    ----------
    model : estimator
        A fitted model of mlspl, or a pipeline that ends in one.
    {X}
    k : int, default=5
        Labels per row.

    Returns
    -------
    labels, scores : int array and array (n_samples, k)
        Columns of Y, best first, and their scores. Among equal scores the higher column comes first.

    Examples
    --------
    >>> from mlspl import MLkNNClassifier, predict_top
    >>> X, Y = [[0.0], [1.0], [9.0], [10.0]], [[1, 0], [1, 0], [0, 1], [0, 1]]
    >>> predict_top(MLkNNClassifier(k=1).fit(X, Y), X, k=1)[0].ravel()
    array([0, 0, 1, 1])
    """
    if isinstance(model, Pipeline):
        return model[-1].predict_top(model[:-1].transform(X) if len(model) > 1 else X, k)
    return model.predict_top(X, k)


def _is_column_of_classes(Y) -> bool:
    """Whether a single column holds classes (strings, 1/2, …) rather than a 0/1 or ±1 label."""
    if sparse.issparse(Y):
        return False
    values = np.asarray(Y)
    if values.dtype.kind not in "biuf":
        return True
    return not np.isin(values[~np.isnan(values.astype(np.float64))], (-1, 0, 1)).all()


@contextmanager
def fit_progress(estimator, n_steps: int, X, Y):
    """Show the progress of a fit and call scikit-learn's callbacks.

    Yields a function to call after every step, with a short text; it returns True if a callback asks to stop.
    """
    context = None
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=n_steps)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=Y)
    with show_progress(
        f"steps of {type(estimator).__name__}", n_steps, hidden=not estimator.verbose, lines=True
    ) as advance:

        def step(note: str) -> bool:
            advance(note)
            if context is None:
                return False
            child = context.subcontext(task_name="step")
            child.call_on_fit_task_begin(estimator=estimator, X=X, y=Y)
            return bool(child.call_on_fit_task_end(estimator=estimator, X=X, y=Y))

        yield step
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=Y)
