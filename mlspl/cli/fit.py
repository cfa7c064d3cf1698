"""`mlspl fit`: a model from the user's own file."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from scipy import sparse
from sklearn.pipeline import Pipeline

from mlspl._files import replacing
from mlspl._text import shown
from mlspl.cli.datasets import LabelsOption, open_dataset
from mlspl.cli.scores import criteria_table, plain, score_rows
from mlspl.cli.sources import STANDARD, check_target, counted, file_name, note, notes
from mlspl.datasets import Dataset
from mlspl.errors import UserError, listed
from mlspl.experiments import OWN_DATA
from mlspl.experiments.methods import Method, candidates
from mlspl.experiments.tuning import choose_parameters
from mlspl.metrics import CRITERIA, get_criterion
from mlspl.model_selection import protocol_split
from mlspl.models.preprocessing import as_table, categories, counters, identifiers, preprocessed
from mlspl.persistence.model_file import model_bytes

__all__ = ["fit"]


def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Your file: ARFF, CSV, Parquet, svmlight; - for standard input; or a known name.",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The model file, such as model.skops.")
    ],
    labels: LabelsOption = None,
    method: Annotated[str, typer.Option(help=f"One of {', '.join(OWN_DATA)}.")] = "mlspl",
    tune: Annotated[
        str,
        typer.Option(
            metavar="CRITERION",
            help=f"Choose the parameters by cross-validation of one of {', '.join(CRITERIA)}.",
        ),
    ] = "",
    test_size: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="First hold out this share of the rows, and print the scores on them of a model that did "
            "not see them. The model that is saved is then fitted on all rows, with the same parameters.",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of everything random.", min=0, max=2**32 - 1)
    ] = 0,
) -> None:
    """Learn the labels of a file and save the model.

    Missing numbers are filled with the median and categories one-hot encoded,
    a missing one as a category of its own; everything is scaled. Unknown
    labels (? or empty) are left out. All of it is in the model file, which is
    safe to share.
    """
    check_target(out, data, labels)
    if method not in OWN_DATA:
        raise UserError(f"There is no method {method!r}: choose out of {', '.join(OWN_DATA)}.")
    chosen_method = OWN_DATA[method]
    if tune:
        get_criterion(tune)
    if test_size is not None and not 0 < test_size < 1:
        raise UserError(f"--test-size is a share between 0 and 1, such as 0.3; it is {test_size:g}.")
    console = Console(stderr=out == STANDARD, highlight=False)
    dataset = open_dataset(data, labels, encode=False)
    table, names = as_table(dataset)
    if left_out := identifiers(table):
        table = table.drop(columns=left_out)
        names = list(table.columns)
        note(f"text that differs from row to row is left out of the features: {listed(left_out)}.")
    if counting := counters(table):
        note(f"numbers that count the rows are learnt from: {listed(counting)}. Take out what is an id.")
    if not names:
        raise UserError(f"{data}: no features are left to learn from.")
    n_rows, n_labels = dataset.Y.shape
    split = protocol_split(n_rows, seed, round(1 - test_size, 12)) if test_size else None
    size = ", ".join(map(counted, (n_rows, len(names), n_labels), ("row", "feature", "label")))
    console.print(f"{shown(file_name(data))}: {size}", soft_wrap=True)

    started = time.perf_counter()
    try:
        model, parameters, scores = _learn(chosen_method, tune, table, dataset, seed, split, console)
    except (ValueError, RuntimeError) as error:
        if isinstance(error, UserError):
            raise
        # scikit-learn and the solvers say with these what they cannot learn from.
        raise UserError(f"{chosen_method.title} cannot be fitted on {file_name(data)}: {error}") from error
    summary = {
        "data": dataset.name,
        "fingerprint": dataset.fingerprint(),
        "rows": n_rows,
        "features": len(names),
        "labels": n_labels,
        "sparse": sparse.issparse(table),
        "method": method,
        "parameters": parameters | getattr(model[-1], "best_params_", {}),
        "criterion": tune or None,
        "seed": seed,
        "test_size": test_size,
        "held_out_scores": scores and plain(scores),
        "seconds": round(time.perf_counter() - started, 3),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    _write(model, out, dataset, names, table, summary)
    how = f", tuned by {tune.replace('_', ' ')}: {_spelled(parameters)}" if tune and parameters else ""
    console.print(f"{chosen_method.title} fitted on all {n_rows} rows{how}", markup=False, soft_wrap=True)
    if out != STANDARD:
        console.print(f"Wrote {shown(out)}", soft_wrap=True)


def _learn(
    method: Method, tune: str, table: Any, dataset: Dataset, seed: int, split: Any, console: Console
) -> tuple[Pipeline, dict[str, Any], dict[str, float] | None]:
    """The model of all rows, its parameters, and what a model without the held-out rows scores on them."""
    scores = None
    parameters: dict[str, Any] = {}
    if split is not None:
        train, test = split
        seen, unseen = _rows(table, train), _rows(table, test)
        parameters = _choose(method, tune, seen, dataset.Y[train], seed)
        model = _fit(method, parameters, seen, dataset.Y[train], dataset.label_names, seed)
        with notes():
            F, P = model.decision_function(unseen), model.predict(unseen)
            scores, _ = score_rows(dataset.Y[test], F, P, dataset.label_names)
        console.print(f"On {counted(len(test), 'row')} held out, learnt from the other {len(train)}:")
        console.print(criteria_table(scores))
    parameters = parameters or _choose(method, tune, table, dataset.Y, seed)
    return _fit(method, parameters, table, dataset.Y, dataset.label_names, seed), parameters, scores


def _rows(table: Any, rows: Any) -> Any:
    return table[rows] if sparse.issparse(table) else table.iloc[rows]


def _choose(method: Method, tune: str, table: Any, Y: Any, seed: int) -> dict[str, Any]:
    """The method's own parameters, or those that cross-validation on these rows finds best."""
    settings = method.settings(tune)
    if not tune:
        return settings
    with _bar("tuning", len(candidates(settings))) as advance, notes():
        return choose_parameters(
            method, settings, tune, table, Y, seed, build=lambda one: preprocessed(one, table), report=advance
        )


