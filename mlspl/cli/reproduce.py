"""`mlspl reproduce`: the paper's experiments, resumable."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from mlspl._files import OutputFolder
from mlspl._names import split_names
from mlspl._progress import show_progress
from mlspl._text import printable, shown
from mlspl.cli import files, options, output
from mlspl.cli.options import ForceOption, Reading, flag, option, with_reading
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.datasets import Dataset
    from mlspl.experiments import Outcome, Store, Trial

_SPLITS, _QUICK_SPLITS = 10, 2


@with_reading()
def reproduce(
    datasets: Annotated[
        str,
        option("NAMES", "Data sets or files, separated by commas.", show_default="the paper's and digits"),
    ] = "",
    methods: Annotated[
        str, option("NAMES", "Methods, separated by commas.", show_default="the paper's six")
    ] = "",
    splits: Annotated[int | None, option("N", "Number of splits.", show_default=str(_SPLITS), min=1)] = None,
    train: Annotated[str, option("SHARES", "Shares of training rows, separated by commas.")] = "0.3",
    corrupt: Annotated[
        str, option("KIND:RATE", "Plant noise in training labels: flip:0.2, missing:0.4, swap:0.1.")
    ] = "",
    tune: options.TuneOption = "",
    functions: Annotated[
        str, option("NAMES", "Self-paced functions of the figure, or none.", show_default="the paper's four")
    ] = "",
    jobs: options.JobsOption = None,
    scheduler: options.SchedulerOption = None,
    out: Annotated[Path, option("DIR", "Folder for results.db, tables and figures.")] = Path("results"),
    quick: Annotated[bool, flag("--quick", "Only embedded data, and two splits.")] = False,
    dry_run: Annotated[bool, flag("--dry-run", "List the trials; run nothing.")] = False,
    force: ForceOption = False,
    *,
    reading: Reading,
) -> None:
    """Run the paper's six methods on its data sets; print our results beside the paper's.

    Results are stored in OUT/results.db. Run the same command again to continue
    a stopped run. How a file is read matters only for files of your own.
    """
    from mlspl import experiments

    console = Console(highlight=False, soft_wrap=True)
    named = split_names(datasets)
    outputs = OutputFolder(out, files.input_files(*named, reading.labels), force=force)
    if not dry_run:
        outputs.check(experiments.RESULT_FILES)
    chosen = split_names(methods) or list(experiments.PAPER_METHODS)
    paced = [] if functions == "none" or experiments.PUBLISHED not in chosen else split_names(functions)
    if not functions and experiments.PUBLISHED in chosen:
        paced = list(experiments.PAPER_FUNCTIONS)
    try:
        shares = [float(text) for text in split_names(train)]
    except ValueError:
        raise UserError(f"--train takes shares such as 0.3 or 0.3,0.5; {train!r} is no number.") from None
    data = _load(named, reading, quick, console)
    trials = experiments.plan_trials(
        data,
        chosen,
        splits=splits or (_QUICK_SPLITS if quick else _SPLITS),
        train=shares,
        corruption=corrupt,
        tune=tune,
        functions=paced,
    )
    if dry_run:
        _list(trials, out / "results.db", console)
        return
    report_trials(trials, data, outputs, console, jobs=jobs, scheduler=scheduler, functions=paced)


def _load(names: list[str], reading: Reading, quick: bool, console: Console) -> dict[str, "Dataset"]:
    """Load the data sets that the user named, or those of the default list that are available."""
    from mlspl.datasets import EMBEDDED, load_dataset
    from mlspl.experiments import PAPER_DATASETS

    if names or reading != Reading():
        return open_datasets(names, reading)
    data = {EMBEDDED: load_dataset(EMBEDDED, encode=False)}
    if quick:
        return data

    for name in PAPER_DATASETS:
        try:
            data[name] = load_dataset(name, encode=False)
        except (UserError, OSError) as error:
            reason = "it could not be downloaded" if isinstance(error.__cause__, OSError) else error
            text = f"Without {name}: {reason}; `mlspl datasets fetch {name}` says more."
            console.print(printable(text), markup=False)
    return data


def _list(trials: list["Trial"], path: Path, console: Console) -> None:
    from mlspl.experiments import Store

    finished: set[str] = set()
    if path.is_file() and path.stat().st_size:
        with output.notes(), Store(path, create=False) as store:
            finished = store.finished()
    for trial in trials:
        state = "done" if trial.key in finished else "to do"
        what = {"split": trial.split, "train": trial.train, "corrupt": trial.corruption, "tune": trial.tune}
        settings = [
            f"{name}={value}" for name, value in (what | dict(trial.parameters)).items() if value != ""
        ]
        console.print(
            printable(f"{state:6} {trial.dataset} {trial.method} {' '.join(settings)}"), markup=False
        )
    done = sum(trial.key in finished for trial in trials)
    console.print(f"{len(trials)} trials: {done} done, {len(trials) - done} to do")


def open_datasets(sources: Sequence[str], reading: Reading) -> dict[str, "Dataset"]:
    """Open data sets and files and return them by name; the reading options apply to the files."""
    from mlspl.datasets import list_datasets

    known = list_datasets()
    data = {}
    for source in sources:
        if source in known:
            data[source] = files.open_dataset(source, Reading())
            continue
        dataset = files.open_dataset(source, reading)
        schema, _ = files.match_columns(dataset, reading)
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
    """Run the trials that results.db does not have; print and write their results."""
    from mlspl import experiments

    path = outputs.folder / "results.db"
    outputs.folder.mkdir(parents=True, exist_ok=True)
    with output.notes():
        store = experiments.Store(path)
    with store:
        _run(trials, data, store, jobs, scheduler, console)
        command = shlex.join(["mlspl", *sys.argv[1:]])
        results = experiments.write_results(store, trials, outputs, functions, data, command, criteria)
        failed = store.failed()
    for table in (
        *experiments.text_tables(results.summary, console.width),
        *experiments.text_tests(results.comparisons, criteria, console.width),
    ):
        console.print(table, markup=False)
    errors = [(trial, failed[trial.key]) for trial in trials if trial.key in failed]
    for trial, error in errors[:1]:
        console.print(
            f"{output.counted(len(errors), 'trial')} failed. Run the same command again to retry. The report "
            "lists all errors. The first:",
            style="bold red",
        )
        text = f"{trial.method} on split {trial.split} of {trial.dataset}: {error}"
        console.print(f"  {printable(text)}", markup=False)
    console.print(f"Results: {shown(str(path))}")
    for file in results.files:
        console.print(f"  {shown(str(file))}")
    if errors:
        raise typer.Exit(1)


def _run(trials, data, store: "Store", jobs, scheduler, console: Console) -> None:
    from mlspl.experiments import run_trials

    done = len(store.finished() & {trial.key for trial in trials})
    if done:
        console.print(f"{done} of {len(trials)} trials were done before.")
    failed = 0
    with (
        output.exit_on_interrupt("finished trials are stored. Run the same command again to continue."),
        show_progress("trials", len(trials), done=done, lines=True, console=console) as advance,
    ):

        def report(trial: "Trial", outcome: "Outcome | None") -> None:
            nonlocal failed
            failed += outcome is not None and outcome.error is not None
            advance(f"{failed} failed, {trial.dataset} {trial.method} {trial.split}")

        run_trials(trials, data, store, jobs, scheduler, report)
