"""`read_dataset` and `read_unlabelled`: the user's own file, in any format we read."""

from collections.abc import Collection, Mapping
from os import PathLike
from pathlib import Path

from mlspl.datasets.arff import read_arff
from mlspl.datasets.arrays import read_arrays
from mlspl.datasets.compression import COMPRESSIONS, data_suffix
from mlspl.datasets.dataset import Dataset
from mlspl.datasets.delimited import read_csv
from mlspl.datasets.json_lines import read_json_lines
from mlspl.datasets.labels import Labels
from mlspl.datasets.options import ReadOptions
from mlspl.datasets.parquet import read_parquet
from mlspl.datasets.svmlight import read_svmlight
from mlspl.datasets.table import INDEX
from mlspl.errors import UserError

__all__ = ["SUFFIXES", "read_dataset", "read_unlabelled"]

_TABLES = {
    ".arff": read_arff,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_json_lines,
    ".parquet": read_parquet,
}
_SVMLIGHT = (".svm", ".svmlight", ".libsvm")
_ARRAYS = (".npy", ".npz")
_BINARY = (".parquet", *_ARRAYS)
SUFFIXES = (*_TABLES, *_SVMLIGHT, *_ARRAYS)
_REMEDIES = {
    ".xml": "Name the data file; its XML is found beside it.",
    ".txt": "If it is a table with a header, call it .csv.",
    ".json": "Write a row a line and call it .jsonl: DataFrame.to_json(…, orient='records', lines=True).",
    ".zip": "Unpack it, or pack it with gzip.",
} | dict.fromkeys((".xls", ".xlsx", ".ods"), "Save the sheet as 'CSV UTF-8'.")


def read_dataset(
    path: str | PathLike,
    labels: Labels = None,
    encode: bool = True,
    *,
    label_sep: str | None = None,
    na_values: Collection[str] | None = None,
    drop: Collection[str] = (),
    kinds: Mapping[str, str] | None = None,
    day_first: Mapping[str, bool] | None = None,
    strict: bool = True,
) -> Dataset:
    r"""Read a file of your own.

    Parameters
    ----------
    path : path
        Mulan or MEKA ARFF (``.arff``), multi-label svmlight (``.svm``, ``.svmlight``, ``.libsvm``), CSV
        (``.csv``, ``.tsv``; with commas, semicolons, tabs or bars; a first column without a name, or with
        that of pandas, ``Unnamed: 0``, is an index and left out), JSON Lines (``.jsonl``), Parquet
        (``.parquet``), or NumPy's arrays (``.npy``, ``.npz``) with a file of labels. Text may be compressed:
        ``.gz``, ``.bz2``, ``.zst``.
    labels : optional
        Which columns are labels: the path of a Mulan XML, a name, a list of names (or a line of CSV with
        them), a pattern with ``*`` and ``?`` or a compiled regular expression for names, or their number,
        counted from the front or, if negative, from the back. By default the XML of the same name beside
        the file decides, then MEKA's ``-C`` in an ARFF's relation, then a column that is called labels or
        tags and holds words. svmlight rows name their labels; a list there fixes which columns Y has, in
        which order. For arrays, the path of the file of labels; by default the one beside, such as
        ``songs.labels.csv``. A single column may hold the labels of each row, as ``a|b``, ``a;b``, ``a, b``
        or a JSON list: empty is none, ``?`` or missing is unknown.
    encode : bool
        Whether nominal features become one-hot columns (binary ones stay single); otherwise X holds category
        codes, explained by `Dataset.nominal`, and `Dataset.kinds` says which features are text or dates. Text
        is never encoded, but left out with a warning.
    label_sep : str, optional
        What separates the labels in a single column; found out if not given.
    na_values : collection of str, optional
        Words that mean a missing value, in place of ``?``, ``NA``, ``nan``, ``null`` and the like. An empty
        field always does.
    drop : collection of str
        Columns to leave out.
    kinds : mapping, optional
        Kinds of columns that are not as they look: ``{"zip": "categorical", "review": "text"}``. A column is
        ``"numeric"``, ``"categorical"``, ``"text"`` or ``"date"``.
    day_first : mapping, optional
        For columns of dates with slashes whether the day is first: ``{"heard": True}`` if 07/01/2023 is in
        January. Otherwise the rows decide, and where they leave it open the month is first, with a warning.
    strict : bool, default=True
        Whether `drop`, `kinds` and `day_first` may name only columns that the file has.

    Returns
    -------
    Dataset
        Columns in the order of the file. X is sparse if the file is. Missing features are NaN. Labels are
        0 or 1 (in the file also false or true), int64; if some are missing, Y is float64 with NaN.

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
    options = ReadOptions(label_sep, na_values, drop, kinds or {}, not strict, day_first or {})
    suffix = _suffix(path)
    if suffix in _SVMLIGHT:
        if strict:
            _refuse_options(options, path)
        return read_svmlight(path, labels)
    if suffix in _ARRAYS:
        return read_arrays(path, labels, options)
    return _TABLES[suffix](path, options).to_dataset(labels, encode, options)


def read_unlabelled(
    path: str | PathLike,
    ignored: Collection[str] = (),
    *,
    na_values: Collection[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    day_first: Mapping[str, bool] | None = None,
) -> Dataset:
    r"""Read the features alone of a file, to predict its labels.

    Parameters
    ----------
    path : path
        In any format of `read_dataset`.
    ignored : collection of str
        Columns that are no features, such as labels, wherever they stand in the file; their values are not
        looked at. The labels of svmlight rows are left out in any case.
    na_values : collection of str, optional
        As in `read_dataset`.
    kinds, day_first : mapping, optional
        As in `read_dataset`; columns that the file does not have are passed over.

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
    options = ReadOptions(None, na_values, ignored, kinds or {}, True, day_first or {})
    suffix = _suffix(path)
    if suffix in _SVMLIGHT:
        return read_svmlight(path, None, unlabelled=True)
    if suffix in _ARRAYS:
        return read_arrays(path, None, ReadOptions(), unlabelled=True)
    return _TABLES[suffix](path, options).to_unlabelled({*ignored, *({INDEX} - set(options.kinds))})


def _refuse_options(options: ReadOptions, path: Path) -> None:
    if options.label_sep or options.na_values or options.drop or options.kinds:
        raise UserError(
            f"{path}: svmlight has numbers only; label_sep, na_values, drop and kinds are for tables."
        )


def _suffix(path: Path) -> str:
    suffix = data_suffix(path)
    if suffix in _BINARY and path.suffix.lower() in COMPRESSIONS:
        raise UserError(f"{path}: of binary formats mlspl reads no compressed files. Unpack it first.")
    if suffix not in SUFFIXES:
        remedy = _REMEDIES.get(suffix, "Write it as one of them.")
        raise UserError(f"{path}: mlspl reads {', '.join(SUFFIXES)} and goes by the suffix. {remedy}")
    return suffix
