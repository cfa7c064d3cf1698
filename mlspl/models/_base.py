"""What every estimator shares: checking the input, keeping the names, shaping the answers."""

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d, validate_data

from mlspl.models._inputs import check_names, check_values, explained, short_indices, unmasked
from mlspl.models._limits import FLOAT, Cost, FitSize, check_limits

__all__ = ["MultiLabelClassifier", "check_label_weight", "check_labels"]


class MultiLabelClassifier(ClassifierMixin, BaseEstimator):
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

    def fit(self, X, Y, label_weight=None):
        """Learn all labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        Y : array, sparse matrix or DataFrame of shape (n_samples, n_labels)
            The labels: 0/1, -1/+1 or boolean; NaN where a label is not known.
        label_weight : array of shape (n_samples, n_labels), optional
            Prior weight of each (instance, label) pair; 0 leaves the pair out.

        Returns
        -------
        self
        """
        names = getattr(Y, "columns", None)
        X, Y, label_weight = self._check_training(X, Y, label_weight)
        if names is None:
            names = range(Y.shape[1])
        self.label_names_ = np.array([str(name) for name in names], dtype=object)
        self._fit(X, Y, label_weight)
        return self

    def decision_function(self, X):
        """Scores of shape (n_samples, n_labels): the higher, the likelier.

        A label is predicted where its score is positive, unless the estimator has a threshold rule.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        """
        return self._shaped(self._scores(self._check_new(X)))

    def predict(self, X):
        """Labels of shape (n_samples, n_labels), in the coding of the training labels.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        """
        X = self._check_new(X)
        return self._coded(self._labels(X, self._scores(X)))

    def predict_proba(self, X):
        """Probabilities of shape (n_samples, n_labels) that each label is present.

        For a one-dimensional y, of shape (n_samples, 2): the probability of each class.

        Parameters
        ----------
        X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
            The instances.
        """
        X = self._check_new(X)
        probabilities = self._probabilities(X, self._scores(X))
        if self._multilabel:
            return probabilities
        return np.column_stack([1.0 - probabilities, probabilities])[:, -len(self.classes_) :]

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
        truth, known, _ = check_labels(unmasked(y))
        if truth.shape != predicted.shape:
            raise ValueError(f"y has shape {truth.shape}, and the predictions {predicted.shape}.")
        right = predicted == truth
        if known is not None:
            right |= ~known
        return float(np.average(right.all(axis=1), weights=sample_weight))

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

    def _scores(self, X) -> np.ndarray:
        raise NotImplementedError

    def _labels(self, X, scores) -> np.ndarray:
        return scores > 0

    def _probabilities(self, X, scores) -> np.ndarray:
        raise NotImplementedError

    def _check_training(self, X, Y, label_weight):
        if Y is None:
            raise ValueError(f"This {type(self).__name__} requires y to be passed, but the target y is None.")
        X, Y = self._table(X), unmasked(Y)
        check_names(Y, "Y")
        try:
            Y = check_array(Y, accept_sparse="csr", dtype=None, ensure_2d=False, ensure_all_finite=False)
        except (TypeError, ValueError) as error:
            raise explained(error, Y, "Y", "labels") from None
        if X.shape[0] != Y.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows but Y has {Y.shape[0]}: they must match.")
        self._check_values(X, training=True)
        check_limits(type(self).__name__, self._cost, FitSize.of(X, Y))
        self._multilabel = Y.ndim == 2 and not (Y.shape[1] == 1 and _is_column_of_classes(Y))
        if self._multilabel:
            self._target_dtype = Y.dtype
            Y, known, self._negative = check_labels(Y)
            self.classes_ = np.arange(Y.shape[1])
        else:
            y = column_or_1d(Y, warn=True)
            y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
            check_classification_targets(y)
            self.classes_ = np.unique(y)
            if len(self.classes_) > 2:
                raise ValueError(
                    "Only binary classification is supported for a one-dimensional y. "
                    f"The type of the target is {type_of_target(y)}: give one 0/1 column per class."
                )
            Y = (y == self.classes_[-1]).reshape(-1, 1)
            known = None
        label_weight = check_label_weight(label_weight, Y.shape, known)
        if label_weight is not None:
            # What a pair without weight was said to be must not matter: not in folds, prototypes or counts.
            Y = Y & (label_weight > 0)
        return X, Y, label_weight

    def _check_new(self, X):
        check_is_fitted(self)
        X = self._table(X, reset=False)
        self._check_values(X)
        return X

    def _table(self, X, reset=True):
        """X as a float64 array or CSR matrix, of the features of the fit unless they are set anew."""
        X = unmasked(X)
        check_names(X, "X")
        layout = {"accept_sparse": "csr", "dtype": np.float64, "order": "C", "ensure_all_finite": False}
        try:
            return short_indices(validate_data(self, X, reset=reset, **layout))
        except (TypeError, ValueError) as error:
            raise explained(error, X, "X", "features") from None

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


