"""The scikit-learn classes that a model file may hold, and what is checked of them.

Fitted attributes that are one number or one text need no declaration. What compiled code uses as indices is
checked, or computed again from public attributes.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import LinearSVC

_LONGEST_NGRAM = 8
_NGRAM_LENGTHS = 5  # n-grams of each length take about 20 times the memory of the text


def _contents(features: str = "", optional: str = "", **others: Any) -> dict[str, Any]:
    """Return a declaration: names of arrays with one number per feature, and what else there is."""
    names = dict.fromkeys(features.split(), "float (features)")
    names |= dict.fromkeys(optional.split(), "float (features)?")
    return names | others | {"feature_names_in_": "values (features)?"}


_LINEAR = _contents(
    coef_="float (outputs, features)", classes_="values (classes)", intercept_="plain", n_iter_="plain?"
)
_RATIOS = ("explained_variance_", "explained_variance_ratio_", "singular_values_")
_COMPONENTS = {"components_": "float (components, features)"} | dict.fromkeys(_RATIOS, "float (components)")
_COLUMN = (tuple, "text", "transformer", "plain")
SKLEARN_CONTENTS: dict[type, dict[str, Any]] = {
    ColumnTransformer: _contents(
        transformers=[_COLUMN],
        transformers_=[_COLUMN],
        remainder="transformer",
        transformer_weights="plain?",
        verbose_feature_names_out="bool",
        output_indices_={str: slice},
        _columns="plain",
        _remainder=_COLUMN,
        _transformer_to_input_indices="plain",
    ),
    GaussianNB: _contents(
        theta_="float (classes, features)",
        var_="float (classes, features)",
        classes_="values (classes)",
        class_count_="float (classes)",
        class_prior_="float (classes)",
    ),
    LinearSVC: _LINEAR,
    LogisticRegression: _LINEAR,
    MaxAbsScaler: _contents("scale_ max_abs_"),
    MinMaxScaler: _contents("scale_ min_ data_min_ data_max_ data_range_"),
    Normalizer: _contents(),
    OneHotEncoder: _contents(
        categories_=["values (_)"],
        drop_idx_=(None,),
        _drop_idx_after_grouping=(None,),
        _n_features_outs="plain",
    ),
    OrdinalEncoder: _contents(categories_=["values (_)"], _missing_indices="plain"),
    PCA: _contents("mean_", **_COMPONENTS),
    Pipeline: {"steps": [(tuple, "text", "step")]},
    RobustScaler: _contents(optional="center_ scale_"),
    SimpleImputer: _contents(
        statistics_="values (features)", indicator_=(None,), _fit_dtype="plain", _fill_dtype="plain?"
    ),
    StandardScaler: _contents(optional="mean_ var_ scale_", n_samples_seen_="plain"),
    TfidfTransformer: _contents("idf_"),
    TfidfVectorizer: {"vocabulary": (None,), "vocabulary_": {str: "int"}, "_tfidf": TfidfTransformer},
    TruncatedSVD: _contents(**_COMPONENTS),
}
"""The classes, and the declarations of their contents."""


def _rebuild_encoder(where: str, encoder: OneHotEncoder) -> None:
    """Have scikit-learn derive its private attributes from the categories: compiled code relies on them."""
    state = vars(encoder)
    if any(state.get(name) is not None for name in ("drop", "min_frequency", "max_categories")):
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
    for name in [name for name in state if name.startswith("_") and name != "_sklearn_output_config"]:
        del state[name]
    state.update({name: part for name, part in vars(twin).items() if name.startswith("_")})


def _are_categories(values: np.ndarray) -> bool:
    """Whether these are different values, in ascending order unless they are Python objects."""
    if values.dtype == object:
        return 0 < len(values) == len(dict.fromkeys(values.tolist()))
    is_float = values.dtype.kind == "f"
    return len(values) > 0 and np.array_equal(np.unique(values), values, equal_nan=is_float)


def _check_vectorizer(where: str, vectorizer: TfidfVectorizer) -> None:
    """Refuse words that are not numbered from 0 on, files as input, and patterns other than the default."""
    state, default = vars(vectorizer), TfidfVectorizer()
    numbers = sorted(state.get("vocabulary_", {}).values())
    if numbers != list(range(len(numbers))):
        raise ValueError(f"{where} has a vocabulary that is not numbered from 0 on")
    for name in ("input", "token_pattern", "tokenizer", "preprocessor"):
        if state[name] != getattr(default, name):
            raise ValueError(f"{where} has another {name} than scikit-learn's default")
    if state["analyzer"] not in ("word", "char", "char_wb"):
        raise ValueError(f"{where} has an analyzer of its own")
    shortest, longest = state["ngram_range"]
    if not 1 <= shortest <= longest <= min(_LONGEST_NGRAM, shortest + _NGRAM_LENGTHS - 1):
        raise ValueError(
            f"{where} has n-grams of over {_LONGEST_NGRAM} parts or of over {_NGRAM_LENGTHS} lengths"
        )


SKLEARN_CHECKS: dict[type, Callable[[str, Any], None]] = {
    OneHotEncoder: _rebuild_encoder,
    TfidfVectorizer: _check_vectorizer,
}
"""Checks of what a declaration cannot say."""
