"""NumPy's files: .npy or .npz features, such as embeddings, with their labels inside or in a file beside."""

import zipfile
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mlspl._validation import check_labels
from mlspl.datasets.compression import COMPRESSIONS, data_stem, data_suffix
from mlspl.datasets.dataset import Dataset, labels_as_table
from mlspl.datasets.delimited import read_csv
from mlspl.datasets.json_lines import read_json_lines
from mlspl.datasets.label_sets import read_label_sets
from mlspl.datasets.options import ReadOptions
from mlspl.datasets.parquet import read_parquet
from mlspl.datasets.source import read_lines
from mlspl.datasets.words import Words
from mlspl.errors import DataFormatError, UserError

__all__ = ["read_arrays"]

_TABLES = {".csv": read_csv, ".tsv": read_csv, ".jsonl": read_json_lines, ".parquet": read_parquet}
_LABEL_FILES = (".npy", ".npz", ".txt", *_TABLES)
_FEATURES, _LABELS = ("X", "x", "features", "embeddings"), ("Y", "y", "labels")
_MOST_UNFOLDED, _HARMLESS = 300, 2**26
_BLOCK = 2**22


def read_arrays(path: Path, labels: Any, options: ReadOptions, unlabelled: bool = False) -> Dataset:
    """Read a matrix of features as it is, memory-mapped if it can be, and its labels.

    An ``.npz`` may hold X, Y, feature_names and label_names, or one sparse matrix as SciPy writes it. Labels
    are otherwise in the file that `labels` names or that lies beside: ``songs.labels.csv`` for songs.npy.
    """
    if (options.kinds or options.drop) and not options.lenient:
        raise UserError(f"{path}: an array has no columns to drop or to say the kind of.")
    members = _load(path)
    X = _pick(members, _FEATURES)
    if X is None:
        raise DataFormatError(f"it holds no array {' or '.join(_FEATURES)}.", path)
    X = _check_features(X, path)
    names = _names(members, "feature_names", X.shape[1], "x")
    if unlabelled:
        return Dataset(X, np.empty((X.shape[0], 0), np.int64), names, [], name=data_stem(path))
    file, held, joint = _labels_file(path, labels), "", ""
    Y = _pick(members, _LABELS)
    if file is not None:
        Y, label_names, held, joint = _read_labels(file, options)
    elif Y is not None:
        label_names = _names(members, "label_names", np.shape(Y)[-1] if np.ndim(Y) == 2 else 0, "")
        Y = _check_table(Y, path)
    else:
        raise DataFormatError(
            f"where are the labels? Put {data_stem(path)}.labels.csv (or .txt, .npy, .jsonl) beside the "
            "file, or give the path of one as labels (--labels).",
            path,
        )
    if Y.shape[0] != X.shape[0]:
        raise DataFormatError(f"{X.shape[0]} rows of features, but {Y.shape[0]} of labels.", file or path)
    return Dataset(X, Y, names, label_names, name=data_stem(path), label_column=held, label_joint=joint)


def _load(path: Path) -> dict[str, Any]:
    """The arrays of a file by name; the one of an .npy is X."""
    if not path.is_file():
        raise UserError(f"{path} is not a file. Check the name and the folder.")
    try:
        if path.suffix.lower() == ".npy":
            return {"X": np.load(path, mmap_mode="r", allow_pickle=False)}
        with zipfile.ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size > max(_HARMLESS, _MOST_UNFOLDED * path.stat().st_size):
            message = f"it unfolds to more than {_MOST_UNFOLDED} times its size, as no data do."
            raise DataFormatError(message, path)
        with np.load(path, allow_pickle=False) as arrays:
            members = {name: arrays[name] for name in arrays.files}
        return {"X": sparse.csr_array(sparse.load_npz(path))} if "format" in members else members
    except UserError:
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200]
        raise DataFormatError(f"this is no file of NumPy arrays ({reason}). Was it cut off?", path) from None


def _pick(members: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((members[name] for name in names if name in members), None)


def _names(members: dict[str, Any], key: str, count: int, prefix: str) -> list[str]:
    names = [str(name) for name in np.ravel(members.get(key, ()))]
    return names if len(names) == count else [f"{prefix}{number}" for number in range(count)]


def _check_features(X: Any, path: Path) -> Any:
    """Floats stay what they are, on the disk if they are there; whole numbers become floats."""
    if X.ndim != 2 or 0 in X.shape or X.dtype.kind not in "biuf":
        message = f"X has shape {X.shape} and type {X.dtype}; it must be a table (rows, features) of numbers."
        raise DataFormatError(message, path)
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float64)
    step = max(1, _BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        block = X[start : start + step]
        infinite = np.isinf(block.data if sparse.issparse(block) else block)
        if infinite.any():
            row = start if sparse.issparse(block) else start + int(np.argmax(infinite.any(axis=1)))
            raise DataFormatError(f"X is infinite in row {row + 1} or shortly after.", path)
    return X


def _check_table(Y: Any, path: Path) -> Any:
    """Labels as a table of 0, 1 and NaN."""
    try:
        labels = check_labels(Y)
    except UserError as error:
        raise DataFormatError(str(error), path) from None
    return labels_as_table(labels)


def _labels_file(path: Path, labels: Any) -> Path | None:
    if labels is not None:
        if not isinstance(labels, str | PathLike) or data_suffix(Path(labels)) not in _LABEL_FILES:
            raise UserError(
                f"{path}: labels is the file of the labels, {', '.join(_LABEL_FILES)}; not {labels!r}."
            )
        return Path(labels)
    for stem in (f"{data_stem(path)}{joint}labels" for joint in ".-_"):
        for suffix in _LABEL_FILES:
            for compression in ("", *COMPRESSIONS):
                if (found := path.with_name(stem + suffix + compression)).is_file():
                    return found
    return None


def _separator(lines: list[str]) -> str | None:
    """Of lines with one label each at most, the one that is in none of them."""
    return None if any(sign in line for line in lines for sign in "|;,[") else "|"


def _read_labels(path: Path, options: ReadOptions) -> tuple[Any, list[str], str, str]:
    """The labels, their names, and if one column held them, its name and what joined them."""
    suffix = data_suffix(path)
    if suffix in _TABLES:
        return _TABLES[suffix](path, options).to_labels(options)
    if suffix == ".txt":
        lines = read_lines(path).decode().split("\n")[:-1]
        found = read_label_sets(
            Words.of(lines),
            "of labels",
            options.label_sep or _separator(lines),
            options.missing,
            lambda row, message: DataFormatError(message, path, row + 1),
        )
        assert found is not None
        Y, names, joint = found
        return labels_as_table(check_labels(Y)), names, "labels", joint
    members = _load(path)
    Y = _pick(members, (*_LABELS, "X"))
    if Y is None:
        raise DataFormatError(f"it holds no array {' or '.join(_LABELS)}.", path)
    Y = _check_table(Y, path)
    return Y, _names(members, "label_names", Y.shape[1], ""), "", ""
