"""Multi-label data sets: by name, from files, and with labels corrupted on purpose.

Mistakes in a file raise a `DataFormatError` that names file and line.
"""

from mlspl.datasets.columns import KINDS, column_kind, days_since_1970, is_numeric, one_hot, spell_numbers
from mlspl.datasets.corruption import corrupt
from mlspl.datasets.dataset import Dataset
from mlspl.datasets.files import check_memory, guess_suffix
from mlspl.datasets.loading import (
    EMBEDDED,
    Entry,
    fetch_dataset,
    find_entry,
    list_datasets,
    load_dataset,
    locate_dataset,
)
from mlspl.datasets.reading import read_dataset, read_unlabelled
from mlspl.datasets.real import NoisyLabels, load_noisy_labels
from mlspl.datasets.relabelling import relabel_file
from mlspl.datasets.writing import write_dataset
from mlspl.errors import DataFormatError

__all__ = [
    "EMBEDDED",
    "KINDS",
    "DataFormatError",
    "Dataset",
    "Entry",
    "NoisyLabels",
    "check_memory",
    "column_kind",
    "corrupt",
    "days_since_1970",
    "fetch_dataset",
    "find_entry",
    "guess_suffix",
    "is_numeric",
    "list_datasets",
    "load_dataset",
    "load_noisy_labels",
    "locate_dataset",
    "one_hot",
    "read_dataset",
    "read_unlabelled",
    "relabel_file",
    "spell_numbers",
    "write_dataset",
]
