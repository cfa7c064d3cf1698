"""Run the study and write its page: ``python -m studies.pacing results/study docs/study.md``."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from mlspl._progress import show_progress
from mlspl.datasets import Dataset, load_dataset
from mlspl.errors import UserError
from mlspl.experiments import PAPER_DATASETS, Store, Trial, run_trials
from studies.pacing.page import write_page
from studies.pacing.trials import CORRUPTED_DATASETS, study_parts, study_trials


def _run(trials: Sequence[Trial], datasets: Mapping[str, Dataset], store: Store) -> None:
    finished = store.finished()
    done = sum(trial.key in finished for trial in trials)
    with show_progress("trials", len(trials), done=done, lines=True) as advance:
        run_trials(
            trials, datasets, store, on_result=lambda trial, _: advance(f"{trial.dataset} {trial.method}")
        )
    failed = store.failed()
    for trial in trials:
        if trial.key in failed:
            raise UserError(f"{trial.method} on split {trial.split} of {trial.dataset}: {failed[trial.key]}")


def _main(arguments: Sequence[str]) -> None:
    if len(arguments) != 2:
        sys.exit("usage: python -m studies.pacing FOLDER PAGE.md")
    folder = Path(arguments[0])
    folder.mkdir(parents=True, exist_ok=True)
    try:
        datasets = {
            name: load_dataset(name) for name in dict.fromkeys((*PAPER_DATASETS, *CORRUPTED_DATASETS))
        }
        trials = list({t.key: t for _, t in study_trials(datasets, study_parts())}.values())
        with Store(folder / "results.db") as store:
            _run(trials, datasets, store)
            write_page(store, datasets, Path(arguments[1]))
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    _main(sys.argv[1:])
