"""`mlspl fit`: a model from the user's own file."""

import time
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mlspl._files import replacing
from mlspl._progress import show_progress
from mlspl._text import shown
from mlspl.cli.names import CRITERION_NAMES, METHOD_NAMES
from mlspl.cli.reading import Reading, note_columns, open_dataset, with_reading
from mlspl.cli.scores import criteria_table, plain, score_rows
from mlspl.cli.sources import STANDARD, check_target, counted, file_name, note, notes
from mlspl.cli.waiting import PATIENCE, about, keep_on_interrupt, probe_rows, show_waiting
from mlspl.errors import UserError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from mlspl.datasets import Dataset
    from mlspl.recipes import Recipe, Schema

__all__ = ["fit"]


@with_reading()
def fit(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="Your file: ARFF, CSV, JSON Lines, Parquet, svmlight, NumPy; - for stdin; or a known name.",
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", metavar="FILE", help="The model file, such as model.skops.")
    ],
    reading: Reading,
    method: Annotated[
        str, typer.Option(help=f"One of {', '.join(METHOD_NAMES)}; a + behind it has the decision tuned too.")
    ] = "mlspl",
    tune: Annotated[
        str,
        typer.Option(
            metavar="CRITERION",
            help=f"Choose the parameters by cross-validation of one of {', '.join(CRITERION_NAMES)}.",
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
    proba: Annotated[
        bool,
        typer.Option("--proba", help="Prepare probabilities for `predict --proba`; may take as long again."),
    ] = False,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of everything random.", min=0, max=2**32 - 1)
    ] = 0,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Dask scheduler, tcp://host:port or local, for one large fit: blocks of labels where there "
            "is no kernel matrix, and the folds of mlspl-cv.",
        ),
    ] = None,
) -> None:
    """Learn the labels of a file and save the model.

    Missing numbers are filled with the median and categories one-hot encoded,
    a missing one as a category of its own; dates become their parts; everything
    is scaled. Unknown labels (? or empty) are left out. All of it is in the
    model file, which is safe to share.
    """
    check_target(out, data, reading.labels)
    from mlspl.metrics import get_criterion
    from mlspl.model_selection import protocol_split
    from mlspl.recipes import Recipe, Schema, get_method

    chosen = get_method(method)
    if tune:
        get_criterion(tune)
    if test_size is not None and not 0 < test_size < 1:
        raise UserError(f"--test-size is a share between 0 and 1, such as 0.3; it is {test_size:g}.")
    console = Console(stderr=out == STANDARD, highlight=False)
    dataset = open_dataset(data, reading)
    recipe = Recipe(chosen, Schema.from_dataset(dataset, text=reading.text), seed)
    table, _ = recipe.schema.match(dataset)
    note_columns(dataset, recipe.schema, table)
    n_features = recipe.schema.n_features
    n_rows, n_labels = dataset.Y.shape
    split = protocol_split(n_rows, seed, round(1 - test_size, 12)) if test_size else None
    size = ", ".join(map(counted, (n_rows, n_features, n_labels), ("row", "feature", "label")))
    console.print(f"{shown(file_name(data))}: {size}", soft_wrap=True)

    started = time.perf_counter()
    kept = "nothing was written." if out == STANDARD else f"nothing was written to {out}."
    with keep_on_interrupt(kept):
        model, parameters, scores = _learn_or_explain(recipe, tune, table, dataset, split, console, scheduler)
    summary = {
        "data": dataset.name,
        "fingerprint": dataset.fingerprint(),
        "rows": n_rows,
        "features": n_features,
        "labels": n_labels,
        "method": method,
        "parameters": parameters | getattr(model[-1], "best_params_", {}),
        "criterion": tune or None,
        "seed": seed,
        "test_size": test_size,
        "reading": reading.to_json(dataset),
        "held_out_scores": scores and plain(scores),
        "seconds": round(time.perf_counter() - started, 3),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    with keep_on_interrupt(kept):
        _write(model, out, dataset, recipe.schema, summary, proba)
    how = f", tuned by {tune.replace('_', ' ')}: {_spelled(parameters)}" if tune and parameters else ""
    console.print(f"{chosen.title} fitted on all {counted(n_rows, 'row')}{how}", markup=False, soft_wrap=True)
    space = getattr(model[-1], "space_", None) or "gram"
    if not space.startswith("gram"):
        console.print(f"In a {space}", markup=False, soft_wrap=True)
    if out != STANDARD:
        console.print(f"Wrote {shown(out)}", soft_wrap=True)


def _foretell(recipe: "Recipe", tune: str, table: Any, dataset: "Dataset", split: Any) -> float:
    """About how many seconds a fit on all rows takes; said if all fits together take long.

    Measured on samples of the rows with the method's own parameters; 0 where it is short.
    """
    import numpy as np

    from mlspl.recipes import TUNING_FOLDS, list_settings, take_rows

    n_rows = dataset.Y.shape[0]
    order = np.random.default_rng(recipe.seed).permutation(n_rows)
    parameters = recipe.method.settings("")

    def fit_sample(size: int) -> None:
        rows = np.sort(order[:size])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = recipe.build(parameters)
            _settle_space(model[-1], table, dataset.Y.shape[1])
            model.fit(take_rows(table, rows), dataset.Y[rows])
        if getattr(model[-1], "stop_reason_", "") == "interrupted":
            raise KeyboardInterrupt

    n_settings = len(list_settings(recipe.method.settings(tune))) if tune else 1
    n_fits = 1 + (split is not None) + TUNING_FOLDS * n_settings * (n_settings > 1)
    try:
        probe = probe_rows(fit_sample, n_rows, n_fits)
    except Exception:
        return 0.0  # a sample may be too small; what else is wrong, the fit itself will tell
    if probe is None:
        return 0.0
    n_seen = n_rows if split is None else len(split[0])
    total = probe.foretell(n_rows) + (split is not None) * probe.foretell(n_seen)
    if n_settings > 1:
        total += n_settings * TUNING_FOLDS * probe.foretell(n_seen * (1 - 1 / TUNING_FOLDS))
    if total > PATIENCE:
        note(f"this takes about {about(total)}, as fits on up to {probe.rows} rows foretell.")
    return probe.foretell(n_rows)


def _settle_space(estimator: Any, table: Any, n_labels: int) -> None:
    """Have samples fitted in the space of all rows: a kernel matrix, which small ones have, grows faster."""
    from scipy import sparse

    from mlspl._limits import FitSize
    from mlspl.spaces import Gram, choose_space

    if getattr(estimator, "space", None) != "auto":
        return
    n_rows, n_features = table.shape
    values = table.nnz if sparse.issparse(table) else n_rows * n_features
    gram = Gram(getattr(estimator, "kernel", "rbf"), solver=getattr(estimator, "solver", "auto"))
    size = FitSize(n_rows, n_features, n_labels, values, 0)
    space = choose_space("auto", estimator.loss, size, gram).space
    estimator.set_params(space=type(space).__name__.lower())


def _learn_or_explain(
    recipe: "Recipe",
    tune: str,
    table: Any,
    dataset: "Dataset",
    split: Any,
    console: Console,
    scheduler: str | None,
) -> tuple["Pipeline", dict[str, Any], dict[str, float] | None]:
    try:
        if scheduler is None:
            seconds = _foretell(recipe, tune, table, dataset, split)
            return _learn(recipe, tune, table, dataset, split, console, seconds)
        from joblib import cpu_count

        from mlspl._cluster import open_cluster
        from mlspl._spread import on_cluster

        with open_cluster(scheduler, cpu_count()) as client, on_cluster(client):
            return _learn(recipe, tune, table, dataset, split, console, 0.0)
    except UserError:
        raise
    except (ValueError, RuntimeError) as error:
        # scikit-learn and the solvers say with these what they cannot learn from.
        raise UserError(f"{recipe.method.title} cannot be fitted on {dataset.name}: {error}") from error


def _learn(
    recipe: "Recipe", tune: str, table: Any, dataset: "Dataset", split: Any, console: Console, seconds: float
) -> tuple["Pipeline", dict[str, Any], dict[str, float] | None]:
    """The model of all rows, its parameters, and what a model without the held-out rows scores on them."""
    from mlspl.recipes import take_rows

    Y, label_names = dataset.Y, dataset.label_names
    scores = None
    parameters: dict[str, Any] = {}
    if split is not None:
        train, test = split
        seen, unseen = take_rows(table, train), take_rows(table, test)
        parameters = _choose(recipe, tune, seen, Y[train], seconds)
        model = _fit(recipe, parameters, seen, Y[train], label_names, seconds)
        with notes():
            F, P = model.decision_function(unseen), model.predict(unseen)
            scores, _ = score_rows(Y[test], F, P, label_names)
        console.print(f"On {counted(len(test), 'row')} held out, learnt from the other {len(train)}:")
        console.print(criteria_table(scores))
    parameters = parameters or _choose(recipe, tune, table, Y, seconds)
    return _fit(recipe, parameters, table, Y, label_names, seconds), parameters, scores


def _choose(recipe: "Recipe", tune: str, table: Any, Y: Any, seconds: float) -> dict[str, Any]:
    """The method's own parameters, or those that cross-validation on these rows finds best."""
    from mlspl.recipes import list_settings

    settings = recipe.method.settings(tune)
    if not tune:
        return settings
    n_settings = len(list_settings(settings))
    with show_progress("settings", n_settings, lines=n_settings * seconds > PATIENCE) as advance, notes():
        return recipe.choose(settings, tune, table, Y, advance)


def _fit(
    recipe: "Recipe", parameters: dict, table: Any, Y: Any, label_names: list[str], seconds: float
) -> "Pipeline":
    import pandas as pd
    from scipy import sparse

    model = recipe.build(parameters)
    estimator = model[-1]
    labels = Y if sparse.issparse(Y) else pd.DataFrame(Y, columns=label_names)
    if "verbose" not in estimator.get_params(deep=False):
        with notes(), show_waiting("fitting", seconds):
            return model.fit(table, labels)
    estimator.set_params(verbose=int(seconds > PATIENCE or Console(stderr=True).is_terminal))
    with notes():
        model.fit(table, labels)
    estimator.set_params(verbose=0)
    return model


def _write(
    model: "Pipeline", out: str, dataset: "Dataset", schema: "Schema", summary: dict[str, Any], proba: bool
) -> None:
    from mlspl.persistence import model_bytes

    with notes(), show_waiting("preparing probabilities" if proba else "packing the model"):
        data = model_bytes(
            model, label_names=dataset.label_names, schema=schema, summary=summary, proba=proba
        )
    if out == STANDARD:
        typer.echo(data, nl=False)
        return
    with replacing(Path(out), "wb") as stream:
        stream.write(data)


def _spelled(parameters: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in parameters.items())
