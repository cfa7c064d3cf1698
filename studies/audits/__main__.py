"""Run the study of audits and write its page: ``python -m studies.audits results/audits docs/audits.md``.

Out-of-sample probabilities and scores of a setting are kept in the folder, and not computed again.
``--score`` scores all settings again from the kept probabilities (after a change of `label_issues`);
``--page`` only writes the page. Sets with real errors are read as `load_noisy_labels` finds them
(``MLSPL_REAL``), and left out where they are not there.
"""

import os
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.progress import Progress
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import average_precision_score, roc_auc_score

from mlspl import curriculum
from mlspl.datasets import corrupt, load_dataset, load_noisy_labels
from mlspl.errors import UserError
from mlspl.noise import estimate_noise
from studies.audits.page import BINS, write_page
from studies.audits.rivals import confident_rates, disagree_neighbours, fit_logistic, rank_by_cleanlab

REAL = (
    "chexpert labeler", "opp115 1", "opp115 2", "chexpert radiologist_1", "opp115 3", "mirflickr",
)  # fmt: skip
DATASETS = ("emotions", "scene", "yeast", "medical", "enron")
NOISES = ("flip 0.1", "lost 0.2", "ambiguous 0.1", "annotator 0.1", "both", "none")
SURE = 0.8
SEED = 0


def main(arguments: Sequence[str]) -> None:
    """Run what is missing, then write the page."""
    folder, page = Path(arguments[0]), Path(arguments[1])
    folder.mkdir(parents=True, exist_ok=True)
    # Real errors first, then the commonest kinds of planted ones: a run that is stopped has these.
    settings = [(name, "real") for name in REAL] + [
        (name, noise) for noise, name in product(NOISES, DATASETS)
    ]
    if "--page" not in arguments:
        with Progress() as bar:
            task = bar.add_task("audits", total=len(settings))
            for name, noise in settings:
                bar.update(task, description=f"{name}, {noise}")
                _run(name, noise, folder, "--score" in arguments)
                bar.advance(task)
    results = [pd.read_csv(path) for path in sorted(folder.glob("*-*.csv")) if path.stem.count("-") == 1]
    if not results:
        raise UserError(f"There are no results in {folder}: run without --page first.")
    write_page(pd.concat(results, ignore_index=True), folder, page, len(settings))


def _run(name: str, noise: str, folder: Path, again: bool) -> None:
    kept = folder / f"{name.replace(' ', '_')}-{noise.replace(' ', '')}.npz"
    scored = kept.with_suffix(".csv")
    if scored.exists() and not again:
        return
    data = load(name, noise)
    if data is None:
        return
    X, true, Y, names = data
    if not kept.exists():
        part = kept.with_suffix(".part.npz")
        np.savez_compressed(part, **predict(X, Y))
        os.replace(part, kept)
    with np.load(kept) as predicted:
        if noise == "none":
            table = score_published(name, Y, predicted["audit"])
            strongest(name, Y, names, predicted["audit"]).to_csv(
                folder / f"strongest_{name}.csv", index=False
            )
        else:
            table = score_setting(name, noise, true, Y, predicted)
    table.to_csv(scored, index=False)


def load(name: str, noise: str):
    """Return features, truth (NaN where not settled), given labels and names; None where it is not there."""
    if noise == "real":
        dataset, _, annotator = name.partition(" ")
        try:
            noisy = load_noisy_labels(dataset, annotator or None)
        except (UserError, OSError) as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
            return None
        X = noisy.X
        if isinstance(X, list):
            X = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2).fit_transform(X)
        return X, noisy.truth, noisy.given, noisy.label_names
    data = load_dataset(name)
    given: Any = data.Y
    true = (given.toarray() if sparse.issparse(given) else given).astype(int)
    return data.X, true, plant(data.X, true, noise, SEED), data.label_names


def plant(X, Y, noise: str, seed: int):
    """Return the labels with planted errors."""
    kind, _, rate = noise.partition(" ")
    if kind == "none":
        return Y.copy()
    if kind == "both":
        lost, _ = corrupt(Y, "missing", 0.2, random_state=seed)
        return corrupt(lost, "flip", 0.1, random_state=seed + 1)[0]
    return corrupt(Y, {"lost": "missing"}.get(kind, kind), float(rate), random_state=seed, X=X)[0]


def predict(X, Y) -> dict[str, Any]:
    """Return probabilities of the audit's models and of the recipe of cleanlab, and votes of neighbours."""
    found = curriculum.audit(X, Y, n_jobs=2, random_state=SEED)
    return {
        "audit": found.probabilities,
        "logistic": fit_logistic(X, Y, SEED),
        "neighbours": disagree_neighbours(X, Y),
    }


