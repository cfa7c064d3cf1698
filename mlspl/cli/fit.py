"""`mlspl fit`: a model from the user's own file."""

import io
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from mlspl._json import plain
from mlspl._progress import show_progress
from mlspl._text import shown
from mlspl.cli import files, options, output
from mlspl.cli.options import ForceOption, Reading, argument, flag, option, with_reading
from mlspl.errors import UserError

if TYPE_CHECKING:
    from sklearn.pipeline import Pipeline

    from mlspl.datasets import Dataset
    from mlspl.recipes import Recipe

# Probabilities need three more fits on two thirds of the rows each.
_MOST_PAIRS_WITH_PROBABILITIES = 1_000_000
# A log gets the steps of fits on more pairs of rows and labels.
_PAIRS_OF_A_LONG_FIT = 20_000


@with_reading()
def fit(
    data: Annotated[
        str,
        argument(
            "DATA",
            "ARFF, CSV, JSON Lines, Parquet, Excel, svmlight or NumPy file; - is stdin; or a data set name.",
        ),
    ],
    out: Annotated[str, option("FILE", "Model file to write, such as model.skops.", "--out", "-o")] = "",
    *,
    reading: Reading,
    method: options.MethodOption = "mlspl",
    parameters: options.SetOption = None,
    space: options.SpaceOption = None,
    tune: options.TuneOption = "",
    test_size: Annotated[
        float | None,
        option(
            "SHARE",
            "Print scores on this share of held-out rows, such as 0.3. The saved model uses all rows.",
        ),
    ] = None,
    proba: Annotated[
        bool | None,
        option(
            None,
            "Prepare `predict --proba`; takes up to twice as long as the fit.",
            "--proba/--no-proba",
            show_default="yes, up to a million pairs",
        ),
    ] = None,
    dry_run: Annotated[bool, flag("--dry-run", "Show how each column would be used; fit nothing.")] = False,
    seed: options.SeedOption = 0,
    force: ForceOption = False,
) -> None:
    """Fit a model on a file and save it.

    A table shows how each column is used. Missing numbers become the median,
    categories are one-hot encoded, dates become their parts, and features are
    scaled. Unknown labels (? or empty) are left out. The model file contains
    all of these steps and no code.
    """
    if not out and not dry_run:
        raise UserError("name the model file: -o model.skops. Or see what would be done: --dry-run.")
    from mlspl.metrics import get_criterion
    from mlspl.model_selection import protocol_split
    from mlspl.persistence import is_model_file, save_model
    from mlspl.recipes import Recipe, get_method

    if out:
        files.check_target(out, files.input_files(data, reading.labels), force, is_model_file)
    chosen = get_method(method).with_parameters(options.parse_parameters(parameters, space))
    if tune:
        get_criterion(tune)
    if test_size is not None and not 0 < test_size < 1:
        raise UserError(f"--test-size is a share between 0 and 1, such as 0.3; it is {test_size:g}.")
    console = Console(stderr=out == files.STANDARD, highlight=False)
    dataset = files.open_dataset(data, reading)
    schema, table = files.match_columns(dataset, reading)
    recipe = Recipe(chosen, schema, seed)
    n_rows, n_labels = dataset.Y.shape
    split = protocol_split(n_rows, seed, round(1 - test_size, 12)) if test_size else None
    console.print(shown(files.size_of(data, dataset, schema)), soft_wrap=True)
    console.print(files.columns_table(dataset, schema, table))
    if dry_run:
        return
    started = time.perf_counter()
    with output.exit_on_interrupt(
        "nothing was written." if out == files.STANDARD else f"nothing was written to {out}."
    ):
        model, best, scores = _learn(recipe, tune, table, dataset, split, console)
        summary = {
            "data": dataset.name,
            "fingerprint": dataset.fingerprint(),
            "rows": n_rows,
            "features": schema.n_features,
            "labels": n_labels,
            "method": method,
            "parameters": best | getattr(model[-1], "best_params_", {}),
            "criterion": tune or None,
            "seed": seed,
            "test_size": test_size,
            "reading": reading.to_json(dataset),
            "held_out_scores": scores and plain(scores),
            "seconds": round(time.perf_counter() - started, 3),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        if proba is None:
            proba = n_rows * n_labels <= _MOST_PAIRS_WITH_PROBABILITIES
        target = io.BytesIO() if out == files.STANDARD else out
        what = "preparing probabilities" if proba else "packing the model"
        with output.notes(), Console(stderr=True).status(what):
            names = dataset.label_names
            told: dict[str, Any] = {"label_names": names, "schema": schema, "summary": summary}
            save_model(model, target, proba=proba, force=force, **told)
        if isinstance(target, io.BytesIO):
            typer.echo(target.getvalue(), nl=False)
    values = ", ".join(f"{name}={value}" for name, value in best.items())
    how = f", tuned by {tune.replace('_', ' ')}: {values}" if tune and best else ""
    console.print(
        f"{chosen.title} fitted on all {output.counted(n_rows, 'row')}{how}", markup=False, soft_wrap=True
    )
    used = getattr(model[-1], "space_", None) or "gram"
    if not used.startswith("gram"):
        console.print(f"Fitted in a {used}", markup=False, soft_wrap=True)
    if out != files.STANDARD:
        console.print(f"Wrote {shown(out)}", soft_wrap=True)


def _learn(
    recipe: "Recipe", tune: str, table: Any, dataset: "Dataset", split: Any, console: Console
) -> tuple["Pipeline", dict[str, Any], dict[str, float] | None]:
    """Return the model of all rows, its parameters, and the scores of a model without the held-out rows."""
    from mlspl.recipes import scores_and_labels, take_rows

    Y, label_names = dataset.Y, dataset.label_names
    scores = None
    parameters: dict[str, Any] = {}
    try:
        if split is not None:
            train, test = split
            seen = take_rows(table, train)
            parameters = _choose(recipe, tune, seen, Y[train])
            model = _fit(recipe, parameters, seen, Y[train], label_names)
            with output.notes():
                F, P = scores_and_labels(model, take_rows(table, test))
                scores, _ = output.score_rows(Y[test], F, P, label_names)
            console.print(
                f"Scores on {output.counted(len(test), 'held-out row')}, fitted on the other {len(train)}:"
            )
            console.print(output.criteria_table(scores))
        parameters = parameters or _choose(recipe, tune, table, Y)
        return _fit(recipe, parameters, table, Y, label_names), parameters, scores
    except UserError:
        raise
    except (ValueError, RuntimeError) as error:
        # scikit-learn and the solvers raise these for data that they cannot fit.
        raise UserError(f"{recipe.method.title} cannot be fitted on {dataset.name}: {error}") from error


def _choose(recipe: "Recipe", tune: str, table: Any, Y: Any) -> dict[str, Any]:
    """Return the method's own parameters, or those that cross-validation on these rows finds best."""
    from mlspl.recipes import list_settings

    settings = recipe.method.settings(tune)
    if not tune:
        return settings
    with show_progress("settings", len(list_settings(settings)), lines=True) as advance, output.notes():
        return recipe.choose(settings, tune, table, Y, advance)


def _fit(recipe: "Recipe", parameters: dict, table: Any, Y: Any, label_names: list[str]) -> "Pipeline":
    import pandas as pd
    from scipy import sparse

    model = recipe.build(parameters)
    estimator = model[-1]
    labels = Y if sparse.issparse(Y) else pd.DataFrame(Y, columns=label_names)
    shows_progress = "verbose" in estimator.get_params(deep=False)
    if shows_progress:
        large = Y.shape[0] * Y.shape[1] > _PAIRS_OF_A_LONG_FIT
        estimator.set_params(verbose=int(large or Console(stderr=True).is_terminal))
    with output.notes():
        model.fit(table, labels)
    if shows_progress:
        estimator.set_params(verbose=0)
    return model
