"""`load_dataset`: a data set by name, from the disk if it is there, else from the network."""

import os
import tempfile
import warnings
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
import pooch
from sklearn.datasets import load_digits

from mlspl._files import explain_failure
from mlspl.datasets.dataset import Dataset
from mlspl.datasets.reading import read_dataset
from mlspl.errors import DataFormatError, UserError, guess

EMBEDDED = "digits-traits"
"""The data set that comes with the package."""

ADDRESS = "https://raw.githubusercontent.com/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label"
_TIMEOUT = 30
# Every digit has at least two traits, and no two digits have the same ones.
_DIGITS_WITH = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "closed loop": (0, 6, 8, 9),
    "straight strokes": (1, 4, 7),
    "five or more": (5, 6, 7, 8, 9),
    "multiple of three": (0, 3, 6, 9),
    "square": (0, 1, 4, 9),
    "power of two": (1, 2, 4, 8),
}


@dataclass(frozen=True)
class Entry:
    """A data set as published: size before encoding, labels per row, and its files; "" if unknown."""

    name: str
    domain: str
    n_rows: int
    n_features: int
    n_labels: int
    cardinality: float
    arff: str
    xml: str = ""
    folder: str = ""
    arff_sha256: str = ""
    xml_sha256: str = ""

    @property
    def files(self) -> dict[str, str]:
        """File names with their checksums."""
        return {self.arff: self.arff_sha256} | ({self.xml: self.xml_sha256} if self.xml else {})

    def address(self, file_name: str) -> str:
        """Return where a file of this data set can be downloaded."""
        return f"{self.folder or f'{ADDRESS}/{self.name}'}/{file_name}"


_TABLE = pd.read_csv(Path(__file__).with_name("registry.csv"), keep_default_na=False)
REGISTRY = {row[0]: Entry(*row) for row in _TABLE.itertuples(index=False, name=None)}
"""By name. Sizes are those that Mulan and MEKA publish; where the checksum is pinned, they are checked."""


def list_datasets() -> list[str]:
    """Return the names that `load_dataset` knows, the embedded one first."""
    return [EMBEDDED, *REGISTRY]


def find_entry(name: str) -> Entry:
    """Return the entry of that name, or raise an error that lists the names."""
    if name in REGISTRY:
        return REGISTRY[name]
    hint = guess(name, list_datasets())
    raise UserError(f"no data set is called {name!r}.{hint} There are {', '.join(list_datasets())}.")


def load_dataset(name: str, data_home: str | PathLike | None = None, encode: bool = True) -> Dataset:
    """Load a data set by name.

    Parameters
    ----------
    name : str
        One of `list_datasets()`. ``"digits-traits"`` comes with scikit-learn and never needs a network.
    data_home : path, optional
        A folder with ``<name>/<name>.arff`` and ``.xml``, searched before ``$MLSPL_DATA`` and the user's
        cache. What is in none of them is downloaded into the cache, and kept only if its SHA-256 is the
        pinned one; where none is pinned, a warning shows it.
    encode : bool
        Whether categories become one-hot columns (binary ones stay single).

    Examples
    --------
    >>> from mlspl.datasets import load_dataset
    >>> digits = load_dataset("digits-traits")
    >>> digits.label_names[:3]
    ['even', 'prime', 'closed loop']
    """
    if name == EMBEDDED:
        digits = load_digits()
        Y = np.column_stack([np.isin(digits.target, members) for members in _DIGITS_WITH.values()])
        return Dataset(digits.data, Y.astype(np.int64), digits.feature_names, list(_DIGITS_WITH), name)
    entry = find_entry(name)
    path = locate_dataset(name, data_home) or fetch_dataset(name)
    labels = path.with_name(entry.xml) if entry.xml else None
    dataset = replace(read_dataset(path, labels, encode), name=name)
    n_rows, n_labels = dataset.Y.shape
    if (n_rows, n_labels) != (entry.n_rows, entry.n_labels):
        size = f"{n_rows} rows and {n_labels} labels"
        message = f"{size} instead of {entry.n_rows} and {entry.n_labels}, as {name} is published."
        if entry.arff_sha256:
            raise DataFormatError(message + " Replace the file, or read it with read_dataset.", path)
        warnings.warn(f"{path}: {message}", stacklevel=2)
    return dataset


def locate_dataset(name: str, data_home: str | PathLike | None = None) -> Path | None:
    """Return the ARFF of a registered data set if it is on the disk with its XML, otherwise None."""
    entry = find_entry(name)
    for home in (data_home, os.environ.get("MLSPL_DATA"), cache_folder()):
        if home and all((Path(home) / name / file_name).is_file() for file_name in entry.files):
            return Path(home) / name / entry.arff
    return None


def fetch_dataset(name: str) -> Path:
    """Download a registered data set into the user's cache, all files or nothing; return its ARFF."""
    entry = find_entry(name)
    folder = cache_folder() / name
    download_files({file: entry.address(file) for file in entry.files}, folder, entry.files)
    return folder / entry.arff


def download_files(addresses: dict[str, str], folder: Path, checksums: dict[str, str] | None = None) -> None:
    """Download files, by their paths below `folder`, all or none."""
    try:
        with explain_failure(folder):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=f".{folder.name}-", dir=folder.parent) as arrivals:
                for file_name, address in addresses.items():
                    target = Path(arrivals) / file_name
                    target.parent.mkdir(parents=True, exist_ok=True)
                    pooch.HTTPDownloader(timeout=_TIMEOUT)(address, target, None)
                    _check_sum(address, pooch.file_hash(target), (checksums or {}).get(file_name))
                for file_name in addresses:
                    (folder / file_name).parent.mkdir(parents=True, exist_ok=True)
                    os.replace(Path(arrivals) / file_name, folder / file_name)
    except OSError as error:
        sources = " and ".join(addresses.values())
        raise UserError(
            f"{folder.name} could not be downloaded ({_first_cause(error)}). Put {sources} into {folder}, or "
            f"into the folder {folder.name} below the one that MLSPL_DATA (MLSPL_REAL for sets with real "
            "label errors) names."
        ) from error


def _first_cause(error: BaseException) -> BaseException:
    """Return what a network library wrapped: "connection refused" rather than a page on retries."""
    while deeper := error.__cause__ or error.__context__:
        error = deeper
    return error


def _check_sum(address: str, found: str, expected: str | None) -> None:
    if not expected:
        warnings.warn(
            f"no checksum of {address} is known; what arrived has the SHA-256 {found}. Note it.", stacklevel=3
        )
    elif found != expected:
        raise UserError(
            f"{address} arrived with the SHA-256 {found} instead of {expected}, and was not kept. Try again."
        )


def cache_folder() -> Path:
    """Return the folder of downloaded data sets."""
    return Path(pooch.os_cache("mlspl"))