def check_labels(Y):
    """Check a label matrix of shape (n, L).

    Parameters
    ----------
    Y : array or sparse matrix of shape (n, L)
        0/1, -1/+1 or boolean; NaN where unknown.

    Returns
    -------
    positive : bool array (n, L)
        True where the label is present.
    known : bool array (n, L) or None
        False where the label was NaN; None when all are known.
    negative : int
        How absence was written: 0 or -1.

    Examples
    --------
    >>> import numpy as np
    >>> positive, known, negative = check_labels(np.array([[1, -1], [-1, 1]]))
    >>> negative
    -1
    """
    Y = Y.toarray() if sparse.issparse(Y) else np.asarray(Y)
    if Y.ndim != 2 or Y.shape[1] == 0:
        raise ValueError(f"Y must have shape (n_samples, n_labels) with at least one label; got {Y.shape}.")
    try:
        values = Y.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"Unknown label type: {explained(error, Y, 'Y', 'labels')}") from None
    unknown = np.isnan(values)
    negative = -1 if np.any(values == -1) else 0
    valid = unknown | (values == 1) | (values == negative)
    if not valid.all():
        row, column = np.argwhere(~valid)[0]
        raise ValueError(
            f"Unknown label type: Y[{row}, {column}] is {values[row, column]:g}. Y must hold 0/1 "
            "(or -1/+1, not both), one column per label, NaN where a label is unknown."
        )
    return np.ascontiguousarray(values == 1), (~unknown if unknown.any() else None), negative


def check_label_weight(label_weight, shape, known=None):
    """Check the prior weights and give unknown pairs weight 0.

    Parameters
    ----------
    label_weight : array broadcastable to `shape`, or None
        Finite, non-negative weights.
    shape : tuple (n, L)
        The shape of the labels.
    known : bool array (n, L), optional
        False where a label is unknown.

    Returns
    -------
    array (n, L) or None
        None when every pair counts fully.

    Examples
    --------
    >>> check_label_weight(None, (3, 2)) is None
    True
    """
    if label_weight is None:
        return None if known is None else known.astype(np.float64)
    label_weight = check_array(label_weight, ensure_2d=False, dtype=np.float64, input_name="label_weight")
    if label_weight.ndim == 1:
        label_weight = label_weight[:, None]
    if label_weight.shape not in {shape, (shape[0], 1)}:
        raise ValueError(
            f"label_weight has shape {label_weight.shape}; it must match Y, {shape}, or be one column."
        )
    if (label_weight < 0).any():
        raise ValueError("label_weight must not be negative; 0 leaves a pair out.")
    label_weight = np.array(np.broadcast_to(label_weight, shape))
    if known is not None:
        label_weight[~known] = 0.0
    return label_weight


def _is_column_of_classes(Y) -> bool:
    """Whether a single column holds classes (strings, 1/2, …) rather than a 0/1 or ±1 label."""
    if sparse.issparse(Y):
        return False
    values = np.asarray(Y)
    if values.dtype.kind not in "biuf":
        return True
    return not np.isin(values[~np.isnan(values.astype(np.float64))], (-1, 0, 1)).all()
