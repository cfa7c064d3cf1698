"""How the commands read files: the options that say what a file does not, kept in the model for new rows."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from mlspl._names import join_names, split_names
from mlspl.cli.options import option
from mlspl.cli.sources import STANDARD, counted, file_name, make_table, note, spooled
from mlspl.errors import UserError, guess_column, listed, shorten

if TYPE_CHECKING:
    from rich.table import Table

    from mlspl.datasets import Dataset
    from mlspl.persistence import ModelInfo
    from mlspl.recipes import Schema

# Above this number of columns, those that are treated alike share a line.
_MOST_COLUMNS = 20
_USES = {
    "numeric": "number",
    "categorical": "categories",
    "date": "year, month, day",
    "text": "words, word pairs (TF-IDF)",
}
_SPELLING = ("decimal", "thousands", "encoding")
# Their labels are in a file beside them.
_ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class Reading:
    """What a user says about a file that the file does not say itself; `with_reading` makes it options."""

    labels: Annotated[
        str | None,
        option(
            "WHICH",
            "Label columns: names separated by commas, a pattern such as 'TAG_*', their number (-3: the last "
            "three), an XML file, or one column that holds all labels of a row, as a|b. By default: the XML "
            "file next to DATA, MEKA's -C, or a column named labels or tags.",
        ),
    ] = None
    label_sep: Annotated[
        str | None, option("SIGN", "Separator of labels in a set, if not |, ; or a comma.")
    ] = None
    text: Annotated[
        str,
        option(
            "COLUMNS",
            "Columns of text to use, separated by commas; auto: all columns of sentences; none. Text becomes "
            "TF-IDF weights of words and word pairs.",
        ),
    ] = "auto"
    categorical: Annotated[
        str, option("COLUMNS", "Number columns that are categories, separated by commas.")
    ] = ""
    numeric: Annotated[str, option("COLUMNS", "Columns that must be numeric, separated by commas.")] = ""
    drop: Annotated[str, option("COLUMNS", "Columns to leave out, separated by commas.")] = ""
    na: Annotated[str | None, option("VALUES", "Words that mean a missing value, in place of ?, NA, …")] = (
        None
    )
    decimal: Annotated[str | None, option("SIGN", "Decimal sign of CSV files; guessed by column.")] = None
    thousands: Annotated[str | None, option("SIGN", "Thousands separator of CSV files.")] = None
    encoding: Annotated[str | None, option("NAME", "Encoding if not UTF-8, such as cp1252.")] = None

    @property
    def text_columns(self) -> list[str] | None:
        """The columns to learn words from; None for all columns of text."""
        return None if self.text == "auto" else [] if self.text == "none" else split_names(self.text)

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the columns that are named."""
        named = {"text": self.text_columns or [], "categorical": split_names(self.categorical)}
        kinds: dict[str, str] = {}
        for kind, names in (named | {"numeric": split_names(self.numeric)}).items():
            for name in names:
                if kinds.setdefault(name, kind) != kind:
                    raise UserError(f"column {name!r} cannot be both {kinds[name]} and {kind}.")
        return kinds

    def spelling(self) -> dict[str, Any]:
        """How cells are written, as arguments of `read_dataset` and `relabel_file`."""
        na_values = None if self.na is None else split_names(self.na)
        return {"na_values": na_values, **{name: getattr(self, name) for name in _SPELLING}}

    def options(self) -> dict[str, Any]:
        """The arguments of `read_dataset`, but the labels."""
        drop = split_names(self.drop)
        return {"label_sep": self.label_sep or None, "drop": drop, "kinds": self.kinds, **self.spelling()}

    def to_arguments(self) -> list[str]:
        """Return the options that were given, as a shell gets them."""
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return [f"--{name.replace('_', '-')}={value}" for name, value, usual in given if value != usual]

    def to_json(self, dataset: "Dataset") -> dict[str, Any]:
        """What a model file keeps of it, to read new rows in the same way."""
        kept = self.options() | {"label_column": dataset.label_column, "label_joint": dataset.label_joint}
        del kept["kinds"]
        return kept


def parse_labels(text: str | None) -> str | int | None:
    """What ``--labels`` means: a number, or what `read_dataset` finds out with the names of the columns."""
    return int(text) if text is not None and text.lstrip("+-").isdecimal() else text