def _fit(method: Method, parameters: dict, table: Any, Y: Any, label_names: list[str], seed: int) -> Pipeline:
    estimator = method.make(parameters, seed)
    paced = "verbose" in estimator.get_params(deep=False)
    error = Console(stderr=True)
    if paced:
        estimator.set_params(verbose=int(error.is_terminal))
    model = preprocessed(estimator, table)
    with notes(), _status("" if paced else "fitting"):
        model.fit(table, pd.DataFrame(Y, columns=label_names))
    if paced:
        estimator.set_params(verbose=0)
    return model


def _write(model: Pipeline, out: str, dataset: Dataset, names: list[str], table: Any, summary: dict) -> None:
    with notes(), _status("preparing probabilities"):
        data = model_bytes(
            model,
            label_names=dataset.label_names,
            feature_names=names,
            nominal=categories(table),
            summary=summary,
        )
    if out == STANDARD:
        typer.echo(data, nl=False)
        return
    with replacing(Path(out), "wb") as stream:
        stream.write(data)


def _spelled(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())


@contextmanager
def _status(text: str) -> Iterator[None]:
    """A spinner on standard error, on a terminal."""
    error = Console(stderr=True)
    if not text or not error.is_terminal:
        yield
        return
    with error.status(text):
        yield


@contextmanager
def _bar(what: str, total: int) -> Iterator[Any]:
    """A bar on standard error, on a terminal; yields what advances it."""
    error = Console(stderr=True)
    bar = Progress(
        TextColumn(what),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=error,
        disable=not error.is_terminal,
    )
    with bar:
        task = bar.add_task(what, total=total)
        yield lambda: bar.advance(task)
