"""`load_dataset`: a data set by name, from the disk if it is there, else from the network."""

import os
import tempfile
import warnings
from dataclasses import replace
from os import PathLike
from pathlib import Path

import pooch

from mlspl.datasets.arff import read_arff
from mlspl.datasets.dataset import Dataset
from mlspl.datasets.digits import load_digits_traits
from mlspl.datasets.options import PLAIN
from mlspl.datasets.registry import EMBEDDED, find_entry
from mlspl.errors import DataFormatError, UserError

__all__ = ["fetch_dataset", "load_dataset", "locate_dataset"]

_TIMEOUT = 30


def load_dataset(name: str, data_home: str | PathLike | None = None, encode: bool = True) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `list_datasets()`. ``"digits-traits"`` comes with scikit-learn and never needs a network.
    data_home : path, optional
        A folder that holds ``<name>/<name>.arff`` and ``<name>/<name>.xml``. Next, the folder
        ``$MLSPL_DATA`` and the user's cache are searched in the same way; what is in none of them is
        downloaded into the cache, and kept only if its SHA-256 is the pinned one; where none is pinned, a
        warning tells what it is.
    encode : bool
        Whether nominal features become one-hot columns (binary ones stay single).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = load_dataset("digits-traits")
    >>> digits.label_names[:3]
    ['even', 'prime', 'closed loop']
    """
    if name == EMBEDDED:
        return load_digits_traits()
    entry = find_entry(name)
    path = locate_dataset(name, data_home) or fetch_dataset(name)
    table = read_arff(path)
    labels = None if entry.xml is None else path.with_name(entry.xml)
    dataset = replace(table.to_dataset(labels, encode, PLAIN), name=name)
    n_rows, n_labels = dataset.Y.shape
    size = (n_rows, len(table.columns) - n_labels, n_labels)
    if size != (entry.n_rows, entry.n_features, entry.n_labels):
        message = "this is {} rows × {} features, {} labels; {} is published with {} × {}, {}.".format(
            *size, name, entry.n_rows, entry.n_features, entry.n_labels
        )
        if entry.arff_sha256:
            raise DataFormatError(message + " Replace the file, or read it with read_dataset.", path)
        warnings.warn(f"{path}: {message}", stacklevel=2)
    return dataset


def locate_dataset(name: str, data_home: str | PathLike | None = None) -> Path | None:
    """Find a registered data set on the disk.

    Parameters
    ----------
    name : str
        Its name.
    data_home : path, optional
        Searched before the folder ``$MLSPL_DATA`` and the user's cache.

    Returns
    -------
    Path or None
        The ARFF, if its XML lies beside it.

    Examples
    --------
    >>> from mlspl.datasets import locate_dataset
    >>> path = locate_dataset("emotions")
    >>> path is None or path.name == "emotions.arff"
    True
    """
    entry = find_entry(name)
    for home in (data_home, os.environ.get("MLSPL_DATA"), _cache()):
        if home and all((Path(home) / name / file_name).is_file() for file_name in entry.files):
            return Path(home) / name / entry.arff
    return None


def fetch_dataset(name: str) -> Path:
    """Download a registered data set into the user's cache, both its files or nothing.

    Parameters
    ----------
    name : str
        Its name.

    Returns
    -------
    Path
        The ARFF in the cache.

    Examples
    --------
    >>> from mlspl.datasets import fetch_dataset
    >>> fetch_dataset("emotions")  # doctest: +SKIP
    PosixPath('/home/ada/.cache/mlspl/emotions/emotions.arff')
    """
    entry = find_entry(name)
    folder = _cache() / name
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=folder.parent) as arrivals:
            for file_name, sha256 in entry.files.items():
                _download(entry.address(file_name), Path(arrivals) / file_name, sha256)
            folder.mkdir(exist_ok=True)
            for file_name in entry.files:
                os.replace(Path(arrivals) / file_name, folder / file_name)
    except OSError as error:
        addresses = " and ".join(map(entry.address, entry.files))
        raise UserError(
            f"{name} could not be downloaded ({_first_cause(error)}). Get {addresses} on a machine with a "
            f"network, and put both files into {folder}, or into the folder {name} below the one that "
            "MLSPL_DATA names."
        ) from error
    return folder / entry.arff


def _first_cause(error: BaseException) -> BaseException:
    """What the layers of a network library wrapped: "connection refused" rather than a page on retries."""
    while deeper := error.__cause__ or error.__context__:
        error = deeper
    return error


def _download(address: str, target: Path, sha256: str) -> None:
    pooch.HTTPDownloader(timeout=_TIMEOUT)(address, target, None)
    found = pooch.file_hash(target)
    if not sha256:
        warnings.warn(
            f"no checksum of {address} is known; what arrived has the SHA-256 {found}. Note it, to tell "
            "later whether somebody else has the same file.",
            stacklevel=3,
        )
    elif found != sha256:
        raise UserError(
            f"{address} arrived with the SHA-256 {found} instead of {sha256}: damaged or changed. "
            "Nothing was kept. Try again, or get the file elsewhere."
        )


def _cache() -> Path:
    return Path(pooch.os_cache("mlspl"))
