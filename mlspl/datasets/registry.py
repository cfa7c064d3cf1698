"""The data sets known by name: their published sizes, checksums and addresses, from ``registry.csv``."""

import csv
from dataclasses import dataclass
from pathlib import Path

from mlspl.errors import UserError, guess

__all__ = ["EMBEDDED", "REGISTRY", "Entry", "find_entry", "list_datasets"]

EMBEDDED = "digits-traits"
"""The data set that comes with the package."""

ADDRESS = "https://raw.githubusercontent.com/tsoumakas/mulan/43f6389095ad71984264db4387a8074b22bc7d4a/data/multi-label"
_FOLDERS = {
    "meka": "https://sourceforge.net/projects/meka/files/Datasets",
    "music": "https://raw.githubusercontent.com/Waikato/meka/9c85c2ebbb2a2f817eaea10e278e3e2800fed8e6/trunk/data",
}


@dataclass(frozen=True)
class Entry:
    """A data set as published: size before encoding, labels per row, and its files.

    `xml` is empty for files of MEKA, which say themselves how many labels they have. Checksums are empty
    where none is known. `folder` is empty for Mulan's files, otherwise ``"meka"`` or ``"music"``.
    """

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
        end = "/download" if self.folder == "meka" else ""
        return f"{_FOLDERS.get(self.folder, f'{ADDRESS}/{self.name}')}/{file_name}{end}"


def _read_registry() -> dict[str, Entry]:
    with Path(__file__).with_suffix(".csv").open(encoding="utf-8", newline="") as stream:
        _, *rows = csv.reader(stream)
    return {
        row[0]: Entry(row[0], row[1], int(row[2]), int(row[3]), int(row[4]), float(row[5]), *row[6:])
        for row in rows
    }


REGISTRY = _read_registry()
"""By name. Sizes are those that Mulan and MEKA publish; where the checksum is pinned, they are checked."""


def list_datasets() -> list[str]:
    """Return the names that `load_dataset` knows, the embedded one first.

    Examples
    --------
    >>> from mlspl.datasets import list_datasets
    >>> list_datasets()[:4]
    ['digits-traits', 'flags', 'emotions', 'scene']
    """
    return [EMBEDDED, *REGISTRY]


def find_entry(name: str) -> Entry:
    """Return the entry of that name, or raise an error that lists the names."""
    if name in REGISTRY:
        return REGISTRY[name]
    hint = guess(name, list_datasets())
    raise UserError(f"no data set is called {name!r}.{hint} There are {', '.join(list_datasets())}.")
