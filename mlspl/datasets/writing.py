"""`write_dataset`: ARFF, CSV or Parquet with an XML that names the labels, or svmlight."""

import csv
import re
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl._files import check_output, replace_file
from mlspl._text import safe_cell
from mlspl.datasets.arff import quote
from mlspl.datasets.columns import spell_number
from mlspl.datasets.dataset import Dataset, as_dense
from mlspl.datasets.delimited import DELIMITERS
from mlspl.datasets.frames import require_pyarrow
from mlspl.datasets.labels import labels_xml, read_labels_xml
from mlspl.datasets.svmlight import write_svmlight
from mlspl.errors import UserError, shorten

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_dataset(dataset: Dataset, path: str | PathLike, *, force: bool = False) -> Path:
    """Write a data set in the format of the path's suffix, so that `read_dataset` gives it back.

    Parameters
    ----------
    dataset, path
        ``.arff``, ``.csv``, ``.tsv`` or ``.parquet``, with an XML of the labels beside it; or ``.svm``,
        ``.svmlight`` or ``.libsvm``. ARFF and Parquet keep everything. In CSV, categories that look like
        numbers come back as numbers, and what a spreadsheet would run as a formula gets an apostrophe.
    force : bool, default=False
        Replace an existing file, in one step when everything is written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl.datasets import load_dataset, read_dataset, write_dataset
    >>> digits = load_dataset("digits-traits")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = write_dataset(digits, Path(folder) / "digits.arff")
    ...     again = read_dataset(path)
    >>> again.fingerprint() == digits.fingerprint()
    True
    """
    path = Path(path)
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise UserError(
            f"{path}: the suffix must be one of {', '.join(_WRITERS)}, for it says what to write."
        )
    check_output(path, force=force)
    _check(dataset)
    if path.suffix.lower() in (".csv", ".tsv"):
        # A spreadsheet would run names such as =1+1 as formulas.
        features, labels = (
            [safe_cell(name) for name in names] for names in (dataset.feature_names, dataset.label_names)
        )
        X = dataset.X.set_axis(features, axis=1) if isinstance(dataset.X, pd.DataFrame) else dataset.X
        dataset = replace(dataset, X=X, feature_names=features, label_names=labels)
        _check(dataset)
    xml = path.with_suffix(".xml")
    needs_xml = writer is not write_svmlight
    if needs_xml and xml.exists() and set(read_labels_xml(xml)) != set(dataset.label_names):
        raise UserError(f"{xml} names other labels. Choose another file name, or remove it.")
    with ExitStack() as files:
        if needs_xml and not xml.exists():
            files.enter_context(replace_file(xml)).write(labels_xml(dataset.label_names))
        writer(dataset, files.enter_context(replace_file(path, "wb" if writer is _write_parquet else "w")))
    return path


def _check(dataset: Dataset) -> None:
    names = [*dataset.feature_names, *dataset.label_names]
    if len(set(names)) < len(names):
        raise UserError("a feature or label name occurs twice. Rename it before writing.")
    words = []
    if isinstance(dataset.X, pd.DataFrame):
        for name in dataset.feature_names:
            if dataset.kind(name) in ("categorical", "text"):
                words += dataset.X[name].dropna().unique().tolist()
        stored = dataset.X.select_dtypes("number").to_numpy()
    else:
        stored = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    for text in (*names, *words):
        if _UNWRITABLE.search(text):
            raise UserError(
                f"{shorten(text)!r} has a character that XML cannot hold. Rename it before writing."
            )
    if np.isinf(stored).any():
        raise UserError("X has infinite values. Replace them by NaN before writing.")
    labels = dataset.Y.data if sparse.issparse(dataset.Y) else dataset.Y
    if not np.all((labels == 0) | (labels == 1) | np.isnan(labels)):
        raise UserError("Y has values other than 0, 1 and NaN.")


def _frame(dataset: Dataset) -> pd.DataFrame:
    """Return features and labels side by side; dates as text."""
    frame = dataset.frame().copy()
    for name in frame.columns:
        if dataset.kind(name) == "date":
            frame[name] = pd.Series(dataset.texts(name), dtype=object)
    labels = pd.DataFrame(as_dense(dataset.Y), columns=dataset.label_names).astype("Int8")
    return pd.concat([frame.reset_index(drop=True), labels], axis=1)


def _write_arff(dataset: Dataset, stream: IO[str]) -> None:
    stream.write(f"@relation {quote(dataset.name)}\n\n")
    words = {}
    for name in dataset.feature_names:
        kind = dataset.kind(name)
        if kind == "categorical":
            words[name] = [quote(value) for value in dataset.frame()[name].cat.categories]
        declared = {"numeric": "numeric", "text": "string", "date": 'date "yyyy-MM-dd HH:mm:ss"'}
        stream.write(f"@attribute {quote(name)} {declared.get(kind) or '{' + ','.join(words[name]) + '}'}\n")
    stream.writelines(f"@attribute {quote(name)} {{0,1}}\n" for name in dataset.label_names)
    stream.write("\n@data\n")
    if not sparse.issparse(dataset.X):
        frame = _frame(dataset)
        for name in dataset.feature_names:
            if name in words:
                frame[name] = frame[name].cat.rename_categories(words[name])
            elif dataset.kind(name) != "numeric":
                frame[name] = frame[name].map(quote, na_action="ignore")
        frame = frame.astype(object).where(frame.notna(), "?")
        for row in frame.itertuples(index=False):
            cells = [spell_number(cell) if isinstance(cell, float) else str(cell) for cell in row]
            stream.write(",".join(cells) + "\n")
        return
    cells = sparse.hstack([dataset.X, sparse.csr_array(dataset.Y)], format="csr")
    cells.sort_indices()
    for start, stop in zip(cells.indptr[:-1], cells.indptr[1:], strict=True):
        pairs = zip(cells.indices[start:stop].tolist(), cells.data[start:stop].tolist(), strict=True)
        stream.write("{" + ",".join([f"{j} {spell_number(value)}" for j, value in pairs]) + "}\n")


def _write_csv(dataset: Dataset, stream: IO[str], delimiter: str = ",") -> None:
    frame = _frame(dataset)
    # Without quotes, a semicolon in a name would look like a delimiter.
    is_ambiguous = set("".join(frame.columns)) & set(DELIMITERS)
    header = csv.writer(
        stream, csv.unix_dialect if is_ambiguous else csv.excel, delimiter=delimiter, lineterminator="\n"
    )
    header.writerow(frame.columns)
    for name in dataset.feature_names:
        kind, values = dataset.kind(name), frame[name]
        if kind != "numeric":
            frame[name] = values.astype(object).map(safe_cell, na_action="ignore")
        elif np.all((values == np.round(values)) & (np.abs(values) < 2**53)):
            frame[name] = values.astype(np.int64)
    frame.to_csv(stream, sep=delimiter, header=False, index=False, lineterminator="\n")


def _write_parquet(dataset: Dataset, stream: IO[bytes]) -> None:
    require_pyarrow()
    Y = pd.DataFrame(as_dense(dataset.Y), columns=dataset.label_names)
    frame = pd.concat([dataset.frame().reset_index(drop=True), Y], axis=1)
    frame.to_parquet(stream, engine="pyarrow", index=False)


_WRITERS: dict[str, Callable] = {
    ".arff": _write_arff,
    ".csv": _write_csv,
    ".tsv": partial(_write_csv, delimiter="\t"),
    ".parquet": _write_parquet,
    **dict.fromkeys((".svm", ".svmlight", ".libsvm"), write_svmlight),
}
