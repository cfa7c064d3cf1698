"""Running the trials of a command with a progress bar, and printing and writing their results."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from mlspl._files import OutputFolder
from mlspl._progress import show_progress
from mlspl._text import printable, shown
from mlspl.cli.reading import Reading, match_columns, open_dataset
from mlspl.cli.sources import counted, notes
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.datasets import Dataset
    from mlspl.experiments import Outcome, Store, Trial

_MOST_ERRORS = 5


def open_datasets(sources: Sequence[str], reading: Reading) -> dict[str, "Dataset"]:
    """Open data sets and files and return them by name; the reading options apply to the files."""
    from mlspl.datasets import list_datasets

    known = list_datasets()
    data = {}
    for source in sources:
        if source in known:
            data[source] = open_dataset(source, Reading())
            continue
        dataset = open_dataset(source, reading)
        schema, _ = match_columns(dataset, reading)
        # Trials learn from all text.
        unread = [name for name in schema.dropped if dataset.kind(name) == "text"]
        if dataset.name in data:
            raise UserError(f"two data sets are called {dataset.name}. Give one of them another name.")
        data[dataset.name] = dataset.without(unread)
    if reading != Reading() and not set(sources) - set(known):
        raise UserError("--labels and the like say how to read a file, and no file is named.")
    return data


def report_trials(
    trials: Sequence["Trial"],
    data: Mapping[str, "Dataset"],
    outputs: OutputFolder,
    console: Console,
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    functions: Sequence[str] = (),
    criteria: Sequence[str] = (),
) -> None:
    """Run the trials that results.db does not have; print and write their results.

    Every pair of methods is printed for each of the `criteria`.
    """
    from mlspl import experiments

    path = outputs.folder / "results.db"
    outputs.folder.mkdir(parents=True, exist_ok=True)
    with notes():
        store = experiments.Store(path)
    with store:
        _run(trials, data, store, jobs, scheduler, console)
        command = shlex.join(["mlspl", *sys.argv[1:]])
        results = experiments.write_results(store, trials, outputs, functions, data, command, criteria)
        failed = store.failed()
    for table in (
        *experiments.rich_tables(results.summary, console.width),
        *experiments.rich_tests(results.comparisons, criteria, console.width),
    ):
        console.print(table)
    errors = [(trial, failed[trial.key]) for trial in trials if trial.key in failed]
    if errors:
        count = f"{counted(len(errors), 'trial')} failed. Run the same command again to retry:"
        console.print(count, style="bold red")
    for trial, error in errors[:_MOST_ERRORS]:
        text = f"{trial.method} on split {trial.split} of {trial.dataset}: {error}"
        console.print(f"  {printable(text)}", markup=False)
    if len(errors) > _MOST_ERRORS:
        console.print(f"  and {len(errors) - _MOST_ERRORS} more, in the store's column `error`")
    console.print(f"Results: {shown(str(path))}", soft_wrap=True)
    for file in results.files:
        console.print(f"  {shown(str(file))}", soft_wrap=True)
    if errors:
        raise typer.Exit(1)


def _run(trials, data, store: "Store", jobs, scheduler, console: Console) -> None:
    from mlspl.experiments import run_trials

    done = len(store.finished() & {trial.key for trial in trials})
    if done:
        console.print(f"{done} of {len(trials)} trials were done before.")
    failed = 0
    try:
        with show_progress("trials", len(trials), done=done, lines=True, console=console) as advance:

            def report(trial: "Trial", outcome: "Outcome | None") -> None:
                nonlocal failed
                failed += outcome is not None and outcome.failed
                advance(f"{failed} failed, {trial.dataset} {trial.method} {trial.split}")

            run_trials(trials, data, store, jobs, scheduler, report)
    except KeyboardInterrupt:
        done = len(store.finished() & {trial.key for trial in trials})
        console.print(
            f"Stopped with {done} of {len(trials)} trials done. Run the same command again to continue.",
            markup=False,
        )
        raise typer.Exit(130) from None
