"""What every estimator shares: checking the input, keeping the names, shaping the answers."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import gen_batches, get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from mlspl._label_sets import label_sets
from mlspl._limits import FLOAT, Cost, FitSize, check_limits
from mlspl._validation import (
    Labels,
    check_label_weight,
    check_labels,
    check_names,
    check_order,
    explain,
    label_table,
    name_columns,
    unmask,
    weigh_rows,
)
from mlspl.errors import UserError
from mlspl.models._inputs import check_values, short_indices
from mlspl.models._notebook import NotebookMixin
from mlspl.models._outputs import as_frame, check_output
from mlspl.models._parameters import check_parameters

__all__ = ["MultiLabelClassifier"]

_BLOCK_PAIRS = 2**24  # scores of 128 MiB


class MultiLabelClassifier(NotebookMixin, ClassifierMixin, BaseEstimator):
    """Base of the multi-label classifiers: public methods check, private ones work.

    A subclass implements

    - ``_fit(X, Y, label_weight)``: X is a float64 array or CSR matrix, Y a boolean array (n, L),
      label_weight None or a float64 array (n, L) that is 0 where Y was unknown (NaN);
    - ``_scores(X)``: real scores (n, L), a label being predicted where its score is positive;

    and, where its scores alone do not decide, ``_labels(X, scores)``, the boolean labels (n, L), or
    ``_probabilities(X, scores)``. ``_cost(size)`` gives memory and time of a fit.

    Y may be 0/1, ±1 or boolean, dense, sparse or a DataFrame; predictions come back dense, in the same
    coding. A one-dimensional y is a single label with any two values; answers are then one-dimensional,
    as scikit-learn's binary classifiers give them.
    """

    _float_types: list = [np.float64]
    """What X may hold; anything else becomes the first of these."""

    _sparse_labels = False
    """Whether ``_fit`` takes a Y that is CSR, where every pair counts fully."""

    _scores_rows_alone = True
    """Whether the score of a row does not depend on the rows beside it."""

    _contents: ClassVar[dict[str, Any]] = {
        "n_features_in_": "int",
        "feature_names_in_": "text (features)?",
        "label_names_": "text (labels)",
        "classes_": "values (_)",
        "_multilabel": "bool",
        "_target_dtype": "dtype?",
        "_negative": "int?",
    }

    def fit(self, X, Y, label_weight=None, sample_weight=None):
        """Learn all labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            The labels: 0/1, -1/+1 or boolean; NaN where a label is not known. Or a collection of label
            names per row, as `MultiLabelBinarizer` takes them; None for a row whose labels are not known.
        label_weight : array of shape (n_samples, n_labels), optional
            Prior weight of each (instance, label) pair; 0 leaves the pair out.
        sample_weight : array of shape (n_samples,), optional
            Weight of each instance, by which those of its pairs are multiplied.

        Returns
        -------
        self
        """
        check_parameters(self)
        X, Y, label_weight, names = self._check_training(X, Y, label_weight, sample_weight)
        if names is None:
            names = range(Y.shape[1])
        self.label_names_ = np.array([str(name) for name in names], dtype=object)
        self._fit(X, Y, label_weight)
        return self

    def decision_function(self, X, output="array"):
        """Scores of shape (n_samples, n_labels): the higher, the likelier.

        A label is predicted where its score is positive, unless the estimator has a threshold rule.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        output : {"array", "pandas"}, default="array"
            "pandas" is a DataFrame with the labels' names, and the index of X if it has one.
        """
        check_output(output, ("array", "pandas"))
        scores = self._shaped(self._scores(self._check_new(X)))
        return as_frame(scores, self.label_names_, X) if output == "pandas" else scores

    def predict(self, X, output="array"):
        """Labels of shape (n_samples, n_labels), in the coding of the training labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        output : {"array", "pandas", "sets", "sparse"}, default="array"
            "pandas" is a DataFrame with the labels' names, and the index of X if it has one; "sets" a list
            with the names of every row's labels; "sparse" a boolean CSR array, without a table of rows by
            labels on the way.
        """
        check_output(output, ("array", "pandas", "sets", "sparse"))
        rows = self._check_new(X)
        if output == "sets" and not self._multilabel:
            raise UserError("y was one-dimensional: every row has one class, and no set of labels.")
        if output in ("array", "pandas"):
            labels = self._coded(self._labels(rows, self._scores(rows)))
            return as_frame(labels, self.label_names_, X) if output == "pandas" else labels
        parts = [
            sparse.csr_array(self._labels(block, self._scores(block))) for block in self._row_blocks(rows)
        ]
        table = sparse.vstack(parts, format="csr")
        return label_sets(table, self.label_names_.tolist()) if output == "sets" else table

    def predict_top(self, X, k=5):
        """The k labels of highest score of every row, best first, without a table of rows by labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        k : int, default=5
            How many labels a row.

        Returns
        -------
        labels : int array (n_samples, k)
            Columns of Y; of equal scores the first comes first.
        scores : array (n_samples, k)
            Their scores.
        """
        X = self._check_new(X)
        if not 1 <= k <= len(self.label_names_):
            raise UserError(f"k is {k!r}; there are {len(self.label_names_)} labels to choose from.")
        labels, best = [], []
        for rows in self._row_blocks(X):
            scores = self._scores(rows)
            order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
            labels.append(order)
            best.append(np.take_along_axis(scores, order, axis=1))
        return np.concatenate(labels), np.concatenate(best)

    def predict_proba(self, X, output="array"):
        """Probabilities of shape (n_samples, n_labels) that each label is present.

        For a one-dimensional y, of shape (n_samples, 2): the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        output : {"array", "pandas"}, default="array"
            "pandas" is a DataFrame with the labels' names, and the index of X if it has one.
        """
        check_output(output, ("array", "pandas"))
        rows = self._check_new(X)
        probabilities = self._probabilities(rows, self._scores(rows))
        names = self.label_names_
        if not self._multilabel:
            probabilities = np.column_stack([1.0 - probabilities, probabilities])[:, -len(self.classes_) :]
            names = self.classes_
        return as_frame(probabilities, names, X) if output == "pandas" else probabilities

    def score(self, X, y, sample_weight=None):
        """Share of rows whose known labels are all predicted right (subset accuracy).

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            Their labels; NaN where one is not known.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.
        """
        check_is_fitted(self)
        if not self._multilabel:
            return super().score(X, y, sample_weight)
        predicted = self.predict(X) == 1
        labels = check_labels(y, "y", list(self.label_names_)).dense()
        truth, known = labels.relevant, labels.known
        if truth.shape != predicted.shape:
            raise ValueError(f"y has shape {truth.shape}, and the predictions {predicted.shape}.")
        right = predicted == truth
        if known is not None:
            right |= ~known
        return float(np.average(right.all(axis=1), weights=sample_weight))

    def _row_blocks(self, X):
        """Parts of X whose scores may be held; all of it where rows are scored together."""
        size = max(1, _BLOCK_PAIRS // len(self.label_names_)) if self._scores_rows_alone else X.shape[0]
        return (X[rows] for rows in gen_batches(X.shape[0], size))

    def _fit(self, X, Y, label_weight) -> None:
        raise NotImplementedError

    def _cost(self, size: FitSize) -> Cost:
        """Two copies of X, a dozen tables like Y, and what a sparse X takes to be turned around.

        What is built around another of these estimators costs what that one does, and a fold more.
        """
        inner = getattr(self, "estimator", None)
        if isinstance(inner, MultiLabelClassifier):
            cost = inner._cost(size)
            return cost._replace(bytes=1.4 * cost.bytes)
        return Cost(FLOAT * (2 * size.values + 12 * size.rows * size.labels + 2 * size.features))

    def _smaller_settings(self) -> dict:
        """Settings that take less memory, as one writes them, and their laws of growth."""
        return {}

    def _scores(self, X) -> np.ndarray:
        raise NotImplementedError

    def _labels(self, X, scores) -> np.ndarray:
        return scores > 0

    def _probabilities(self, X, scores) -> np.ndarray:
        raise NotImplementedError

    def _check_training(self, X, Y, label_weight, sample_weight=None):
        if Y is None:
            raise ValueError(f"This {type(self).__name__} requires y to be passed, but the target y is None.")
        X = self._table(X)
        Y, names = label_table(Y)
        if X.shape[0] != Y.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but Y has {Y.shape[0]}: they must match.")
        check_order(names, label_weight, "label_weight")
        label_weight = weigh_rows(label_weight, sample_weight, X.shape[0])
        self._check_values(X, training=True)
        check_limits(type(self).__name__, self._cost, FitSize.of(X, Y), others=self._smaller_settings())
        self._multilabel = Y.ndim == 2 and not (Y.shape[1] == 1 and _is_column_of_classes(Y))
        if self._multilabel:
            self._target_dtype = Y.dtype
            labels = check_labels(Y)
            if not self._sparse_labels or label_weight is not None or labels.unknown is not None:
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
            labels = Labels((y == self.classes_[-1]).reshape(-1, 1))
        label_weight = check_label_weight(label_weight, labels)
        Y = labels.relevant
        if label_weight is not None:
            # What a pair without weight was said to be must not matter: not in folds, prototypes or counts.
            Y = Y & (label_weight > 0)
        return X, Y, label_weight, names

    def _check_new(self, X):
        check_is_fitted(self)
        X = self._table(X, reset=False)
        self._check_values(X)
        return X

    def _table(self, X, reset=True):
        """X as an array or CSR matrix of floats, of the features of the fit unless they are set anew."""
        X = name_columns(unmask(X))
        check_names(X, "X")
        layout = {
            "accept_sparse": "csr",
            "dtype": self._float_types,
            "order": "C",
            "ensure_all_finite": False,
        }
        try:
            return short_indices(validate_data(self, X, reset=reset, **layout))
        except (TypeError, ValueError) as error:
            raise explain(error, X, "X", "features") from None

    def _check_values(self, X, training=False):
        names = getattr(self, "feature_names_in_", None)
        allow_nan = get_tags(self).input_tags.allow_nan
        check_values(X, type(self).__name__, names, allow_nan=allow_nan, training=training)

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


def _is_column_of_classes(Y) -> bool:
    """Whether a single column holds classes (strings, 1/2, …) rather than a 0/1 or ±1 label."""
    if sparse.issparse(Y):
        return False
    values = np.asarray(Y)
    if values.dtype.kind not in "biuf":
        return True
    return not np.isin(values[~np.isnan(values.astype(np.float64))], (-1, 0, 1)).all()
