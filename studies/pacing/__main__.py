"""Run the study and write its page: ``python -m studies.pacing results/study docs/study.md [MINUTES]``.

It goes on from the results file of the repository, and adds to it when it ends or is interrupted. After
MINUTES, if given, it writes the page of what is finished by then.
"""

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path

from mlspl._progress import show_progress
from mlspl.datasets import Dataset, load_dataset
from mlspl.errors import UserError
from mlspl.experiments import Store, Trial, run_trials
from studies.pacing.page import write_page
from studies.pacing.trials import DATASETS, KNOWN, study_parts, study_trials
from studies.results import export, join_results, load_into, read_results, write_results

RESULTS = Path(__file__).with_name("results.csv.gz")
"""The committed results."""


class _TimeUp(Exception):
    """What was not finished in time is left for another run."""


def _describe(trial: Trial) -> str:
    return f"{trial.dataset} {trial.corruption} {trial.method}"


def _run(trials: Sequence[Trial], datasets: Mapping[str, Dataset], store: Store, minutes: float) -> None:
    finished = store.finished()
    waiting = [trial for trial in trials if trial.key not in finished]
    end = time.monotonic() + 60 * minutes
    with show_progress("trials", len(trials), done=len(trials) - len(waiting), lines=True) as advance:

        def report(trial: Trial, _) -> None:
            advance(_describe(trial))
            if time.monotonic() > end:
                raise _TimeUp

        with suppress(_TimeUp):
            for _, group in groupby(waiting, key=lambda trial: trial.dataset):
                run_trials(group, datasets, store, on_result=report, methods=KNOWN)
    failed = store.failed()
    for trial in trials:
        if trial.key in failed:
            raise UserError(f"{trial.method} on split {trial.split} of {trial.dataset}: {failed[trial.key]}")


def _main(arguments: Sequence[str]) -> None:
    if len(arguments) not in (2, 3):
        sys.exit("usage: python -m studies.pacing FOLDER PAGE.md [MINUTES]")
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        datasets = {name: load_dataset(name) for name in DATASETS}
        parts = study_trials(datasets, study_parts())
        trials = list({trial.key: trial for _, trial in parts}.values())
        titles = {trial.key: entry.title for (_, _, entry), trial in parts}
        with Store(folder / "results.db") as store:
            load_into(store, read_results(RESULTS), trials)
            try:
                _run(trials, datasets, store, float(arguments[2]) if len(arguments) == 3 else float("inf"))
            finally:
                found = export(store, trials, datasets, titles)
                write_results(RESULTS, join_results(read_results(RESULTS), found))
            write_page(store, datasets, Path(arguments[1]))
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    _main(sys.argv[1:])
