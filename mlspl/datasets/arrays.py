"""NumPy's files: .npy or .npz features, such as embeddings, with their labels inside or in a file beside."""

import io
import math
import zipfile
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from mlspl._validation import check_labels, check_sparse, row_blocks
from mlspl.datasets.columns import ReadOptions
from mlspl.datasets.dataset import Dataset, labels_as_table
from mlspl.datasets.delimited import read_csv
from mlspl.datasets.files import (
    check_archive,
    check_memory,
    data_stem,
    data_suffix,
    explain_damage,
    require_file,
)
from mlspl.datasets.frames import read_json_lines, read_parquet
from mlspl.datasets.labels import ReadLabels, read_labels, recognise_label_column
from mlspl.errors import DataFormatError, UserError

_TABLES = {".csv": read_csv, ".tsv": read_csv, ".jsonl": read_json_lines, ".parquet": read_parquet}
_LABEL_FILES = (".npy", ".npz", *_TABLES)
_FEATURES, _LABELS = ("X", "x", "features", "embeddings"), ("Y", "y", "labels")


def read_arrays(path: Path, options: ReadOptions) -> Dataset:
    """Read features, memory-mapped if they can be, and labels: inside, in `labels`, or in a file beside."""
    if (options.kinds or options.drop) and not options.lenient:
        raise UserError(f"{path}: an array has no columns to drop or to say the kind of.")
    members = read_members(path)
    X = _pick(members, _FEATURES)
    if X is None:
        raise DataFormatError(f"it holds no array {' or '.join(_FEATURES)}.", path)
    X = _check_features(X, path)
    names = _names(members, "feature_names", X.shape[1], "x")
    if options.labels == ():
        return Dataset(X, np.empty((X.shape[0], 0), np.int64), names, [], name=data_stem(path))
    file = _label_file(path, options.labels)
    if file is None:
        found = _take_labels(members, _LABELS, path)
    elif reader := _TABLES.get(data_suffix(file)):
        raw = reader(file, replace(options, labels=None))
        column = recognise_label_column(raw)
        found = read_labels(raw, [*range(len(raw.names))] if column is None else [raw.names.index(column)])
    else:
        found = _take_labels(read_members(file), (*_LABELS, "X"), file)
    if found.Y.shape[0] != X.shape[0]:
        message = f"{X.shape[0]} rows of features, but {found.Y.shape[0]} rows of labels."
        raise DataFormatError(message, file or path)
    return Dataset(X, found.Y, names, found.names, data_stem(path), found.column, found.joint)


def read_members(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name; the array of an .npy is X."""
    require_file(path)
    with explain_damage(path, "a file of NumPy arrays"):
        if path.suffix.lower() == ".npy":
            return {"X": np.load(path, mmap_mode="r", allow_pickle=False)}
        check_archive(path, "its arrays")
        members = {}
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                if not name.endswith(".npy"):  # NumPy would prefer "shape" to "shape.npy", which is checked
                    raise ValueError(f"{name} is no .npy")
                members[name.removesuffix(".npy")] = _parse_array(archive.read(name))
        if "format" not in members:
            return members
        n_rows, n_columns = (int(size) for size in members["shape"])
        # Row pointers, and a name for each column.
        check_memory(8 * n_rows + 100 * n_columns, path, f"{n_rows} rows and {n_columns} columns")
        X = sparse.load_npz(path)
        check_sparse(X, str(path))
        return {"X": sparse.csr_array(X)}


def _parse_array(content: bytes) -> np.ndarray:
    """Return the array in the content of an .npy file, whose size must be the announced one."""
    stream = io.BytesIO(content)
    is_first = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if is_first else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if dtype.hasobject or len(content) - stream.tell() != math.prod(shape) * dtype.itemsize:
        raise ValueError("an array has another size or type than it announces")
    return np.load(io.BytesIO(content), allow_pickle=False)


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
    for rows, block in [(slice(0, 1), X.data)] if sparse.issparse(X) else row_blocks(X):
        if np.isinf(block).any():
            raise DataFormatError(f"X is infinite in row {rows.start + 1} or after.", path)
    return X


def _take_labels(members: dict[str, Any], names: tuple[str, ...], path: Path) -> ReadLabels:
    """Return the first of these arrays as labels: 0, 1 and NaN."""
    Y = _pick(members, names)
    if Y is None:
        raise DataFormatError(
            f"where are the labels? Put {data_stem(path)}.labels.csv (or .npy, .jsonl) beside the file, or "
            "give the path of one as labels (--labels).",
            path,
        )
    try:
        Y = labels_as_table(check_labels(Y))
    except UserError as error:
        raise DataFormatError(str(error), path) from None
    return ReadLabels(Y, _names(members, "label_names", Y.shape[1], ""))


def _label_file(path: Path, labels: Any) -> Path | None:
    if labels is None:
        beside = [path.with_name(f"{data_stem(path)}.labels{suffix}") for suffix in _LABEL_FILES]
        return next((file for file in beside if file.is_file()), None)
    if not isinstance(labels, str | PathLike) or data_suffix(Path(labels)) not in _LABEL_FILES:
        raise UserError(
            f"{path}: labels is the file of the labels, {', '.join(_LABEL_FILES)}; not {labels!r}."
        )
    return Path(labels)
