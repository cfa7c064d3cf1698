"""Run the benchmark: ``python -m studies.benchmark FOLDER``; what is finished is not run again.

The folder has the store of this machine's trials. They go on from the results file of the repository, and
are added to it when the run ends, is interrupted or has run for ``--minutes``.
"""

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path

import pandas as pd

from mlspl._progress import show_progress
from mlspl.datasets import Dataset
from mlspl.errors import UserError
from mlspl.experiments import Store, Trial, run_trials
from studies.benchmark.declaration import ENTRIES, SECONDS, SETS, list_trials, load_set
from studies.benchmark.results import export, load_into, read_results, write_results

RESULTS = Path(__file__).with_name("results.csv.gz")
"""The committed results."""


def main(arguments: Sequence[str]) -> None:
    """Run what the arguments ask for."""
    options = _parse(arguments)
    options.folder.mkdir(parents=True, exist_ok=True)
    methods = {name: ENTRIES[name] for name in options.methods}
    datasets = _load(options.sets)
    trials = list_trials(datasets, methods)
    everything = list_trials(datasets)
    with Store(options.folder / "results.db") as store:
        load_into(store, read_results(options.results), everything)
        try:
            _run(trials, datasets, store, options)
        finally:
            known = read_results(options.results)
            write_results(options.results, _join(known, export(store, everything, datasets)))


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m studies.benchmark", description=__doc__)
    parser.add_argument("folder", type=Path, help="for the store")
    parser.add_argument(
        "--results", type=Path, default=RESULTS, help="the compact file (default: %(default)s)"
    )
    parser.add_argument("--methods", type=_names(ENTRIES), default=list(ENTRIES), help="a,b,…: only these")
    parser.add_argument("--sets", type=_names(SETS), default=list(SETS), help="a,b,…: only these data sets")
    parser.add_argument("--jobs", type=int, help="worker processes (default: one a core)")
    parser.add_argument("--scheduler", help="address of a Dask scheduler, or local")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so many")
    return parser.parse_args(arguments)


def _names(known: Mapping[str, object]):
    def parse(text: str) -> list[str]:
        names = text.split(",")
        if unknown := [name for name in names if name not in known]:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(known)}")
        return names

    return parse


def _load(names: Sequence[str]) -> dict[str, Dataset]:
    """The data sets that can be had here; the others are named."""
    datasets = {}
    for name in names:
        try:
            datasets[name] = load_set(name)
        except (UserError, OSError) as error:
            print(f"left out {name}: {error}", file=sys.stderr)
    return datasets


def _run(trials: Sequence[Trial], datasets: Mapping[str, Dataset], store: Store, options) -> None:
    """Run what has no outcome yet, setting by setting; one that took too long will do so again."""
    done = store.finished() | {key for key, error in store.failed().items() if error.startswith("TimeLimit")}
    waiting = [trial for trial in trials if trial.key not in done]
    end = time.monotonic() + 60 * options.minutes
    with show_progress("trials", len(trials), done=len(trials) - len(waiting), lines=True) as advance:
        for _, group in groupby(waiting, lambda trial: (trial.split, trial.dataset, trial.corruption)):
            if time.monotonic() > end:
                break
            run_trials(
                list(group),
                datasets,
                store,
                options.jobs,
                options.scheduler,
                on_result=lambda trial, _: advance(f"{trial.dataset} {trial.corruption} {trial.method}"),
                methods=ENTRIES,
                seconds=SECONDS,
            )


def _join(known: pd.DataFrame, new: pd.DataFrame) -> pd.DataFrame:
    return new if known.empty else pd.concat([known, new], ignore_index=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")
