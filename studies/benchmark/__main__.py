"""Run the benchmark: ``python -m studies.benchmark FOLDER``; what is finished is not run again.

The folder has the store of this machine's trials. They go on from the results file of the repository, and
are added to it when the run ends, is interrupted or has run for ``--minutes``.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import pandas as pd

from mlspl._progress import show_progress
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments import Store, Trial, run_trials
from studies.benchmark.declaration import (
    CONDITIONS,
    ENTRIES,
    QUICK,
    REAL,
    SECONDS,
    SETS,
    SPLITS,
    Sample,
    list_trials,
    load_real,
    load_set,
    name_of_split,
)
from studies.benchmark.page import RESULTS, write_page
from studies.limits import run_limited
from studies.results import export, join_results, load_into, read_results, write_results


def main(arguments: Sequence[str]) -> None:
    """Run what the arguments ask for."""
    options = _parse(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    results = options.folder / RESULTS.name if options.quick else options.results
    splits = 2 if options.quick else max(SPLITS.values())
    datasets = _load(QUICK if options.quick else SETS, options)
    methods = {name: ENTRIES[name] for name in options.methods}
    trials = list_trials(datasets, methods, options.conditions, splits)
    everything = list_trials(datasets, splits=splits)
    with Store(options.folder / "results.db") as store:
        known = read_results(results)
        load_into(store, known[~_outdated(known, options)], everything)
        try:
            _run(trials, datasets, store, options)
        finally:
            found = _name_real(export(store, everything, datasets))
            known = read_results(results)
            replaced = _outdated(known, options) & known["key"].isin(found["key"])
            write_results(results, join_results(known[~replaced], found))
    if options.quick:
        write_page(read_results(results), options.folder / "benchmark.md", len(trials))
        print(f"wrote {options.folder / 'benchmark.md'}")


def _outdated(known: pd.DataFrame, options: argparse.Namespace) -> pd.Series:
    """Which rows `--again` replaces."""
    return known["method"].isin(options.methods if options.again else [])


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m studies.benchmark", description=__doc__)
    parser.add_argument("folder", type=Path, help="for the store")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the compact file")
    parser.add_argument("--methods", type=_names(ENTRIES), default=list(ENTRIES), help="a,b,…: only these")
    parser.add_argument("--sets", type=_names(SETS), default=list(SETS), help="a,b,…: only these data sets")
    parser.add_argument(
        "--conditions", type=_names(CONDITIONS), default=list(CONDITIONS), help="a,b,…: only these"
    )
    parser.add_argument("--jobs", type=int, help="worker processes (default: one a core)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, or local")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    parser.add_argument(
        "--again", action="store_true", help="replace these methods' rows; needs a new folder"
    )
    parser.add_argument("--quick", action="store_true", help="embedded data, results and page in the folder")
    return parser.parse_args(arguments)


def _names(known: Mapping[str, object]) -> Callable[[str], list[str]]:
    def parse(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return names

    return parse


def _load(samples: Mapping[str, Sample], options: argparse.Namespace) -> dict[str, Dataset]:
    """The data sets that can be had here; the others are named."""
    loaders: dict[str, Callable[[], Dataset]] = {
        name: partial(load_set, name, sample)
        for name, sample in samples.items()
        if options.quick or name in options.sets
    }
    if not options.quick and "real" in options.conditions:
        loaders |= {
            name_of_split(name, split): partial(load_real, name, split)
            for name in REAL
            for split in range(SPLITS["real"])
        }
    datasets = {}
    for name, load in loaders.items():
        try:
            datasets[name] = load()
        except (UserError, OSError) as error:
            print(f"left out {name}: {error}", file=sys.stderr)
    return datasets


def _name_real(results: pd.DataFrame) -> pd.DataFrame:
    """Sets with real noise differ between splits: remove the split from their names, name the condition."""
    real = results["dataset"].str.contains("#")
    return results.assign(
        dataset=results["dataset"].str.replace(r" #\d+$", "", regex=True),
        corruption=results["corruption"].where(~real, "real"),
    )


def _run(
    trials: Sequence[Trial], datasets: Mapping[str, Dataset], store: Store, options: argparse.Namespace
) -> None:
    """Run what has no outcome yet, setting by setting; what took too long would do so again."""
    done = store.finished() | {key for key, error in store.failed().items() if error.startswith("TimeLimit")}
    waiting = [trial for trial in trials if trial.key not in done]
    settings = groupby(waiting, lambda trial: (trial.split, trial.dataset, trial.corruption))
    # A cluster is worth starting once.
    groups = [waiting] if options.scheduler else [list(group) for _, group in settings]
    end = time.monotonic() + 60 * options.minutes
    with show_progress("trials", len(trials), done=len(trials) - len(waiting), lines=True) as advance:
        for group in groups:
            if time.monotonic() > end:
                break
            run_trials(
                group,
                datasets,
                store,
                options.jobs,
                options.scheduler,
                on_result=lambda trial, _: advance(f"{trial.dataset} {trial.corruption} {trial.method}"),
                run=partial(run_limited, methods=ENTRIES, seconds=SECONDS),
            )


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")
