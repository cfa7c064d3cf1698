"""Multi-label data sets: by name, from your own files, and with labels corrupted on purpose.

`load_dataset` and `read_dataset` return a `Dataset`; `write_dataset` puts one into a file. Whatever is wrong
with a file becomes a `DataFormatError` that names file and line.
"""

from mlspl.datasets.corruption import corrupt
from mlspl.datasets.dataset import Dataset, Statistics
from mlspl.datasets.encoding import one_hot
from mlspl.datasets.loading import fetch_dataset, load_dataset, locate_dataset
from mlspl.datasets.reading import read_dataset, read_unlabelled
from mlspl.datasets.registry import EMBEDDED, Entry, find_entry, list_datasets
from mlspl.datasets.relabelling import relabel_file
from mlspl.datasets.sniffing import guess_suffix
from mlspl.datasets.writing import write_dataset
from mlspl.errors import DataFormatError

__all__ = [
    "EMBEDDED",
    "DataFormatError",
    "Dataset",
    "Entry",
    "Statistics",
    "corrupt",
    "fetch_dataset",
    "find_entry",
    "guess_suffix",
    "list_datasets",
    "load_dataset",
    "locate_dataset",
    "one_hot",
    "read_dataset",
    "read_unlabelled",
    "relabel_file",
    "write_dataset",
]
