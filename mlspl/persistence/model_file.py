"""`save_model` and `load_model`: models in files that are safe to share.

A model file is a skops archive: arrays, JSON and the names of types, never code. Only the types of
`TRUSTED_TYPES` are let in, and they are checked before anything is built.
"""

import io
import json
import platform
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mlspl._files import replacing
from mlspl._text import printable
from mlspl.errors import UserError
from mlspl.models import without_training_data
from mlspl.persistence.archive import INFO, LARGEST_FILE, check_archive, read_member
from mlspl.persistence.contents import check_values, refuse_functions, settle_probabilities
from mlspl.persistence.trusted import TRUSTED_TYPES
from mlspl.recipes import Schema

__all__ = ["FORMAT", "ModelInfo", "load_model", "model_bytes", "read_model", "read_model_info", "save_model"]

FORMAT = 2
"""Number of the format of model files; it grows when older readers could not read what is written."""

_PACKAGES = ("mlspl", "scikit-learn", "numpy", "scipy", "skops")


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of its model.

    Attributes
    ----------
    label_names : list of str
        Names of the columns that the model predicts.
    schema : Schema
        The columns it takes: their names, kinds and categories; sparse or dense.
    summary : dict
        How it was trained.
    versions : dict
        Versions of mlspl, Python and the libraries that wrote the file.
    format : int
        Number of the file format.
    """

    label_names: list[str]
    schema: Schema
    summary: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    format: int = FORMAT

    @property
    def feature_names(self) -> list[str] | None:
        """Names of the columns that the model takes; None if it was fitted on an array without names."""
        return None if self.schema.names is None else list(self.schema.names)

    @property
    def nominal(self) -> list[str]:
        """Those of the features that hold categories as text."""
        return [name for name, kind in self.schema.kinds.items() if kind == "categorical"]


def save_model(
    model: Any,
    path: str | PathLike,
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    nominal: Sequence[str] | None = None,
    schema: Schema | None = None,
    summary: Mapping[str, Any] | None = None,
    proba: bool = False,
    trusted: Collection[str] = (),
) -> Path:
    """Write a fitted model to a file that `load_model` reads without running code from it.

    No training data are in the file but what the model predicts from. Probabilities that an estimator leaves
    for later are in it if they were asked for before, or are with `proba`.

    Parameters
    ----------
    model : estimator
        Any of mlspl's, fitted, or a scikit-learn pipeline around one.
    path : path
        The file, by custom with the suffix ``.skops``; one that exists is replaced in one step.
    label_names : sequence of str, optional
        Names of the labels; by default those of the Y the model was fitted on.
    feature_names : sequence of str, optional
        Names of the features; by default those of the X the model was fitted on, if it had any.
    nominal : sequence of str, optional
        Names of the features that hold categories as text; by default those that its encoders learnt.
    schema : Schema, optional
        All that is known of the columns, instead of `feature_names` and `nominal`.
    summary : mapping, optional
        How the model was trained, made of what JSON can hold.
    proba : bool, default=False
        Prepare probabilities now, which can take as long as the fit.
    trusted : collection of str
        Full names of further types the model is made of; `load_model` must be told the same. For your own
        classes and functions, which must be importable where the file is loaded.

    Returns
    -------
    Path
        The file written.

    Raises
    ------
    UserError
        If the model holds something that no file can hold safely, such as a Python function.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl import BSVMClassifier, datasets, load_model, save_model
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = BSVMClassifier(gamma="scale").fit(digits.X[:100], digits.Y[:100])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(model, Path(folder) / "digits.skops", label_names=digits.label_names)
    ...     again = load_model(path)
    >>> bool((again.decision_function(digits.X) == model.decision_function(digits.X)).all())
    True
    """
    path = Path(path)
    data = model_bytes(
        model,
        label_names=label_names,
        feature_names=feature_names,
        nominal=nominal,
        schema=schema,
        summary=summary,
        proba=proba,
        trusted=trusted,
    )
    with replacing(path, "wb") as stream:
        stream.write(data)
    return path


def model_bytes(
    model: Any,
    *,
    label_names: Sequence[str] | None = None,
    feature_names: Sequence[str] | None = None,
    nominal: Sequence[str] | None = None,
    schema: Schema | None = None,
    summary: Mapping[str, Any] | None = None,
    proba: bool = False,
    trusted: Collection[str] = (),
) -> bytes:
    """The content of the file that `save_model` writes; the same parameters."""
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        raise UserError(
            f"{type(model).__name__} is no fitted estimator: fit it before you save it."
        ) from None
    refuse_functions(model, frozenset(trusted))
    if proba:
        settle_probabilities(model)
    final = model.steps[-1][1] if isinstance(model, Pipeline) else model
    names = label_names if label_names is not None else getattr(final, "label_names_", None)
    if names is None:
        raise UserError(f"{type(final).__name__} has no label_names_: pass label_names.")
    if len(set(map(str, names))) < len(names):
        raise UserError("two labels have the same name: pass label_names that tell them apart.")
    for what, given, own in (
        ("label", names, len(getattr(final, "label_names_", names))),
        ("feature", feature_names, getattr(model, "n_features_in_", None)),
    ):
        if given is not None and own is not None and len(given) != own:
            raise UserError(f"{what}_names has {len(given)} names, and the model has {own} {what}s.")
    info = {
        "format": FORMAT,
        "versions": {name: version(name) for name in _PACKAGES} | {"python": platform.python_version()},
        "label_names": [str(name) for name in names],
        "schema": (schema or Schema.from_model(model, feature_names, nominal)).to_json(),
        "summary": dict(summary or {}),
    }
    try:
        text = json.dumps(info, indent=1)
    except (TypeError, ValueError) as error:
        raise UserError(f"summary must be made of what JSON can hold: {error}.") from None
    try:
        with without_training_data():
            stream = io.BytesIO(_skops().dumps(model))
    except Exception as error:
        # skops has a dozen reasons, and a type of error for each.
        raise UserError(f"this model cannot be saved: {error}") from error
    with ZipFile(stream, "a") as archive:
        archive.writestr(INFO, text)
    data = stream.getvalue()
    if len(data) > LARGEST_FILE:
        raise UserError(f"this model takes {len(data)} bytes; a model file has at most {LARGEST_FILE}.")
    try:
        check_archive(data, trusted)
    except UserError as error:
        raise UserError(
            f"this model cannot be saved: {error} Name your own types in trusted, here and when you load it."
        ) from None
    try:
        # What is written can be read, by the same checks.
        _build(data, trusted)
    except Exception as error:
        raise UserError(f"this model cannot be saved: {error}") from error
    return data


def load_model(path: str | PathLike, trusted: Collection[str] = ()) -> Any:
    """Load a model from a file of `save_model`; nothing in the file is run as code.

    Parameters
    ----------
    path : path
        The file.
    trusted : collection of str
        Full names of types that you let in beside those of `mlspl.models.TRUSTED_TYPES`. Name only what you
        know: a class named here is built with whatever values the file holds.

    Returns
    -------
    estimator
        Predicts bit for bit what the saved one did.

    Raises
    ------
    UserError
        If the file is no model file, was changed, names types beside the trusted ones, or was written by a
        newer version of mlspl; it says which.

    Examples
    --------
    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> from mlspl import load_model
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "model.skops"
    ...     _ = path.write_bytes(pickle.dumps("anything"))
    ...     load_model(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    mlspl.errors.UserError: ...model.skops was refused: it is a pickle, which could run any code. ...
    """
    model, _ = read_model(path, trusted)
    return model


def read_model(path: str | PathLike, trusted: Collection[str] = ()) -> tuple[Any, ModelInfo]:
    """Load a model as `load_model` does, and what its file says of it.

    Parameters
    ----------
    path : path
        A file of `save_model`.
    trusted : collection of str
        As for `load_model`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl import MLkNNClassifier, datasets, save_model
    >>> from mlspl.persistence import read_model
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLkNNClassifier().fit(digits.X[:100], digits.Y[:100])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     again, info = read_model(save_model(model, Path(folder) / "digits.skops"))
    >>> again.k, info.schema.n_features
    (10, 64)
    """
    path = Path(path)
    data = _read(path)
    info = _info(data, path)
    try:
        check_archive(data, trusted)
    except UserError as error:
        raise _refusal(path, error, info) from None
    try:
        model = _build(data, trusted)
        n_features = getattr(model, "n_features_in_", 0)
        if info.schema.n_features not in (0, n_features):
            raise ValueError(f"it has {info.schema.n_features} columns, and its model {n_features}")
        return model, info
    except Exception as error:
        # Of allowed types alone a changed file can still make nonsense, which fails in any way it likes.
        raise _refusal(path, f"it is damaged ({type(error).__name__}: {error}).", info) from error


def _build(data: bytes, trusted: Collection[str]) -> Any:
    """The model of an archive whose types have been checked; its values are, before anyone sees it."""
    model = _skops().loads(data, trusted=[*TRUSTED_TYPES, *trusted])
    if not hasattr(model, "predict"):
        raise TypeError(f"it holds a {type(model).__name__}, not a model")
    check_values(model, frozenset(trusted))
    return model


def read_model_info(path: str | PathLike) -> ModelInfo:
    """Read what a model file says of its model, without building the model.

    Parameters
    ----------
    path : path
        A file of `save_model`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl import MLkNNClassifier, datasets, save_model
    >>> from mlspl.persistence import read_model_info
    >>> digits = datasets.load_dataset("digits-traits")
    >>> model = MLkNNClassifier().fit(digits.X[:100], digits.Y[:100])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = save_model(model, Path(folder) / "digits.skops", label_names=digits.label_names)
    ...     read_model_info(path).label_names[:2]
    ['even', 'prime']
    """
    path = Path(path)
    data = _read(path)
    return _info(data, path)


def _skops() -> Any:
    """skops.io, imported late: with it come all of scikit-learn's estimators, a second and a half of them."""
    import skops.io

    return skops.io


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise UserError(f"{path} is not a file. Check the name and the folder.")
    if path.stat().st_size > LARGEST_FILE:
        raise _refusal(path, f"it is larger than {LARGEST_FILE // 2**30} GiB.")
    data = path.read_bytes()
    if data.startswith(b"\x80"):
        raise _refusal(path, "it is a pickle, which could run any code.")
    return data


def _info(data: bytes, path: Path) -> ModelInfo:
    """The names and versions of a file, checked; a newer format is refused by name."""
    check = UserError("it is no model file, or was cut short.")
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            if INFO not in archive.namelist():
                check = UserError(f"it has no {INFO}, so mlspl did not write it.")
            told = json.loads(read_member(archive, INFO))
    except UserError as error:
        raise _refusal(path, error) from None
    except Exception:
        raise _refusal(path, check) from None
    number = told.get("format") if isinstance(told, dict) else None
    if type(number) is not int or number < 1:
        raise _refusal(path, f"its {INFO} has no format number.")
    versions = told.get("versions")
    if not isinstance(versions, dict) or not all(isinstance(text, str) for text in versions.values()):
        raise _refusal(path, f"the versions in its {INFO} are damaged.")
    if number != FORMAT:
        raise UserError(
            f"{path} was written by mlspl {versions.get('mlspl', '?')[:40]} in format {number}; this is "
            f"mlspl {version('mlspl')}, which reads format {FORMAT}. "
            + ("Update mlspl." if number > FORMAT else "Fit the model again.")
        )
    labels, summary = told.get("label_names"), told.get("summary")
    if not _are_names(labels) or not labels or not isinstance(summary, dict):
        raise _refusal(path, f"the names in its {INFO} are damaged.")
    try:
        schema = Schema.from_json(told.get("schema"))
    except ValueError as error:
        raise _refusal(path, f"the columns in its {INFO} are damaged: {error}.") from None
    return ModelInfo(labels, schema, summary, versions, number)


def _are_names(names: Any) -> bool:
    """Whether this is a list of different texts."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return False
    return len(set(names)) == len(names)


def _refusal(path: Path, reason: Any, info: ModelInfo | None = None) -> UserError:
    written = "" if info is None else info.versions.get("mlspl", "")[:40]
    advice = "Load only files that save_model or `mlspl fit` has written."
    if written and written != version("mlspl"):
        advice = f"It says that mlspl {written} wrote it; this is mlspl {version('mlspl')}."
    return UserError(f"{path} was refused: {printable(str(reason)[:500])} {printable(advice)}")
