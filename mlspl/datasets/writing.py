"""`write_dataset`: ARFF, CSV or Parquet with an XML that names the labels, or svmlight."""

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from os import PathLike
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl._files import replacing
from mlspl.datasets.arff_header import quote
from mlspl.datasets.dataset import Dataset, as_dense
from mlspl.datasets.delimited import DELIMITERS
from mlspl.datasets.labels import labels_xml, read_labels_xml
from mlspl.datasets.parquet import require_pyarrow
from mlspl.datasets.svmlight import write_svmlight
from mlspl.errors import UserError

__all__ = ["write_dataset"]

_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def write_dataset(dataset: Dataset, path: str | PathLike) -> Path:
    """Write a data set in the format of the path's suffix, so that `read_dataset` gives it back.

    Parameters
    ----------
    dataset : Dataset
        What to write.
    path : path
        ``.arff``, ``.csv``, ``.tsv`` or ``.parquet``, beside which an XML of the same name will name the
        labels; or ``.svm``, ``.svmlight`` or ``.libsvm``, which holds its own labels. An existing file is
        replaced in one step, when everything is written; an XML that names other labels is an error.

    Returns
    -------
    Path
        The file written.

    Notes
    -----
    ARFF and Parquet keep everything. CSV has no types: categories that look like numbers come back as
    numbers. svmlight comes back sparse.

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
    _check(dataset)
    xml = path.with_suffix(".xml")
    with ExitStack() as files:
        if writer is not write_svmlight and not _is_named_by(dataset, xml):
            files.enter_context(replacing(xml)).write(labels_xml(dataset.label_names))
        writer(dataset, files.enter_context(replacing(path, "wb" if writer is _write_parquet else "w")))
    return path


def _check(dataset: Dataset) -> None:
    names = [*dataset.feature_names, *dataset.label_names]
    if len(set(names)) < len(names):
        raise UserError("a feature or label name stands twice. Rename it before writing.")
    values = (value for values in dataset.nominal.values() for value in values)
    for text in (*names, *values):
        if _UNWRITABLE.search(text):
            raise UserError(f"{text!r} has a character no XML may hold. Rename it before writing.")
    stored = dataset.X.data if sparse.issparse(dataset.X) else dataset.X
    if np.isinf(stored).any():
        raise UserError("X has infinite values. Replace them by NaN before writing.")
    labels = dataset.Y.data if sparse.issparse(dataset.Y) else dataset.Y
    if not np.all((labels == 0) | (labels == 1) | np.isnan(labels)):
        raise UserError("Y has values other than 0, 1 and NaN.")


def _is_named_by(dataset: Dataset, xml: Path) -> bool:
    """Whether the XML is there already; one that names other labels belongs to something else."""
    if not xml.exists():
        return False
    if set(read_labels_xml(xml)) != set(dataset.label_names):
        raise UserError(f"{xml} names other labels. Choose another file name, or remove it.")
    return True


def _spell(value: float) -> str:
    """The shortest text that reads back as the same number."""
    return repr(value).removesuffix(".0") if value == value else "?"


def _dense_rows(dataset: Dataset) -> Iterator[list[float]]:
    """Rows of X and Y side by side, a block at a time."""
    for start in range(0, dataset.X.shape[0], 1000):
        block = slice(start, start + 1000)
        yield from np.hstack([as_dense(dataset.X[block]), as_dense(dataset.Y[block])]).tolist()


def _speller(values: tuple[str, ...], missing: str) -> Callable[[float], str]:
    return lambda code: values[int(code)] if code == code else missing


def _spellers(dataset: Dataset, missing: str, quoted: Callable[[str], str]) -> list[Callable[[float], str]]:
    """How to spell the cells of each column of X and Y."""
    spellers: list[Callable[[float], str]] = []
    for name in dataset.feature_names:
        values = dataset.nominal.get(name)
        spellers.append(_spell if values is None else _speller(tuple(map(quoted, values)), missing))
    return spellers + [_speller(("0", "1"), missing)] * len(dataset.label_names)


def _write_arff(dataset: Dataset, stream: IO[str]) -> None:
    stream.write(f"@relation {quote(dataset.name)}\n\n")
    for name in dataset.feature_names:
        values = dataset.nominal.get(name)
        kind = "numeric" if values is None else "{" + ",".join(map(quote, values)) + "}"
        stream.write(f"@attribute {quote(name)} {kind}\n")
    stream.writelines(f"@attribute {quote(name)} {{0,1}}\n" for name in dataset.label_names)
    stream.write("\n@data\n")
    spellers = _spellers(dataset, "?", quote)
    if not sparse.issparse(dataset.X):
        for row in _dense_rows(dataset):
            stream.write(",".join([spell(value) for spell, value in zip(spellers, row, strict=True)]) + "\n")
        return
    cells = sparse.hstack([dataset.X, sparse.csr_array(dataset.Y)], format="csr")
    cells.sort_indices()
    for start, stop in zip(cells.indptr[:-1], cells.indptr[1:], strict=True):
        pairs = zip(cells.indices[start:stop].tolist(), cells.data[start:stop].tolist(), strict=True)
        stream.write("{" + ",".join([f"{j} {spellers[j](value)}" for j, value in pairs]) + "}\n")


def _write_csv(dataset: Dataset, stream: IO[str], delimiter: str = ",") -> None:
    names = [*dataset.feature_names, *dataset.label_names]
    # Unquoted, a semicolon in a name would look like one between names.
    ambiguous = set("".join(names)) & set(DELIMITERS)
    header = csv.writer(
        stream,
        delimiter=delimiter,
        lineterminator="\n",
        quoting=csv.QUOTE_ALL if ambiguous else csv.QUOTE_MINIMAL,
    )
    header.writerow(names)
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    spellers = _spellers(dataset, "", str)
    for row in _dense_rows(dataset):
        writer.writerow([spell(value) for spell, value in zip(spellers, row, strict=True)])


def _write_tsv(dataset: Dataset, stream: IO[str]) -> None:
    _write_csv(dataset, stream, "\t")


def _write_parquet(dataset: Dataset, stream: IO[bytes]) -> None:
    require_pyarrow()
    X = as_dense(dataset.X)
    columns = {
        name: pd.Categorical.from_codes(np.nan_to_num(X[:, j], nan=-1).astype(int), dataset.nominal[name])
        if name in dataset.nominal
        else X[:, j]
        for j, name in enumerate(dataset.feature_names)
    }
    Y = as_dense(dataset.Y)
    labels = {name: Y[:, j] for j, name in enumerate(dataset.label_names)}
    pd.DataFrame(columns | labels).to_parquet(stream, engine="pyarrow", index=False)


_WRITERS: dict[str, Callable] = {
    ".arff": _write_arff,
    ".csv": _write_csv,
    ".tsv": _write_tsv,
    ".parquet": _write_parquet,
    ".svm": write_svmlight,
    ".svmlight": write_svmlight,
    ".libsvm": write_svmlight,
}
