"""`mlspl audit`: which labels of a file are probably wrong, and a page to review them on."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from mlspl._text import shown
from mlspl.cli.reading import Reading, note_columns, open_dataset, with_reading
from mlspl.cli.sources import STANDARD, check_folder, counted, file_name, note, notes
from mlspl.cli.waiting import PATIENCE, about, keep_on_interrupt, probe_rows
from mlspl.errors import UserError

if TYPE_CHECKING:
    import numpy as np

    from mlspl.curriculum import Audit
    from mlspl.datasets import Dataset

__all__ = ["audit"]

_MOST_LABELS = 10
_MOST_SUSPICIONS = 10
_FEWEST_ROWS = 5  # as many as folds
_SHARES = (0.25, 0.5, 0.75, 0.9)


@with_reading()
def audit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Your file, in any format of `mlspl fit`; - for standard input; or a known name.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder for the page and the tables.")
    ],
    reading: Reading,
    show: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Show this column on the page: text, or file names of pictures."),
    ] = None,
    embed: Annotated[
        bool, typer.Option("--embed", help="Put the pictures into the page instead of linking them.")
    ] = False,
    ids: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Call rows by this column, which is not learnt from."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Judge by this method of `mlspl fit`; by default by a kernel machine and a paced forest.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of everything random.", min=0, max=2**32 - 1)
    ] = 0,
) -> None:
    """Find labels that are probably wrong, and write a page to review them on.

    Every label is judged by models that have not seen its row. DIR gets
    audit.html, a page that needs nothing but a browser, and issues.csv,
    labels.csv and rows.csv; rows are counted from 0. Decisions made on the
    page and exported are applied by `mlspl correct`.
    """
    import numpy as np

    from mlspl.curriculum import audit as find_issues
    from mlspl.curriculum import suited_models
    from mlspl.pages import write_audit_folder
    from mlspl.recipes import Recipe, Schema, encode_table, get_method, take_rows

    check_folder(out)
    chosen = None if method is None else get_method(method)
    dataset = open_dataset(data, reading)
    names = None if ids is None else [text or "" for text in dataset.texts(ids)]
    texts, images = _read_shown(dataset, show, embed, data, out)
    learnt = dataset if ids is None else dataset.without([ids])
    schema = Schema.from_dataset(learnt, text=reading.text)
    table, _ = schema.match(learnt)
    note_columns(learnt, schema, table)
    console = Console(highlight=False)
    n_rows, n_labels = dataset.Y.shape
    size = ", ".join(map(counted, (n_rows, schema.n_features, n_labels), ("row", "feature", "label")))
    console.print(f"{shown(file_name(data))}: {size}", soft_wrap=True)
    if n_rows < _FEWEST_ROWS:
        raise UserError(f"{counted(n_rows, 'row')} cannot be audited: give {_FEWEST_ROWS} or more.")
    # The page shows features in their own units; models want those of a table on one scale.
    X, feature_names = encode_table(schema, table)
    scaled = X if schema.layout != "frame" else encode_table(schema, table, scale=True)[0]
    learnt_from, given = scaled if chosen is None else table, _with_names(dataset)

    suited = list(suited_models(learnt_from, n_labels, random_state=seed).values()) if chosen is None else []

    def judge(rows: "np.ndarray", verbose: int = 0) -> "Audit":
        estimator = None if chosen is None else Recipe(chosen, schema, seed).build(chosen.settings(""))
        if len(suited) == 1 and len(rows) < n_rows:
            (estimator,) = suited  # not also the forest, which only a sample can afford
        options = {"n_jobs": -1, "random_state": seed, "verbose": verbose}
        return find_issues(take_rows(learnt_from, rows), given.iloc[rows], estimator, **options)

    with notes(), keep_on_interrupt(f"nothing was written to {out}."):
        try:
            found = judge(np.arange(n_rows), _foretell(judge, n_rows, seed))
        except UserError:
            raise
        except (ValueError, RuntimeError) as error:
            raise UserError(f"{file_name(data)} cannot be audited: {error}") from error
    paths = write_audit_folder(
        out,
        found,
        X,
        name=file_name(data),
        fingerprint=dataset.fingerprint(),
        feature_names=feature_names,
        ids=names,
        texts=texts,
        images=images,
    )
    _print(found, names, console)
    page, *tables = (shown(str(path)) for path in paths)
    console.print(f"Wrote {', '.join(tables)}\nOpen {page} in a browser to review.", soft_wrap=True)


def _foretell(judge: Callable[..., Any], n_rows: int, seed: int) -> int:
    """Whether to show the steps: on a terminal, and where samples foretell a long audit, which is said."""
    import numpy as np

    order = np.random.default_rng(seed).permutation(n_rows)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            probe = probe_rows(lambda size: judge(np.sort(order[:size])), n_rows)
    except Exception:
        probe = None  # a sample may be too small; what else is wrong, the audit itself will tell
    if probe is None or probe.foretell(n_rows) <= PATIENCE:
        return int(Console(stderr=True).is_terminal)
    note(f"this takes about {about(probe.foretell(n_rows))}, as audits of up to {probe.rows} rows foretell.")
    return 1


def _with_names(dataset: "Dataset"):
    import pandas as pd
    from scipy import sparse

    Y: Any = dataset.Y
    return pd.DataFrame(Y.toarray() if sparse.issparse(Y) else Y, columns=dataset.label_names)


def _read_shown(dataset: "Dataset", show: str | None, embed: bool, data: str, out: Path):
    """The texts, or else the pictures, of the column to show."""
    from mlspl.pages import find_pictures

    if show is None:
        if embed:
            raise UserError("--embed is for pictures: name the column of their file names with --show.")
        return None, None
    texts = dataset.texts(show)
    folder = Path(data).parent if data != STANDARD and Path(data).exists() else Path()
    pictures, missing = find_pictures(texts, folder, None if embed else out)
    if pictures is None:
        if embed:
            raise UserError(f"--embed is for pictures, and {show!r} holds no file names of any.")
        return texts, None
    if missing:
        note(f"{counted(len(missing), 'picture')} of {show!r} not found, such as {missing[0]!r}.")
    return None, pictures


def _print(found: "Audit", names: list[str] | None, console: Console) -> None:
    known = int((found.given >= 0).sum())
    errors = found.expected_errors
    console.print(
        f"About {errors:,.0f} of {known:,} given labels are probably wrong ({errors / max(known, 1):.1%}).\n"
    )
    console.print(_labels_table(found), "")
    if len(found.issues):
        console.print(_suspicions_table(found, names), "")
        console.print(_review_table(found), "")


def _labels_table(found: "Audit") -> Table:
    labels = found.labels
    labels = labels.assign(wrong=labels["expected_lost"] + labels["expected_false"])
    title = "Labels by estimated noise"
    if len(labels) > _MOST_LABELS:
        title += f", the first {_MOST_LABELS} of {len(labels)}"
    table = _table(title, "label", "prevalence", "wrong", "lost", "false", "AUC")
    for name, row in labels.sort_values("wrong", ascending=False).head(_MOST_LABELS).iterrows():
        cells = [
            f"{row['prevalence']:.1%}",
            f"{row['wrong']:.0f}",
            f"{row['lost']:.1%}",
            f"{row['false']:.1%}",
        ]
        table.add_row(shown(str(name)), *cells, f"{row['auc']:.3f}" if row["auc"] == row["auc"] else "–")
    return table


def _suspicions_table(found: "Audit", names: list[str] | None) -> Table:
    table = Table(title="The strongest suspicions", title_justify="left", box=None, pad_edge=False)
    table.add_column("row", overflow="fold")
    table.add_column("label", overflow="fold")
    for heading in ("given", "probably"):
        table.add_column(heading, justify="right")
    table.add_column("suspicion", justify="right")
    table.add_column("why", overflow="fold")
    for issue in found.issues.head(_MOST_SUSPICIONS).to_dict("records"):
        row = issue["row_number"]
        table.add_row(
            shown(names[row]) if names else str(row),
            shown(str(issue["label"])),
            str(issue["given"]),
            str(issue["suggested"]),
            f"{issue['suspicion']:.1%}",
            shown(issue["why"]),
        )
    return table


def _review_table(found: "Audit") -> Table:
    """How many rows, the most suspected first, hold how many of the expected errors."""
    expected = found.rows["expected_errors"].sort_values(ascending=False).cumsum().to_numpy()
    table = _table("How many rows to review", "rows", "errors found, about", "of all")
    digits = 0 if expected[-1] >= 10 else 1
    for share in _SHARES:
        rows = int((expected < share * expected[-1]).sum()) + 1
        table.add_row(f"{rows:,}", f"{expected[rows - 1]:,.{digits}f}", f"{share:.0%}")
    return table


def _table(title: str, first: str, *others: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    table.add_column(first, overflow="fold")
    for heading in others:
        table.add_column(heading, justify="right")
    return table
