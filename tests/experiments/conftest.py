"""A store with made-up scores that are easy to check."""

import numpy as np
import pytest

from mlspl.experiments import PAPER_CRITERIA, Outcome, Store, Trial, paper_mean
from mlspl.recipes import get_method


@pytest.fixture(scope="session")
def paper_store(tmp_path_factory):
    """Methods on the paper's sets, scoring what the paper prints, plus noise that is known to the digit."""
    path = tmp_path_factory.mktemp("paper") / "results.db"
    with Store(path) as store:
        for dataset in ("flags", "emotions", "scene"):
            for method in ("ml-knn", "tram", "ranksvm"):
                for split in range(6):
                    noise = 0.001 * (split - 2) * (1 if method == "tram" else 2)
                    scores = {name: paper_mean(dataset, method, name) + noise for name in PAPER_CRITERIA}
                    trial = Trial(
                        dataset, f"content of {dataset}", method, get_method(method).settings(""), split
                    )
                    store.record(trial, Outcome(scores=scores, chosen=dict(trial.parameters)))
        yield store


NOISE = {"tram": np.array([-2, -1, 0, 1, 2, 3]) * 0.001, "other": np.array([-2, -1, 0, 1, 2, 3]) * 0.002}
