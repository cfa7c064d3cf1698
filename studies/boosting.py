"""Does pacing pay for gradient boosting too? ``python -m studies.boosting [SPLITS]`` prints a table.

`SelfPacedClassifier` around scikit-learn's histogram gradient boosting, paced out of fold by its default
schedule and unpaced, beside paced and unpaced forests: average precision on clean test rows of 30 % splits.
"""

import sys

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from mlspl import SelfPacedClassifier, SelfPacedForestClassifier
from mlspl.datasets import corrupt, load_dataset
from mlspl.metrics import average_precision
from mlspl.model_selection import protocol_split
from studies.pacing.trials import CORRUPTIONS

DATASETS = ("emotions", "scene")


def _models(pace_function):
    boosting = HistGradientBoostingClassifier(max_iter=50, max_leaf_nodes=8, min_samples_leaf=5)
    return {
        "boosting": SelfPacedClassifier(boosting, pace_function, random_state=0),
        "forest": SelfPacedForestClassifier(pace_function=pace_function, random_state=0),
    }


def gains(dataset, corruption: str, split: int) -> dict[str, tuple[float, float]]:
    """Average precision of each model, unpaced and paced, on one split."""
    train, test = protocol_split(len(dataset.Y), split, 0.3)
    Y = dataset.Y[train]
    if corruption:
        kind, rate = corruption.split(":")
        Y, _ = corrupt(Y, kind, float(rate), random_state=split)

    def score(model):
        return average_precision(
            dataset.Y[test], model.fit(dataset.X[train], Y).decision_function(dataset.X[test])
        )

    plain, paced = _models(None), _models("gaussian")
    return {name: (score(plain[name]), score(paced[name])) for name in plain}


def main(n_splits: int) -> None:
    """Print a row a setting."""
    print(
        "| training labels | model | unpaced | paced | gain of pacing |\n| --- | --- | ---: | ---: | ---: |"
    )
    for name in DATASETS:
        dataset = load_dataset(name)
        for corruption in ("", *CORRUPTIONS):
            splits = [gains(dataset, corruption, split) for split in range(n_splits)]
            for model in splits[0]:
                values = np.array([split[model] for split in splits])
                gain = values[:, 1] - values[:, 0]
                error = f" ± {gain.std(ddof=1) / np.sqrt(n_splits):.4f}" if n_splits > 1 else ""
                setting = f"{name}, {corruption.replace(':', ' ') or 'clean'}"
                unpaced, paced = values.mean(axis=0)
                print(
                    f"| {setting} | {model} | {unpaced:.4f} | {paced:.4f} | {gain.mean():+.4f}{error} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
