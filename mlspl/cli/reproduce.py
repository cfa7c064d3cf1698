"""`mlspl reproduce`: the paper's experiments, resumable."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from mlspl._names import split_names
from mlspl._text import printable
from mlspl.cli.reading import Reading, with_reading
from mlspl.cli.sources import check_folder, notes
from mlspl.cli.trials import open_datasets, report_trials
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.datasets import Dataset
    from mlspl.experiments import Trial

__all__ = ["reproduce"]

_SPLITS, _QUICK_SPLITS = 10, 2


@with_reading()
def reproduce(
    datasets: Annotated[
        str,
        typer.Option(
            help="Data sets, or files of your own, by commas.",
            show_default="digits-traits and the paper's three",
        ),
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
    *,
    reading: Reading,
) -> None:
    """Run six methods on the paper's data sets; print its tables and ours.

    Results are kept in OUT/results.db: the same command goes on where an earlier one stopped.
    Of files of your own, --labels and the options behind it say how to read them.
    """
    from mlspl import experiments

    console = Console(highlight=False)
    check_folder(out)
    chosen = split_names(methods) or list(experiments.PAPER_METHODS)
    paced = [] if functions == "none" or experiments.PUBLISHED not in chosen else split_names(functions)
    if not functions and experiments.PUBLISHED in chosen:
        paced = list(experiments.PAPER_FUNCTIONS)
    data = _load(split_names(datasets), reading, quick, console)
    trials = experiments.plan_trials(
        data,
        chosen,
        splits=splits or (_QUICK_SPLITS if quick else _SPLITS),
        train=[_share(text) for text in split_names(train)],
        corruption=corrupt,
        tune=tune,
        functions=paced,
    )
    if dry_run:
        _list(trials, out / "results.db", console)
        return
    report_trials(trials, data, out, console, jobs=jobs, scheduler=scheduler, functions=paced)


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"--train takes shares such as 0.3 or 0.3,0.5; {text!r} is no number.") from None


def _load(names: list[str], reading: Reading, quick: bool, console: Console) -> dict[str, "Dataset"]:
    """Load the sets the user named, or those of the default list that can be had."""
    from mlspl.datasets import EMBEDDED, load_dataset
    from mlspl.experiments import PAPER_DATASETS

    if names or reading != Reading.of():
        return open_datasets(names, reading)
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
