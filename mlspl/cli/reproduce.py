"""`mlspl reproduce`: the paper's experiments, resumable."""

import shlex
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from mlspl._progress import show_progress
from mlspl._text import printable, shown
from mlspl.cli.sources import notes
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.datasets import Dataset
    from mlspl.experiments import Outcome, Store, Trial

__all__ = ["reproduce"]

_SPLITS, _QUICK_SPLITS = 10, 2
_MOST_ERRORS = 5


def reproduce(
    datasets: Annotated[
        str,
        typer.Option(help="Data sets, by commas.", show_default="digits-traits and the paper's three"),
    ] = "",
    methods: Annotated[str, typer.Option(help="Methods, by commas.", show_default="the paper's six")] = "",
    splits: Annotated[
        int | None, typer.Option(help="Random splits.", show_default=str(_SPLITS), min=1)
    ] = None,
    train: Annotated[str, typer.Option(help="Share of training rows, or several by commas.")] = "0.3",
    corrupt: Annotated[
        str,
        typer.Option(help="Corrupt training labels: flip:0.2, missing:0.4, swap:0.1.", metavar="KIND:RATE"),
    ] = "",
    tune: Annotated[
        str,
        typer.Option(help="Tune all methods by cross-validation of this criterion.", metavar="CRITERION"),
    ] = "",
    functions: Annotated[
        str,
        typer.Option(
            help="Self-paced functions of the figure, by commas; or none.", show_default="the paper's"
        ),
    ] = "",
    jobs: Annotated[int | None, typer.Option(help="Processes.", show_default="all cores", min=1)] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Dask scheduler: tcp://host:port, or local.", metavar="ADDRESS")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for results.db, tables and figures.")] = Path("results"),
    quick: Annotated[bool, typer.Option("--quick", help="Embedded data, few splits.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="List the trials and run none.")] = False,
) -> None:
    """Run six methods on the paper's data sets; print its tables and ours.

    Results are kept in OUT/results.db: the same command goes on where an earlier one stopped.
    """
    from mlspl import experiments

    console = Console(highlight=False)
    chosen = _names(methods) or list(experiments.PAPER_METHODS)
    paced = [] if functions == "none" or experiments.PUBLISHED not in chosen else _names(functions)
    if not functions and experiments.PUBLISHED in chosen:
        paced = list(experiments.PAPER_FUNCTIONS)
    data = _load(_names(datasets), quick, console)
    trials = experiments.plan_trials(
        data,
        chosen,
        splits=splits or (_QUICK_SPLITS if quick else _SPLITS),
        train=[_share(text) for text in _names(train)],
        corruption=corrupt,
        tune=tune,
        functions=paced,
    )
    path = out / "results.db"
    if dry_run:
        _list(trials, path, console)
        return
    out.mkdir(parents=True, exist_ok=True)
    with notes():
        store = experiments.Store(path)
    with store:
        _run(trials, data, store, jobs, scheduler, console)
        results = experiments.write_results(store, trials, out, paced)
        command = shlex.join(["mlspl", *sys.argv[1:]])
        report = experiments.write_report(store, out / "report.html", trials, data, command)
        failed = store.failed()
    for table in (
        *experiments.rich_tables(results.summary, console.width),
        experiments.ranks_table(results.comparisons),
        experiments.wins_table(results.comparisons),
    ):
        if table is not None:
            console.print(table)
    errors = [(trial, failed[trial.key]) for trial in trials if trial.key in failed]
    _report_errors(errors, console)
    console.print(f"Results: {shown(str(path))}", soft_wrap=True)
    for file in (*results.files, report):
        console.print(f"  {shown(str(file))}", soft_wrap=True)
    if errors:
        raise typer.Exit(1)


def _names(text: str) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"--train takes shares such as 0.3 or 0.3,0.5; {text!r} is no number.") from None


def _load(names: list[str], quick: bool, console: Console) -> dict[str, "Dataset"]:
    """Load the sets the user named, or those of the default list that can be had."""
    from mlspl.datasets import EMBEDDED, load_dataset
    from mlspl.experiments import PAPER_DATASETS

    if names:
        return {name: load_dataset(name, encode=False) for name in names}
    data = {EMBEDDED: load_dataset(EMBEDDED, encode=False)}
    if quick:
        return data

    def load_or_explain(name: str) -> "Dataset | Exception":
        try:
            return load_dataset(name, encode=False)
        except (UserError, OSError) as error:
            return error

    # Side by side, so that without a network one waits for one time-out and not for three.
    names = list(PAPER_DATASETS)
    with ThreadPoolExecutor(len(names)) as pool:
        for name, loaded in zip(names, pool.map(load_or_explain, names), strict=True):
            if isinstance(loaded, Exception):
                reason = "it could not be downloaded" if isinstance(loaded.__cause__, OSError) else loaded
                text = f"Without {name}: {reason}; `mlspl datasets fetch {name}` says more."
                console.print(printable(text), markup=False)
            else:
                data[name] = loaded
    return data


def _list(trials: list["Trial"], path: Path, console: Console) -> None:
    from mlspl.experiments import Store

    finished: set[str] = set()
    failed: dict[str, str] = {}
    if path.exists():
        with notes(), Store(path, create=False) as store:
            finished, failed = store.finished(), store.failed()
    states = Counter[str]()
    for trial in trials:
        state = "done" if trial.key in finished else "failed" if trial.key in failed else "to do"
        states[state] += 1
        settings = " ".join(f"{name}={value}" for name, value in trial.parameters.items())
        words = [f"{state:6}", trial.dataset, trial.method, f"split={trial.split}", f"train={trial.train:g}"]
        words += [f"corrupt={trial.corruption}"] * bool(trial.corruption) + [f"tune={trial.tune}"] * bool(
            trial.tune
        )
        console.print(*map(printable, (*words, settings)), markup=False, soft_wrap=True)
    console.print(
        f"{len(trials)} trials: " + ", ".join(f"{count} {state}" for state, count in states.items())
    )


def _run(trials, data, store: "Store", jobs, scheduler, console: Console) -> None:
    from mlspl.experiments import run_trials

    finished = store.finished()
    done = sum(trial.key in finished for trial in trials)
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
        finished = store.finished()
        done = sum(trial.key in finished for trial in trials)
        console.print(
            f"Stopped with {done} of {len(trials)} trials done; the same command goes on from there.",
            markup=False,
        )
        raise typer.Exit(130) from None


def _report_errors(errors: list[tuple["Trial", str]], console: Console) -> None:
    if not errors:
        return
    count = "1 trial failed; the same command tries it again:"
    if len(errors) > 1:
        count = f"{len(errors)} trials failed; the same command tries them again:"
    console.print(count, style="bold red")
    for trial, error in errors[:_MOST_ERRORS]:
        text = f"{trial.method} on split {trial.split} of {trial.dataset}: {error}"
        console.print(f"  {printable(text)}", markup=False)
    if len(errors) > _MOST_ERRORS:
        console.print(f"  and {len(errors) - _MOST_ERRORS} more, in the store's column `error`")