def score_published(name: str, Y, probabilities) -> pd.DataFrame:
    """Return a row: the expected errors in the labels as published, at both ends of what cannot be told."""
    row = {"dataset": name, "noise": "none", "method": "audit", "pairs": Y.size}
    for weight in (0.0, 1.0, None):
        suspicion: Any = curriculum.label_issues(Y, probabilities, instance_dependent=weight, n_jobs=2)
        row[{0.0: "least", 1.0: "most", None: "expected"}[weight]] = float(suspicion.sum())
    row["sure"] = int((suspicion >= SURE).sum())
    return pd.DataFrame([row])


def strongest(name: str, Y, names, probabilities) -> pd.DataFrame:
    """Return the strongest suspicions of published labels."""
    suspicion: Any = curriculum.label_issues(Y, probabilities, n_jobs=2)
    rows, labels = np.unravel_index(np.argsort(-suspicion, axis=None, kind="stable")[:20], Y.shape)
    pairs = zip(rows, labels, strict=True)
    return pd.DataFrame(
        [
            {"dataset": name, "row": i, "label": names[k], "given": Y[i, k], "suspicion": suspicion[i, k],
             "probability": probabilities[i, k]}
            for i, k in pairs
        ]
    )  # fmt: skip


def score_setting(name: str, noise: str, true, Y, predicted) -> pd.DataFrame:
    """Return a row per method: how it ranks the errors; for the audit also how many it expects."""
    ours, logistic = predicted["audit"], predicted["logistic"]
    noise_found = estimate_noise(Y, ours, n_jobs=2)
    scores: dict[str, Any] = {
        "audit": noise_found.suspicion,
        "audit, labels alone": curriculum.label_issues(Y, ours, other_labels=False, n_jobs=2),
        "class-conditional only": curriculum.label_issues(Y, ours, instance_dependent=0.0, n_jobs=2),
        "cleanlab": rank_by_cleanlab(Y, logistic),
        "cleanlab, our probabilities": rank_by_cleanlab(Y, ours),
        "cleanlab adjusted, our probabilities": rank_by_cleanlab(Y, ours, adjusted=True),
        "audit of cleanlab's probabilities": curriculum.label_issues(Y, logistic, n_jobs=2),
        "neighbours": predicted["neighbours"],
    }
    rates = noise_found.noise_rates
    found = {"audit": (rates["lost"], rates["false"]), "cleanlab": confident_rates(Y, logistic),
             "cleanlab, our probabilities": confident_rates(Y, ours)}  # fmt: skip
    settled = ~np.isnan(np.asarray(true, dtype=float))
    wrong = settled & (true != Y)
    rows = []
    for method, score in scores.items():
        row = {"dataset": name, "noise": noise, "method": method, "pairs": int(settled.sum())}
        row |= score_ranking(wrong[settled], score[settled]) | score_rates(true, wrong, found.get(method))
        rows.append(row)
    rows[0] |= score_counts(wrong[settled], scores["audit"][settled])
    # Of the interval, the part of the pairs whose truth is settled.
    share = scores["audit"][settled].sum() / scores["audit"].sum()
    rows[0] |= {
        end: share * value for end, value in zip(("low", "high"), noise_found.error_range, strict=True)
    }
    return pd.DataFrame(rows)


def score_ranking(wrong, score) -> dict[str, float]:
    """Return AUROC, average precision, and precision among the first 50, 100 and 500 suspicions."""
    hits = wrong[np.argsort(-score, kind="stable")]
    return {
        "auroc": roc_auc_score(wrong, score),
        "ap": average_precision_score(wrong, score),
        **{f"p{first}": hits[:first].mean() for first in (50, 100, 500)},
    }


def score_counts(wrong, suspicion) -> dict[str, float]:
    """Return expected and true numbers of errors, and both by the suspicion."""
    at = np.clip(np.searchsorted(BINS, suspicion, side="right") - 1, 0, len(BINS) - 2)
    counts = {"errors": int(wrong.sum()), "expected": float(suspicion.sum())}
    for b in range(len(BINS) - 1):
        counts |= {f"pairs_{b}": int((at == b).sum()), f"wrong_{b}": int(wrong[at == b].sum()),
                   f"expected_{b}": float(suspicion[at == b].sum())}  # fmt: skip
    return counts


def score_rates(true, wrong, rates) -> dict[str, float]:
    """Return the mean absolute errors of the estimated rates over labels."""
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
