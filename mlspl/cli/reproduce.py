"""`mlspl reproduce`: the paper's experiments, resumable."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rich.console import Console

from mlspl._files import OutputFolder
from mlspl._names import split_names
from mlspl._text import printable
from mlspl.cli.options import ForceOption, JobsOption, flag, option
from mlspl.cli.reading import Reading, with_reading
from mlspl.cli.sources import input_files, notes
from mlspl.cli.trials import open_datasets, report_trials
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.datasets import Dataset
    from mlspl.experiments import Trial

_SPLITS, _QUICK_SPLITS = 10, 2


@with_reading()
def reproduce(
    datasets: Annotated[
        str,
        option(
            None, "Data sets or files, separated by commas.", show_default="the paper's and digits-traits"
        ),
    ] = "",
    methods: Annotated[str, option(None, "Methods, with commas between.", show_default="the paper's")] = "",
    splits: Annotated[int | None, option(None, "Number of splits.", show_default=str(_SPLITS), min=1)] = None,
    train: Annotated[str, option(None, "Share of training rows; several are separated by commas.")] = "0.3",
    corrupt: Annotated[
        str, option("KIND:RATE", "Plant noise in training labels: flip:0.2, missing:0.4, swap:0.1.")
    ] = "",
    tune: Annotated[str, option("CRITERION", "Tune all methods by cross-validation.")] = "",
    functions: Annotated[
        str, option(None, "Self-paced functions of the figure, or none.", show_default="the paper's four")
    ] = "",
    jobs: JobsOption = None,
    scheduler: Annotated[str | None, option("ADDRESS", "Dask scheduler: tcp://host:port, or local.")] = None,
    out: Annotated[Path, option(None, "Output folder for results.db, tables and figures.")] = Path("results"),
    quick: Annotated[bool, flag("--quick", "Only embedded data, and two splits.")] = False,
    dry_run: Annotated[bool, flag("--dry-run", "List the trials; run nothing.")] = False,
    force: ForceOption = False,
    *,
    reading: Reading,
) -> None:
    """Run the paper's six methods on its data sets; print our results beside the paper's.

    Results are stored in OUT/results.db. Run the same command again to continue
    a stopped run. The options from --labels on are for files of your own.
    """
    from mlspl import experiments

    console = Console(highlight=False)
    named = split_names(datasets)
    outputs = OutputFolder(out, input_files(*named, reading.labels), force=force)
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

    # In parallel, so that without a network there is one time-out to wait for and not three.
    with ThreadPoolExecutor(len(PAPER_DATASETS)) as pool:
        loading = {name: pool.submit(load_dataset, name, encode=False) for name in PAPER_DATASETS}
    for name, future in loading.items():
        try:
            data[name] = future.result()
        except (UserError, OSError) as error:
            reason = "it could not be downloaded" if isinstance(error.__cause__, OSError) else error
            text = f"Without {name}: {reason}; `mlspl datasets fetch {name}` says more."
            console.print(printable(text), markup=False)
    return data


def _list(trials: list["Trial"], path: Path, console: Console) -> None:
    from mlspl.experiments import Store

    finished: set[str] = set()
    failed: dict[str, str] = {}
    if path.is_file() and path.stat().st_size:
        with notes(), Store(path, create=False) as store:
            finished, failed = store.finished(), store.failed()
    states = Counter[str]()
    for trial in trials:
        state = "done" if trial.key in finished else "failed" if trial.key in failed else "to do"
        states[state] += 1
        settings = " ".join(f"{name}={value}" for name, value in trial.parameters.items())
        words = [f"{state:6}", trial.dataset, trial.method, f"split={trial.split}", f"train={trial.train:g}"]
        words += [f"corrupt={trial.corruption}"] * bool(trial.corruption)
        words += [f"tune={trial.tune}"] * bool(trial.tune)
        console.print(*map(printable, (*words, settings)), markup=False, soft_wrap=True)
    console.print(
        f"{len(trials)} trials: " + ", ".join(f"{count} {state}" for state, count in states.items())
    )
