"""How the commands read files: the options that say what a file does not, kept in the model for new rows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mlspl._names import join_names, split_names
from mlspl.cli.sources import STANDARD, file_name, make_table, note, spooled
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
_KINDS = ("text", "categorical", "numeric")
_SPELLING = ("decimal", "thousands", "encoding")
# Their labels are in a file beside them.
_ARRAYS = (".npy", ".npz")


@dataclass(frozen=True)
class Reading:
    """What a user said about a file that the file does not say itself."""

    labels: str | None = None
    label_sep: str | None = None
    na_values: Sequence[str] | None = None
    drop: Sequence[str] = ()
    kinds: Mapping[str, str] | None = None
    text: Sequence[str] | None = None
    """The columns to learn words from; None for all columns of text."""
    decimal: str | None = None
    thousands: str | None = None
    encoding: str | None = None

    @classmethod
    def of(
        cls,
        labels: Annotated[
            str | None,
            typer.Option(
                metavar="WHICH",
                help="Label columns: names separated by commas, a pattern such as 'TAG_*', their number (-3: "
                "the last three), an XML file, or one column that holds all labels of a row, as a|b. By "
                "default: the XML file next to DATA, MEKA's -C, or a column named labels or tags.",
            ),
        ] = None,
        label_sep: Annotated[
            str | None,
            typer.Option(metavar="SIGN", help="Separator in a column of label sets, if not |, ; or a comma."),
        ] = None,
        text: Annotated[
            str,
            typer.Option(
                metavar="COLUMNS",
                help="Columns of text to use, separated by commas; auto: all columns of sentences; none. "
                "Text becomes TF-IDF weights of words and word pairs.",
            ),
        ] = "auto",
        categorical: Annotated[
            str,
            typer.Option(
                metavar="COLUMNS", help="Number columns to treat as categories, separated by commas."
            ),
        ] = "",
        numeric: Annotated[
            str,
            typer.Option(metavar="COLUMNS", help="Columns that must be numeric, separated by commas."),
        ] = "",
        drop: Annotated[
            str, typer.Option(metavar="COLUMNS", help="Columns to leave out, separated by commas.")
        ] = "",
        na: Annotated[
            str | None,
            typer.Option(
                metavar="VALUES",
                help="Words that mean a missing value, separated by commas; replaces ?, NA, nan, null, …",
            ),
        ] = None,
        decimal: Annotated[
            str | None,
            typer.Option(metavar="SIGN", help="Decimal sign of CSV files; found by column if not given."),
        ] = None,
        thousands: Annotated[
            str | None, typer.Option(metavar="SIGN", help="Thousands separator of CSV files.")
        ] = None,
        encoding: Annotated[
            str | None,
            typer.Option(metavar="NAME", help="Encoding of a file that is not UTF-8, such as cp1252."),
        ] = None,
    ) -> "Reading":
        """Read the options, which `with_reading` gives to a command."""
        kinds: dict[str, str] = {}
        is_named = text not in ("auto", "none")
        for kind, names in (
            ("text", text if is_named else ""),
            ("categorical", categorical),
            ("numeric", numeric),
        ):
            for name in split_names(names):
                if kinds.setdefault(name, kind) != kind:
                    raise UserError(f"column {name!r} cannot be both {kinds[name]} and {kind}.")
        na_values = None if na is None else split_names(na)
        columns = None if text == "auto" else split_names(text) if is_named else []
        return cls(
            labels,
            label_sep or None,
            na_values,
            split_names(drop),
            kinds,
            columns,
            decimal,
            thousands,
            encoding,
        )

    def options(self) -> dict[str, Any]:
        """The arguments of `read_dataset`, but the labels."""
        return {name: getattr(self, name) for name in ("label_sep", "na_values", "drop", "kinds", *_SPELLING)}

    def to_arguments(self) -> list[str]:
        """Return the options as a shell gets them, in a fixed order."""
        kinds = {kind: [name for name, of in (self.kinds or {}).items() if of == kind] for kind in _KINDS}
        na = None if self.na_values is None else join_names(self.na_values)
        given = {"labels": self.labels, "label-sep": self.label_sep}
        given |= {kind: join_names(names) if names else None for kind, names in kinds.items()}
        given |= {"text": "none"} if self.text is not None and not self.text else {}
        given |= {"drop": join_names(self.drop) if self.drop else None, "na": na}
        given |= {name: getattr(self, name) for name in _SPELLING}
        return [f"--{name}={value}" for name, value in given.items() if value is not None]

    def to_json(self, dataset: "Dataset") -> dict[str, Any]:
        """What a model file keeps of it, to read new rows in the same way."""
        na = None if self.na_values is None else list(self.na_values)
        return {
            "label_column": dataset.label_column,
            "label_joint": dataset.label_joint,
            "label_sep": self.label_sep,
            "na_values": na,
            "drop": list(self.drop),
            **{name: getattr(self, name) for name in _SPELLING},
        }


def parse_labels(text: str | None) -> str | int | None:
    """What ``--labels`` means: a number, or what `read_dataset` finds out with the names of the columns."""
    return int(text) if text is not None and text.lstrip("+-").isdecimal() else text


def with_reading(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these options of `Reading.of`, or all of them, in place of its parameter `reading`."""
    known = signature(Reading.of).parameters
    options = [known[name] for name in names or known]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            told = {option.name: given.pop(option.name) for option in options}
            command(reading=Reading.of(**told), **given)

        parameters = list(signature(command).parameters.values())
        place = [parameter.name for parameter in parameters].index("reading")
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
    n_rows = dataset.Y.shape[0]
    in_no_row = np.zeros(0) if unknown is None else np.asarray(unknown.sum(axis=0)).ravel() == n_rows
    if len(in_no_row) and in_no_row.all():
        raise UserError(
            f"{source}: no label is known in any row: all are empty or a word for what is missing. "
            "Name other columns by --labels, or the words by --na."
        )
    if in_no_row.any():
        names = [dataset.label_names[j] for j in np.flatnonzero(in_no_row)]
        note(f"nothing can be learnt of labels that are known in no row: {listed(names)}.")
    spellings: dict[str, list[str]] = {}
    for name in dataset.label_names:
        spellings.setdefault(name.casefold(), []).append(name)
    if alike := [name for names in spellings.values() if len(names) > 1 for name in names]:
        note(f"labels that differ by upper and lower case only are not the same: {listed(alike)}.")


