"""`read_dataset` and `read_unlabelled`: the user's own file, in any format we read."""

from collections.abc import Collection
from os import PathLike
from pathlib import Path

from mlspl.datasets.arff import read_arff
from mlspl.datasets.dataset import Dataset
from mlspl.datasets.frames import read_csv, read_parquet
from mlspl.datasets.labels import Labels
from mlspl.datasets.svmlight import read_svmlight
from mlspl.errors import UserError

__all__ = ["SUFFIXES", "read_dataset", "read_unlabelled"]

_TABLES = {".arff": read_arff, ".csv": read_csv, ".tsv": read_csv, ".parquet": read_parquet}
_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
SUFFIXES = (*_TABLES, *_SVMLIGHT)


def read_dataset(path: str | PathLike, labels: Labels = None, encode: bool = True) -> Dataset:
    r"""Read a file of your own.

    Parameters
    ----------
    path : path
        Mulan or MEKA ARFF (``.arff``), multi-label svmlight (``.svm``, ``.svmlight``, ``.libsvm``), CSV
        (``.csv``, ``.tsv``) or Parquet (``.parquet``).
    labels : optional
        Which columns are labels: the path of a Mulan XML, a list of names, a pattern with ``*`` and ``?`` or
        a compiled regular expression for names, or their number, counted from the front or, if negative,
        from the back. By default the XML of the same name beside the file decides, then MEKA's ``-C`` in an
        ARFF's relation. svmlight rows name their labels; a list there fixes which columns Y has, in which
        order.
    encode : bool
        Whether nominal features become one-hot columns (binary ones stay single); otherwise X holds category
        codes, explained by `Dataset.nominal`.

    Returns
    -------
    Dataset
        Columns in the order of the file. X is sparse if the file is. Missing features are NaN. Labels are
        0 or 1 (in the file also false or true); if some are missing, Y is float64 with NaN.

    Raises
    ------
    DataFormatError
        If the file is damaged or not what it says; the error names file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl.datasets import read_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.csv"
    ...     _ = path.write_text("tempo,key,happy,calm\n120,C,1,0\n64,a,0,1\n98,F,1,1\n")
    ...     songs = read_dataset(path, labels=["happy", "calm"])
    >>> songs.feature_names
    ['tempo', 'key=C', 'key=F', 'key=a']
    >>> songs.Y.tolist()
    [[1, 0], [0, 1], [1, 1]]
    """
    path = Path(path)
    if _suffix(path) in _SVMLIGHT:
        return read_svmlight(path, labels)
    return _TABLES[_suffix(path)](path).to_dataset(labels, encode)


def read_unlabelled(path: str | PathLike, ignored: Collection[str] = ()) -> Dataset:
    r"""Read the features alone of a file, to predict its labels.

    Parameters
    ----------
    path : path
        In any format of `read_dataset`.
    ignored : collection of str
        Columns that are no features, such as labels, wherever they stand in the file; their values are not
        looked at. The labels of svmlight rows are left out in any case.

    Returns
    -------
    Dataset
        Without labels: Y has no columns. Nominal features are category codes, explained by
        `Dataset.nominal`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from mlspl.datasets import read_unlabelled
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "songs.csv"
    ...     _ = path.write_text("tempo,happy\n120,?\n64,?\n")
    ...     read_unlabelled(path, ignored=["happy", "calm"]).feature_names
    ['tempo']
    """
    path = Path(path)
    if _suffix(path) in _SVMLIGHT:
        return read_svmlight(path, None, unlabelled=True)
    return _TABLES[_suffix(path)](path).to_unlabelled(ignored)


def _suffix(path: Path) -> str:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        hint = " Name the data file; its XML is found beside it." if suffix == ".xml" else ""
        raise UserError(f"{path}: mlspl reads {', '.join(SUFFIXES)} and goes by the suffix.{hint}")
    return suffix
