"""NumPy's files: .npy or .npz features, such as embeddings, with their labels inside or in a file beside."""

import io
import math
import zipfile
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl._validation import check_labels
from mlspl.datasets.columns import ReadOptions
from mlspl.datasets.dataset import Dataset, labels_as_table
from mlspl.datasets.delimited import read_csv
from mlspl.datasets.files import (
    COMPRESSIONS,
    check_archive,
    check_memory,
    data_stem,
    data_suffix,
    read_lines,
    require_file,
)
from mlspl.datasets.frames import read_json_lines, read_parquet
from mlspl.datasets.labels import (
    LABEL_NAMES,
    ReadLabels,
    parse_label_sets,
    read_labels,
    recognise_label_column,
)
from mlspl.errors import DataFormatError, UserError, shorten

__all__ = ["read_arrays"]

_TABLES = {".csv": read_csv, ".tsv": read_csv, ".jsonl": read_json_lines, ".parquet": read_parquet}
_LABEL_FILES = (".npy", ".npz", ".txt", *_TABLES)
_FEATURES, _LABELS = ("X", "x", "features", "embeddings"), ("Y", "y", "labels")
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
    file = _label_file(path, labels)
    Y = _pick(members, _LABELS)
    if file is not None:
        found = _read_label_file(file, options)
    elif Y is not None:
        Y = _check_table(Y, path)
        found = ReadLabels(Y, _names(members, "label_names", Y.shape[1], ""))
    else:
        raise DataFormatError(
            f"where are the labels? Put {data_stem(path)}.labels.csv (or .txt, .npy, .jsonl) beside the "
            "file, or give the path of one as labels (--labels).",
            path,
        )
    if found.Y.shape[0] != X.shape[0]:
        message = f"{X.shape[0]} rows of features, but {found.Y.shape[0]} rows of labels."
        raise DataFormatError(message, file or path)
    return Dataset(X, found.Y, names, found.names, data_stem(path), found.column, found.joint)


def _load(path: Path) -> dict[str, Any]:
    """Return the arrays of a file by name; the array of an .npy is X."""
    require_file(path)
    try:
        if path.suffix.lower() == ".npy":
            return {"X": np.load(path, mmap_mode="r", allow_pickle=False)}
        check_archive(path, "its arrays")
        with zipfile.ZipFile(path) as archive:
            members = {}
            for member in archive.infolist():
                with archive.open(member) as stream:
                    # With a size, a forged member is not decompressed beyond it.
                    content = stream.read(member.file_size)
                members[member.filename.removesuffix(".npy")] = _parse_array(content)
        if "format" not in members:
            return members
        n_rows, n_columns = (int(size) for size in members["shape"])
        # Row pointers, and a name for each column.
        check_memory(8 * n_rows + 100 * n_columns, path, f"{n_rows} rows and {n_columns} columns")
        X = sparse.load_npz(path)
        if X.format in ("csr", "csc", "bsr"):
            X.check_format(full_check=True)
        return {"X": sparse.csr_array(X)}
    except UserError:
        raise
    except Exception as error:
        reason = shorten(" ".join(str(error).split()))
        raise DataFormatError(
            f"this is not a file of NumPy arrays ({reason}). Is it complete?", path
        ) from None


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


def _label_file(path: Path, labels: Any) -> Path | None:
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


def _read_label_file(path: Path, options: ReadOptions) -> ReadLabels:
    """Return the labels of a file that holds nothing else."""
    suffix = data_suffix(path)
    if suffix in _TABLES:
        options = replace(options, raw=lambda names: names if len(names) == 1 else _named_labels(names))
        raw = _TABLES[suffix](path, options)
        column = recognise_label_column(raw, options)
        chosen = list(range(len(raw.names))) if column is None else [raw.names.index(column)]
        return read_labels(raw, chosen, options)
    if suffix == ".txt":
        lines = read_lines(path, options.encoding).decode().split("\n")[:-1]
        # Lines with one label each need a separator that occurs in none of them.
        separator = options.label_sep or (None if any(set(line) & set("|;,[") for line in lines) else "|")
        found = parse_label_sets(
            pd.Series(lines, dtype=object),
            "labels",
            separator,
            options.missing,
            lambda row, message: DataFormatError(message, path, row + 1),
        )
        assert found is not None
        return found
    members = _load(path)
    Y = _pick(members, (*_LABELS, "X"))
    if Y is None:
        raise DataFormatError(f"it holds no array {' or '.join(_LABELS)}.", path)
    Y = _check_table(Y, path)
    return ReadLabels(Y, _names(members, "label_names", Y.shape[1], ""))


def _named_labels(names: list[str]) -> list[str]:
    return [name for name in names if name.lower() in LABEL_NAMES]
