"""`save_model` and `load_model`: models in files that are safe to share."""

import io
import json
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from mlspl._files import check_output, replace_file
from mlspl._text import printable
from mlspl.errors import UserError
from mlspl.models import without_training_data
from mlspl.persistence.reader import INFO, LARGEST_FILE, ModelReader
from mlspl.recipes import Schema

_FORMAT = 2  # grows when older readers could not read what is written
_LONGEST_SEPARATOR = 8  # characters, such as " and "
_LONGEST_NAME = 4000
_PACKAGES = ("mlspl", "scikit-learn", "numpy", "scipy", "skops")


@dataclass(frozen=True)
class ModelInfo:
    """What a model file says of its model.

    `schema` has the columns that the model takes, `summary` says how it was trained, and `versions` has those
    of mlspl, Python and the libraries that wrote the file.
    """

    label_names: list[str]
    schema: Schema
    summary: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    format: int = _FORMAT


def save_model(
    model: Any,
    path: str | PathLike | IO[bytes],
    *,
    label_names: Sequence[str] | None = None,
    schema: Schema | None = None,
    summary: Mapping[str, Any] | None = None,
    proba: bool = False,
    force: bool = False,
) -> Path | None:
    """Write a fitted model to a file that `load_model` reads without running code from it.

    The file holds no training data except what the model predicts from.

    Parameters
    ----------
    model : estimator
        Any of mlspl's, fitted, or a scikit-learn pipeline around one.
    path : path or binary file
        The file, usually with the suffix ``.skops``. An existing model file is replaced in one step.
    label_names : sequence of str, optional
        Names of the labels; by default those of the Y the model was fitted on.
    schema : Schema, optional
        The columns it takes; by default what the model shows of them, and the names in the X of its fit.
    summary : mapping, optional
        How the model was trained, in values that JSON can hold.
    proba : bool, default=False
        Prepare probabilities now, as the first `predict_proba` would; it can take as long as the fit.
    force : bool, default=False
        Replace a file that is no model, too.

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
    if isinstance(path, str | PathLike):
        check_output(Path(path), force=force, is_ours=is_model_file)
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):
        raise UserError(
            f"{type(model).__name__} is no fitted estimator. Fit it before you save it."
        ) from None
    if proba:
        _prepare_probabilities(model)
    final = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if hasattr(final, "_check_saving"):
        final._check_saving()
    names = label_names if label_names is not None else getattr(final, "label_names_", None)
    if names is None:
        raise UserError(f"{type(final).__name__} has no label_names_. Pass label_names.")
    if len(set(map(str, names))) < len(names):
        raise UserError("Two labels have the same name. Pass label_names that tell them apart.")
    if len(names) != (own := len(getattr(final, "label_names_", names))):
        raise UserError(f"label_names has {len(names)} names, and the model has {own} labels.")
    info = {
        "format": _FORMAT,
        "versions": {name: version(name) for name in _PACKAGES} | {"python": platform.python_version()},
        "label_names": [str(name) for name in names],
        "schema": (schema or Schema.from_model(model)).to_json(),
        "summary": dict(summary or {}),
    }
    try:
        text = json.dumps(info, indent=1)
    except (TypeError, ValueError) as error:
        raise UserError(f"summary must consist of values that JSON can hold: {error}.") from None
    import skops.io  # late: it imports all of scikit-learn, which takes more than a second

    try:
        with without_training_data():
            content = io.BytesIO(skops.io.dumps(model))
        with ZipFile(content, "a") as archive:
            archive.writestr(INFO, text)
        reader = ModelReader(content)  # what is written can be read: the same checks
        _check_info(reader.read_json())
        reader.read_model()
    except Exception as error:
        raise UserError(
            f"This model cannot be saved: {printable(str(error)[:500]).rstrip('.')}. A model file holds "
            "no code and no types other than those in mlspl.persistence.TRUSTED_TYPES. Use skops or pickle."
        ) from error
    if (size := content.getbuffer().nbytes) > LARGEST_FILE:
        raise UserError(f"This model takes {size} bytes, and a model file has at most {LARGEST_FILE}.")
    if not isinstance(path, str | PathLike):
        path.write(content.getbuffer())
        return None
    with replace_file(Path(path), "wb") as stream:
        stream.write(content.getbuffer())
    return Path(path)


def _prepare_probabilities(value: Any) -> None:
    """Fit the calibration of every part of a model, so that the file needs no training data."""
    if hasattr(type(value), "_prepare_file"):
        # With too few rows for folds, the model itself has no probabilities either.
        with suppress(ValueError):
            value._prepare_file()
    elif isinstance(value, list | tuple | BaseEstimator):
        for part in list(vars(value).values()) if isinstance(value, BaseEstimator) else value:
            _prepare_probabilities(part)


def load_model(path: str | PathLike) -> Any:
    """Load a model from a file of `save_model`; nothing in the file is run as code.

    The model predicts bit for bit what the saved one did.
    """
    return read_model(path)[0]


def read_model(path: str | PathLike) -> tuple[Any, ModelInfo]:
    """Load a model as `load_model` does, and what its file says of it."""
    path = Path(path)
    with _opened(path) as (reader, info):
        try:
            model = reader.read_model()
            n_features = getattr(model, "n_features_in_", 0)
            if info.schema.n_features not in (0, n_features):
                raise ValueError(f"it has {info.schema.n_features} columns, and its model {n_features}")
        except Exception as error:  # a changed file of allowed types can fail in any way
            raise _refusal(path, error, info) from error
    return model, info


def read_model_info(path: str | PathLike) -> ModelInfo:
    """Read what a model file says of its model, without building the model."""
    with _opened(Path(path)) as (_, info):
        return info


def is_model_file(path: str | PathLike) -> bool:
    """Whether `save_model` wrote a file, as far as it says itself."""
    with suppress(UserError, OSError):
        read_model_info(path)
        return True
    return False


@contextmanager
def _opened(path: Path) -> Iterator[tuple[ModelReader, ModelInfo]]:
    if not path.is_file():
        raise UserError(f"{path} is not a file. Check the name and the folder.")
    with path.open("rb") as stream:
        try:
            if path.stat().st_size > LARGEST_FILE:
                raise UserError(f"it is larger than {LARGEST_FILE // 2**30} GiB.")
            if stream.read(1) == b"\x80":
                raise UserError("it is a pickle, which could run any code.")
            reader = ModelReader(stream)
            info = _check_info(reader.read_json())
        except Exception as error:
            raise _refusal(path, error) from None
        yield reader, info


def _check_info(info: Any) -> ModelInfo:
    """Return the names and versions of a file; errors of damaged ones are of any type."""
    number, versions, summary = info["format"], info["versions"], info["summary"]
    if not all(isinstance(text, str) for text in versions.values()):
        raise ValueError("versions that are not texts")
    if type(number) is not int or number != _FORMAT:
        raise UserError(
            f"mlspl {versions.get('mlspl', '?')[:40]} wrote it in format {str(number)[:40]}, and mlspl "
            f"{version('mlspl')} reads format {_FORMAT}. Update mlspl, or fit the model again."
        )
    names = info["label_names"]
    if type(names) is not list or not names or len(set(names)) < len(names):
        raise ValueError("label names that are missing or repeated")
    reading = summary.get("reading")
    reading = reading if isinstance(reading, dict) else {}
    separators = [reading.get(name) or "" for name in ("label_joint", "label_sep")]
    if max(map(len, separators)) > _LONGEST_SEPARATOR or max(map(len, names)) > _LONGEST_NAME:
        raise ValueError("a label name or separator that is too long")
    if not all(isinstance(text, str) for text in (*names, *separators)):
        raise ValueError("a label name or separator that is not a text")
    return ModelInfo(names, Schema.from_json(info["schema"]), summary, versions, number)


def _refusal(path: Path, error: Exception, info: ModelInfo | None = None) -> UserError:
    """Return the error that says why a file is not loaded."""
    is_ours = isinstance(error, UserError)
    reason = str(error) if is_ours else f"it is damaged ({type(error).__name__}: {error})."
    written = "" if info is None else info.versions.get("mlspl", "")[:40]
    advice = "Load only files that save_model or `mlspl fit` has written."
    if written and written != version("mlspl"):
        advice = f"It says that mlspl {written} wrote it; this is mlspl {version('mlspl')}."
    return UserError(f"{path} was refused: {printable(reason[:500])} {printable(advice)}")
