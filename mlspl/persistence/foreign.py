"""scikit-learn's estimators that a model file may hold, and what is checked of them.

Compiled code trusts what a fit has left, such as the columns of an encoder or the numbers of a vocabulary.
Only public attributes are looked at; what scikit-learn derives from them in private is derived anew.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    LabelBinarizer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

__all__ = ["FOREIGN_CHECKS", "FOREIGN_CONTENTS"]

_LONGEST_NGRAM = 16  # all pieces of a long text take its length squared

_LINEAR = {"coef_": "float (outputs, features)", "classes_": "values (classes)"}
FOREIGN_CONTENTS: dict[type, dict[str, Any]] = {
    BernoulliNB: {
        "feature_log_prob_": "float (classes, features)",
        "class_log_prior_": "float (classes)",
        "classes_": "values (classes)",
    },
    ColumnTransformer: {"transformers_": ["any"]},
    GaussianNB: {
        "theta_": "float (classes, features)",
        "var_": "float (classes, features)",
        "class_prior_": "float (classes)",
        "classes_": "values (classes)",
    },
    LabelBinarizer: {"classes_": "values (classes)"},
    LinearSVC: _LINEAR,
    LogisticRegression: _LINEAR,
    MaxAbsScaler: {"scale_": "float (features)"},
    MinMaxScaler: {"scale_": "float (features)", "min_": "float (features)"},
    Normalizer: {},
    OneHotEncoder: {"categories_": ["values (_)"]},
    OrdinalEncoder: {"categories_": ["any"]},
    PCA: {
        "components_": "float (components, features)",
        "mean_": "float (features)",
        "explained_variance_": "float (components)",
    },
    Pipeline: {},
    RidgeClassifier: {},
    RobustScaler: {"center_": "float (features)?", "scale_": "float (features)?"},
    SimpleImputer: {"statistics_": "values (features)"},
    StandardScaler: {"mean_": "float (features)?", "scale_": "float (features)?"},
    TfidfTransformer: {"idf_": "float (features)"},
    TfidfVectorizer: {"vocabulary_": {str: "int"}},
    TruncatedSVD: {"components_": "float (components, features)"},
}
"""The estimators, and which shapes their public parts have."""


def _check_columns(where: str, transformer: ColumnTransformer) -> None:
    """Refuse columns that are chosen by anything but names or numbers."""
    for part in vars(transformer).get("transformers_", ()):
        if type(part) is not tuple or len(part) != 3:
            raise ValueError(f"{where} has a part that is no name, transformer and columns")


def _settle_encoder(where: str, encoder: OneHotEncoder) -> None:
    """Have scikit-learn derive from the categories what compiled code fills columns by without a look."""
    state = vars(encoder)
    if any(state.get(name) is not None for name in ("drop", "min_frequency", "max_categories", "drop_idx_")):
        raise ValueError(f"{where} is a OneHotEncoder that drops or groups categories")
    categories = state.get("categories_", [])
    if not all(map(_are_categories, categories)):
        raise ValueError(f"{where} is a OneHotEncoder with categories out of order")
    twin = OneHotEncoder()
    if categories:
        if state.get("n_features_in_") != len(categories):
            raise ValueError(f"{where} is a OneHotEncoder of other columns than its categories")
        first = np.array([[values[0] for values in categories]], dtype=object)
        twin = OneHotEncoder(categories=[values.astype(object) for values in categories]).fit(first)
    for name in [name for name in state if name.startswith("_")]:
        del state[name]
    state.update({name: part for name, part in vars(twin).items() if name.startswith("_")})


def _are_categories(values: np.ndarray) -> bool:
    """Whether these are different values, in ascending order unless they are Python objects."""
    if not len(values):
        return False
    if values.dtype == object:
        return len(dict.fromkeys(values.tolist())) == len(values)
    return np.array_equal(np.unique(values), values, equal_nan=values.dtype.kind == "f")


def _check_vocabulary(where: str, vectorizer: TfidfVectorizer) -> None:
    """Refuse words that are not numbered from 0 on, code, files as input, and patterns of a stranger's."""
    state, plain = vars(vectorizer), TfidfVectorizer()
    numbers = sorted(state.get("vocabulary_", {}).values())
    if numbers != list(range(len(numbers))):
        raise ValueError(f"{where} has a vocabulary that is not numbered from 0 on")
    for name in ("input", "token_pattern", "tokenizer", "preprocessor"):
        if state.get(name) != getattr(plain, name):
            raise ValueError(f"{where} has another {name} than scikit-learn's default")
    if state.get("analyzer") not in ("word", "char", "char_wb"):
        raise ValueError(f"{where} has an analyzer of its own")
    shortest, longest = state["ngram_range"]
    if not 1 <= shortest <= longest <= _LONGEST_NGRAM:
        raise ValueError(f"{where} has n-grams longer than {_LONGEST_NGRAM}")


FOREIGN_CHECKS: dict[type, Callable[[str, Any], None]] = {
    ColumnTransformer: _check_columns,
    OneHotEncoder: _settle_encoder,
    TfidfVectorizer: _check_vocabulary,
}
"""What shapes alone cannot say of them."""
