"""What commands read: data sets, files or standard input, read as the options say; checks of outputs."""

import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from glob import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mlspl._files import check_output
from mlspl._names import join_names
from mlspl.cli.options import SPELLING, Reading, parse_labels
from mlspl.cli.output import counted, make_table, note, notes
from mlspl.errors import UserError, guess_column, listed, shorten

if TYPE_CHECKING:
    from rich.table import Table

    from mlspl.datasets import Dataset
    from mlspl.persistence import ModelInfo
    from mlspl.recipes import Schema

STANDARD = "-"
"""How the command line spells standard input and output."""

# Above this number of columns, those that are treated alike share a line.
_MOST_COLUMNS = 20
_USES = {
    "numeric": "number",
    "categorical": "categories",
    "date": "year, month, day",
    "text": "words, word pairs (TF-IDF)",
}
# Their labels are in a file beside them.
_ARRAYS = (".npy", ".npz")


@contextmanager
def spooled(source: str) -> Iterator[Path]:
    """Give the path of a file, or of a copy of standard input; print the warnings of readers as notes."""
    if source != STANDARD:
        with notes():
            yield Path(source)
        return
    from mlspl.datasets import guess_suffix

    if sys.stdin is None or sys.stdin.isatty():
        raise UserError("standard input is closed or a terminal. Pipe a file into the command, or name one.")
    with tempfile.TemporaryDirectory() as folder:
        path = copy = Path(folder) / "input"
        with copy.open("wb") as stream:
            shutil.copyfileobj(sys.stdin.buffer, stream)
        try:
            path = copy.rename(Path(folder) / f"standard input{guess_suffix(copy)}")
            with notes():
                yield path
        except UserError as error:
            raise UserError(str(error).replace(str(path), "standard input")) from None


def file_name(source: str) -> str:
    """What messages call a source."""
    return "standard input" if source == STANDARD else Path(source).name


def check_target(
    out: str | Path,
    inputs: Iterable[str | Path | None],
    force: bool,
    is_ours: Callable[[Path], bool] = lambda path: False,
) -> None:
    """Check that a file can be written and replaces no input and no foreign file, before work starts."""
    if out != STANDARD:
        check_output(out, inputs, force=force, is_ours=is_ours)


def input_files(*sources: str | Path | None) -> Iterator[Path]:
    """Yield the files that a command reads, with label files beside them; lazy, because it imports much."""
    from mlspl.datasets import EMBEDDED, list_datasets, locate_dataset

    for source in sources:
        if not source:
            continue
        path: Path | None = Path(source)
        if source in list_datasets() and source != EMBEDDED:
            path = locate_dataset(str(source))
        if path is not None and path.is_file():
            stem = path.name.partition(".")[0]
            yield from (path, path.with_name(f"{stem}.xml"), *path.parent.glob(f"{escape(stem)}.labels.*"))


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
    """Return a table of the columns of a file; of many, those that are treated alike share a line."""
    import pandas as pd

    missing = table.isna().sum() if isinstance(table, pd.DataFrame) else {}
    dropped, taken = set(schema.dropped), set(schema.names or ())
    groups: dict[tuple, list[str]] = {}
    for name in dataset.feature_names:
        kind = dataset.kind(name)
        if name in dropped:
            use = "dropped: text" if kind == "text" else "dropped: differs in most rows"
            gaps = dataset.texts(name).count(None)
        else:
            use = _USES[schema.kind(name) if name in taken else kind]
            gaps = int(missing.get(name, 0))
        key = (kind, use, gaps, name if len(dataset.feature_names) <= _MOST_COLUMNS else "")
        groups.setdefault(key, []).append(name)
    rows = []
    for (kind, use, gaps, _), names in groups.items():
        first, last = (shorten(name) for name in (names[0], names[-1]))
        title = first if len(names) == 1 else f"{first} … {last} ({len(names)})"
        rows.append((title, kind, use, gaps))
    return make_table(("column", "kind", "used as", "gaps"), rows, left=3)


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
    """Return how the training file wrote label sets, and the arguments of `read_dataset`, each checked."""
    stored = info.summary.get("reading")
    stored = stored if isinstance(stored, dict) else {}
    texts = {name: value for name, value in stored.items() if isinstance(value, str)}
    label_sets = {name: texts.get(name, "") for name in ("label_column", "label_joint", "label_sep")}
    options: dict[str, Any] = {"kinds": info.schema.kinds}
    options |= {name: texts.get(name) for name in SPELLING}
    for name, default in (("na_values", None), ("drop", [])):
        is_list = isinstance(value := stored.get(name), list) and all(isinstance(part, str) for part in value)
        options[name] = value if is_list else default
    return label_sets, options
