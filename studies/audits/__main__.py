"""Run the benchmark of audits and write its page: ``python -m studies.audits results/audits docs/audits.md``.

What the models say of a setting is kept in the folder, and what was scored; neither is done again.
``--score`` scores all settings once more, by what the models have said (after a change of `label_issues`);
``--page`` only writes the page of what was scored.
"""

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import Progress
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score

from mlspl import curriculum
from mlspl.datasets import corrupt, load_dataset
from mlspl.errors import UserError
from studies.audits.page import write_page
from studies.audits.rivals import confident_rates, disagree_neighbours, fit_logistic, rank_by_cleanlab

DATASETS = ("emotions", "scene", "yeast", "medical", "enron")
# The commonest kinds first, so that a run that is stopped has all sets in them.
NOISES = (
    "flip .1", "lost .2", "both", "none", "lost .4", "flip .2", "lost .1", "flip .05",
)  # fmt: skip
SEEDS = (0,)
SURE = 0.8


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, then write the page."""
    folder, page = Path(arguments[0]), Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    settings = list(product(SEEDS, NOISES, DATASETS))
    if "--page" not in arguments:
        with Progress() as bar:
            task = bar.add_task("audits", total=len(settings))
            for seed, noise, name in settings:
                said = folder / f"{name}-{noise.replace(' ', '')}-{seed}.npz"
                scored = said.with_suffix(".csv")
                if "--score" in arguments or not scored.exists():
                    if noise == "none":
                        score_published(name, seed, folder).to_csv(scored, index=False)
                    else:
                        if not said.exists():
                            np.savez_compressed(said, **ask_models(name, noise, seed))
                        score_setting(name, noise, seed, np.load(said)).to_csv(scored, index=False)
                bar.advance(task)
    results = [pd.read_csv(path) for path in sorted(folder.glob("*-*-*.csv"))]
    if not results:
        raise UserError(f"There are no results in {folder}: run without --page first.")
    write_page(pd.concat(results, ignore_index=True), folder, page, len(settings))


def load(name: str, noise: str, seed: int):
    """Return the data set, its labels (n, L) as published and with planted errors, and where these are."""
    data = load_dataset(name)
    given: Any = data.Y
    true = (given.toarray() if sparse.issparse(given) else given).astype(int)
    return data, true, *plant(true, noise, seed)


def ask_models(name: str, noise: str, seed: int) -> dict[str, Any]:
    """What the audit's models, the two logistic regressions and the neighbours say of every pair."""
    data, _, Y, _ = load(name, noise, seed)
    outside, inside = fit_logistic(data.X, Y, seed)
    found = curriculum.audit(data.X, Y, n_jobs=2, random_state=seed)
    return {
        "audit": found.probabilities,
        "outside": outside,
        "inside": inside,
        "neighbours": disagree_neighbours(data.X, Y),
    }


def plant(Y, noise: str, seed: int):
    """Return the labels with planted errors, and where they are."""
    kind, _, rate = noise.partition(" ")
    if kind == "none":
        return Y.copy(), np.zeros(Y.shape, dtype=bool)
    if kind == "both":
        lost, _ = corrupt(Y, "missing", 0.2, random_state=seed)
        noisy, _ = corrupt(lost, "flip", 0.1, random_state=seed + 1)
    else:
        noisy, _ = corrupt(Y, {"flip": "flip", "lost": "missing"}[kind], float(rate), random_state=seed)
    return noisy, noisy != Y


def score_published(name: str, seed: int, folder: Path) -> pd.DataFrame:
    """A row: what the audit expects of the labels as published; the strongest suspicions into a file."""
    data, true, _, _ = load(name, "none", seed)
    labels = pd.DataFrame(true, columns=data.label_names)
    found = curriculum.audit(data.X, labels, n_jobs=2, random_state=seed)
    found.issues.head(20).assign(dataset=name).to_csv(folder / f"strongest-{name}.csv", index=False)
    row = {"dataset": name, "noise": "none", "seed": seed, "method": "audit", "pairs": true.size}
    row |= {"expected": found.expected_errors, "sure": int((found.suspicion >= SURE).sum())}
    return pd.DataFrame([row])


def score_setting(name: str, noise: str, seed: int, said) -> pd.DataFrame:
    """A row per method: what it finds of the errors planted in one data set."""
    _, true, Y, wrong = load(name, noise, seed)
    probabilities, outside, inside = said["audit"], said["outside"], said["inside"]
    # As `audit` does it of these probabilities.
    suspicion: Any = curriculum.label_issues(Y, probabilities, n_jobs=2)
    ours = curriculum.noise_rates(Y, probabilities, n_jobs=2)
    rates = {
        "audit": (ours["lost"].to_numpy(), ours["false"].to_numpy()),
        "cleanlab": confident_rates(Y, outside),
        "cleanlab, our probabilities": confident_rates(Y, probabilities),
    }
    scores = {
        "audit": suspicion,
        "audit, labels alone": curriculum.label_issues(Y, probabilities, relations=False),
        "cleanlab": rank_by_cleanlab(Y, outside),
        "cleanlab, our probabilities": rank_by_cleanlab(Y, probabilities),
        "cleanlab's probabilities, ours": curriculum.label_issues(Y, outside),
        "small loss": rank_by_cleanlab(Y, inside),
        "neighbours": said["neighbours"],
    }
    rows = []
    for method, score in scores.items():
        row = {"dataset": name, "noise": noise, "seed": seed, "method": method, "pairs": Y.size}
        rows.append(row | score_ranking(wrong, score) | score_rates(true, wrong, rates.get(method)))
    sure = suspicion >= SURE
    rows[0] |= {"sure": int(sure.sum()), "sure_right": int(wrong[sure].sum())}
    rows[0] |= {"expected": float(suspicion.sum()), "planted": int(wrong.sum())}
    return pd.DataFrame(rows)


def score_ranking(wrong, score) -> dict[str, float]:
    """AUROC, average precision, and precision among the 1 % and 5 % most suspected pairs."""
    if not wrong.any():
        return {}
    order = np.argsort(-score.ravel(), kind="stable")
    hits = wrong.ravel()[order]
    return {
        "auroc": roc_auc_score(wrong.ravel(), score.ravel()),
        "ap": average_precision_score(wrong.ravel(), score.ravel()),
        "p1": hits[: max(1, round(0.01 * len(hits)))].mean(),
        "p5": hits[: max(1, round(0.05 * len(hits)))].mean(),
    }


def score_rates(true, wrong, rates) -> dict[str, float]:
    """The mean absolute errors of the estimated rates over labels."""
    if rates is None:
        return {}
    lost = (wrong & (true == 1)).sum(axis=0) / np.maximum((true == 1).sum(axis=0), 1)
    false = (wrong & (true == 0)).sum(axis=0) / np.maximum((true == 0).sum(axis=0), 1)
    return {"lost_error": np.abs(rates[0] - lost).mean(), "false_error": np.abs(rates[1] - false).mean()}


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python -m studies.audits FOLDER PAGE.md [--score | --page]")
    try:
        main(sys.argv[1:])
    except (UserError, OSError) as error:
        sys.exit(f"error: {error}")