def columns_table(dataset: "Dataset", schema: "Schema", table: Any) -> "Table":
    """Return a table of the columns of a file: kind, gaps, how each is used, and why it is not.

    Of many columns, those that are treated alike share a line.
    """
    import pandas as pd

    from mlspl.recipes import find_counters

    counters = {name for name in find_counters(table) if schema.kind(name) == "numeric"}
    gaps = table.isna().sum() if isinstance(table, pd.DataFrame) else {}
    dropped, taken = set(schema.dropped), set(schema.names or ())
    groups: dict[tuple, list[str]] = {}
    for name in dataset.feature_names:
        kind = dataset.kind(name)
        if name in dropped:
            missing = sum(text is None for text in dataset.texts(name))
            why = "text" if kind == "text" else "differs in most rows"
            treated = (kind, missing, "–", f"dropped: {why}")
        else:
            used = schema.kind(name) if name in taken else kind
            hint = "counts the rows" if name in counters else ""
            treated = (kind, int(gaps[name]) if name in gaps else 0, _USES[used], hint)
        key = treated if len(dataset.feature_names) > _MOST_COLUMNS else (*treated, name)
        groups.setdefault(key, []).append(name)
    rows = []
    for (kind, missing, use, hint, *_), names in groups.items():
        first, last = (shorten(name) for name in (names[0], names[-1]))
        title = first if len(names) == 1 else f"{first} … {last} ({len(names)})"
        rows.append((title, kind, use, hint, missing))
    return make_table(("column", "kind", "used as", "note", "gaps"), rows, left=4)


def note_columns(dataset: "Dataset", schema: "Schema", table: Any) -> None:
    """Say which columns are not learnt from, and which perhaps should not be."""
    from mlspl.recipes import find_counters

    texts = [name for name in schema.dropped if dataset.kind(name) == "text"]
    if texts:
        note(f"text is not used as a feature: {listed(texts)}. To use it: --text '{join_names(texts)}'")
    if others := [name for name in schema.dropped if name not in texts]:
        note(f"not used, because most rows have a value of their own: {listed(others)}.")
    if counting := [name for name in find_counters(table) if schema.kind(name) == "numeric"]:
        ids = join_names(counting)
        note(f"used, although the numbers count the rows: {listed(counting)}. Leave ids out: --drop '{ids}'")


def open_rows(source: str, info: "ModelInfo", keep: Sequence[str] = ()) -> "Dataset":
    """Return new rows for a model, read as its training rows were; columns to keep as they are written."""
    from mlspl.datasets import list_datasets, load_dataset, read_unlabelled

    if source in list_datasets():
        if keep:
            raise UserError(f"{source} is a registered data set, and has no columns to keep.")
        return load_dataset(source, encode=False)
    kept = _kept(info)
    ignored = {*info.label_names, kept.pop("label_column"), *kept.pop("drop")}
    ignored -= {*keep, *(info.schema.names or ())}
    del kept["label_sep"]
    kept["kinds"] = dict.fromkeys(keep, "categorical") | dict(info.schema.kinds)
    kept["needed"] = None if info.schema.names is None else {*info.schema.names, *keep}
    with spooled(source) as path:
        rows = read_unlabelled(path, ignored, **kept)
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
    kept = _kept(info)
    column = kept.pop("label_column")
    kept["label_sep"] = reading.label_sep or (kept["label_sep"] if column else None)
    labels: Any = parse_labels(reading.labels)
    with spooled(source) as path:
        if labels is None and path.suffix.lower() not in _ARRAYS:
            # A list, because a text could be a path, which a model file must not name.
            labels = [column] if column else info.label_names
        dataset = read_dataset(path, labels, encode=False, strict=False, **kept)
    return _select_labels(replace(dataset, name=file_name(source)), info.label_names)


def _refuse_options(source: str, reading: Reading) -> None:
    if reading.labels is not None or any(reading.options().values()):
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
    Y: Any = sparse.hstack([dataset.Y, blank], format="csr") if sparse.issparse(blank) else None
    Y = np.hstack([dataset.Y, blank]) if Y is None else Y
    return replace(dataset, Y=Y[:, [position.get(name, -1) for name in label_names]], label_names=label_names)


def _kept(info: "ModelInfo") -> dict[str, Any]:
    """Return how the training rows were read, as arguments of `read_dataset` and the column of label sets.

    A model file can hold anything, so each value is checked.
    """
    stored = info.summary.get("reading")
    stored = stored if isinstance(stored, dict) else {}
    kept: dict[str, Any] = {"kinds": info.schema.kinds, "day_first": info.schema.day_first}
    for name in ("label_column", "label_sep", *_SPELLING):
        kept[name] = value if isinstance(value := stored.get(name), str) else None
    for name in ("na_values", "drop"):
        is_list = isinstance(value := stored.get(name), list) and all(isinstance(part, str) for part in value)
        kept[name] = value if is_list else None
    return {**kept, "label_column": kept["label_column"] or "", "drop": kept["drop"] or []}