def with_reading(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these fields of `Reading`, or all of them, as options in place of `reading`."""
    known = signature(Reading).parameters
    options = [known[name].replace(kind=Parameter.KEYWORD_ONLY) for name in names or known]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            told = {option.name: given.pop(option.name) for option in options}
            command(reading=Reading(**told), **given)

        others = signature(command).parameters
        place = list(others).index("reading")
        parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in others.values()]
        parameters[place : place + 1] = options
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def open_dataset(source: str, reading: Reading, encode: bool = False) -> "Dataset":
    """Return the registered data set of that name, a file, or standard input if it is ``-``."""
    from mlspl.datasets import find_entry, list_datasets, load_dataset, read_dataset

    if source in list_datasets():
        _refuse_options(source, reading)
        return load_dataset(source, encode=encode)
    if source != STANDARD and not Path(source).exists() and not Path(source).suffix:
        find_entry(source)
    with spooled(source) as path:
        dataset = read_dataset(path, parse_labels(reading.labels), encode, **reading.options())
    _check_known(dataset, file_name(source))
    return dataset


def _check_known(dataset: "Dataset", source: str) -> None:
    """Refuse data without a known label; note labels that are unknown everywhere, and similar names."""
    import numpy as np

    from mlspl._validation import check_labels

    unknown = check_labels(dataset.Y).unknown
    counts = np.zeros(1) if unknown is None else np.asarray(unknown.sum(axis=0)).ravel()
    in_no_row = counts == dataset.Y.shape[0]
    if in_no_row.all():
        raise UserError(
            f"{source}: no label is known in any row: all are empty or a word for what is missing. "
            "Name other columns by --labels, or the words by --na."
        )
    if in_no_row.any():
        names = [dataset.label_names[j] for j in np.flatnonzero(in_no_row)]
        note(f"nothing can be learnt of labels that are known in no row: {listed(names)}.")
    spellings = Counter(map(str.casefold, dataset.label_names))
    if alike := [name for name in dataset.label_names if spellings[name.casefold()] > 1]:
        note(f"labels that differ by upper and lower case only are not the same: {listed(alike)}.")


def columns_table(dataset: "Dataset", schema: "Schema", table: Any) -> "Table":
    """Return a table of the columns of a file: kind, gaps, how each is used, and why it is not.

    Of many columns, those that are treated alike share a line.
    """
    import pandas as pd

    from mlspl.recipes import find_counters

    counters = set(find_counters(table))
    gaps = table.isna().sum() if isinstance(table, pd.DataFrame) else {}
    dropped, taken = set(schema.dropped), set(schema.names or ())
    groups: dict[tuple, list[str]] = {}
    for name in dataset.feature_names:
        kind = dataset.kind(name)
        if name in dropped:
            why = "text" if kind == "text" else "differs in most rows"
            treated = (kind, dataset.texts(name).count(None), "–", f"dropped: {why}")
        else:
            used = schema.kind(name) if name in taken else kind
            hint = "counts the rows" if name in counters and used == "numeric" else ""
            treated = (kind, int(gaps[name]) if name in gaps else 0, _USES[used], hint)
        key = treated if len(dataset.feature_names) > _MOST_COLUMNS else (*treated, name)
        groups.setdefault(key, []).append(name)
    rows = []
    for (kind, missing, use, hint, *_), names in groups.items():
        first, last = (shorten(name) for name in (names[0], names[-1]))
        title = first if len(names) == 1 else f"{first} … {last} ({len(names)})"
        rows.append((title, kind, use, hint, missing))
    return make_table(("column", "kind", "used as", "note", "gaps"), rows, left=4)


def match_columns(dataset: "Dataset", reading: Reading) -> "tuple[Schema, Any]":
    """Return how columns are used, and the table for models; note those not used, and suspected ids."""
    from mlspl.recipes import Schema, find_counters

    schema = Schema.from_dataset(dataset, text=reading.text_columns)
    table, _ = schema.match(dataset)
    texts = [name for name in schema.dropped if dataset.kind(name) == "text"]
    if texts:
        note(f"text is not used as a feature: {listed(texts)}. To use it: --text '{join_names(texts)}'")
    if others := [name for name in schema.dropped if name not in texts]:
        note(f"not used, because most rows have a value of their own: {listed(others)}.")
    if counting := [name for name in find_counters(table) if schema.kind(name) == "numeric"]:
        ids = join_names(counting)
        note(f"used, although the numbers count the rows: {listed(counting)}. Leave ids out: --drop '{ids}'")
    return schema, table


def size_of(source: str, dataset: "Dataset", schema: "Schema") -> str:
    """Return the size of a file in words."""
    numbers = (dataset.Y.shape[0], schema.n_features, dataset.Y.shape[1])
    return f"{file_name(source)}: {', '.join(map(counted, numbers, ('row', 'feature', 'label')))}"


def open_rows(source: str, info: "ModelInfo", keep: Sequence[str] = ()) -> "Dataset":
    """Return new rows for a model, read as its training rows were; columns to keep as they are written."""
    from mlspl.datasets import list_datasets, load_dataset, read_unlabelled

    if source in list_datasets():
        if keep:
            raise UserError(f"{source} is a registered data set, and has no columns to keep.")
        return load_dataset(source, encode=False)
    label_sets, options = stored_reading(info)
    ignored = {*info.label_names, label_sets["label_column"], *options.pop("drop")}
    ignored -= {*keep, *(info.schema.names or ())}
    options["kinds"] = dict.fromkeys(keep, "categorical") | dict(info.schema.kinds)
    options["needed"] = None if info.schema.names is None else {*info.schema.names, *keep}
    with spooled(source) as path:
        rows = read_unlabelled(path, ignored, **options)
    if missing := [name for name in keep if name not in rows.feature_names]:
        hint = guess_column(missing[0], rows.feature_names)
        raise UserError(f"{file_name(source)} has no column {missing[0]!r} to keep.{hint}")
    return replace(rows, name=file_name(source))


def open_labelled(source: str, info: "ModelInfo", reading: Reading) -> "Dataset":
    """Return rows with the labels of a model, in its order, read as its training rows were."""
    from mlspl.datasets import list_datasets, load_dataset, read_dataset

    if source in list_datasets():
        _refuse_options(source, reading)
        return _select_labels(load_dataset(source, encode=False), info.label_names)
    label_sets, options = stored_reading(info)
    column = label_sets["label_column"]
    options["label_sep"] = reading.label_sep or (label_sets["label_sep"] if column else "") or None
    labels: Any = parse_labels(reading.labels)
    with spooled(source) as path:
        if labels is None and path.suffix.lower() not in _ARRAYS:
            # A list, because a text could be a path, which a model file must not name.
            labels = [column] if column else info.label_names
        dataset = read_dataset(path, labels, encode=False, strict=False, **options)
    return _select_labels(replace(dataset, name=file_name(source)), info.label_names)


def _refuse_options(source: str, reading: Reading) -> None:
    if reading != Reading(text=reading.text):
        raise UserError(f"{source} is a registered data set. --labels and the like are for your own files.")


def _select_labels(dataset: "Dataset", label_names: list[str]) -> "Dataset":
    """Return the data set with the labels of the model, in its order."""
    import numpy as np
    from scipy import sparse

    position = {name: j for j, name in enumerate(dataset.label_names)}
    missing = [name for name in label_names if name not in position]
    if missing and not dataset.label_column:
        raise UserError(f"{dataset.name} has no label {missing[0]!r}, which the model predicts.")
    if dataset.label_column and (unknown := sorted(position.keys() - set(label_names))):
        note(f"the model does not know these labels, which are left out of the scores: {listed(unknown)}.")
    # A label that no label set has is 0, and NaN in rows whose labels are unknown.
    blank = dataset.Y[:, [0]] * 0
    is_sparse = sparse.issparse(blank)
    Y: Any = sparse.hstack([dataset.Y, blank], format="csr") if is_sparse else np.hstack([dataset.Y, blank])
    return replace(dataset, Y=Y[:, [position.get(name, -1) for name in label_names]], label_names=label_names)


def stored_reading(info: "ModelInfo") -> tuple[dict[str, str], dict[str, Any]]:
    """Return how the training file wrote label sets, and the arguments of `read_dataset` for new rows.

    A model file can hold anything, so each value is checked.
    """
    stored = info.summary.get("reading")
    stored = stored if isinstance(stored, dict) else {}
    texts = {name: value for name, value in stored.items() if isinstance(value, str)}
    label_sets = {name: texts.get(name, "") for name in ("label_column", "label_joint", "label_sep")}
    options: dict[str, Any] = {"kinds": info.schema.kinds, "day_first": info.schema.day_first}
    options |= {name: texts.get(name) for name in _SPELLING}
    for name, default in (("na_values", None), ("drop", [])):
        is_list = isinstance(value := stored.get(name), list) and all(isinstance(part, str) for part in value)
        options[name] = value if is_list else default
    return label_sets, options
