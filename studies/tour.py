"""`make run`: what the library does, in four short sections: ``python -m studies.tour FOLDER``.

It needs nothing but the embedded digits. The paper's data sets are added where they can be had.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from scipy.ndimage import gaussian_filter
from sklearn.linear_model import LogisticRegression

from mlspl import SelfPacedForestClassifier, curriculum, datasets, metrics
from mlspl._progress import show_progress
from mlspl.errors import UserError
from mlspl.experiments import PAPER_DATASETS, PAPER_METHODS, Store, plan_trials, run_trials
from mlspl.recipes import method_title

__all__ = ["annotate_blurred", "main"]

_WIDTH = 80
_SPLITS = 2
_ROWS = {"annotators": slice(0, 400), "train": slice(400, 1000), "test": slice(1000, None)}


def main(folder: Path) -> None:
    """Print the sections and write the results and pictures into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    console = Console(width=min(Console().width, _WIDTH), highlight=False)
    say = console.print
    say("\nmlspl finds wrong labels in multi-label data, and learns in spite of them.")
    say("\n[bold]1. The paper's methods and MLSPL-CV[/]: average precision, correct test labels")
    means = _paper_means(folder)
    say(_paper_table(means))
    if missing := [name for name in PAPER_DATASETS if name not in means]:
        say(f"Not on this machine, and not to be downloaded: {', '.join(missing)}.")
    n_best = (means.idxmax() == "mlspl-cv").sum()
    say(
        "Trained on 30 % of the rows; mean of two splits. MLSPL-CV, which chooses its pace on held-out rows, "
        f"is best in {n_best} of {means.shape[1]} columns. In the column “digits, noisy”, 30 % of the "
        "training labels are inverted. As published, MLSPL nearly equals ML-LOC on clean labels: its codes "
        "come from the training labels, so its weights are near 1."
    )
    digits = datasets.load_dataset("digits-traits")
    given = annotate_blurred(digits)
    train, test = _ROWS["train"], _ROWS["test"]
    wrong = {name: (digits.Y[train] != Y).mean() for name, Y in given.items()}
    say("\n[bold]2. Learning from wrong labels[/]: average precision, correct test labels")
    say("Three simulated annotators label 600 digits from blurred pictures.")
    found = curriculum.consensus(digits.X[train], given, n_jobs=-1, random_state=0)
    say(_annotator_table(digits, given, found, train, test))
    say(
        "Pacing gives a small weight to labels that the model cannot predict. It helps most against random "
        "errors. These annotators err where digits look alike, and the model can predict such errors. The "
        "forest decides on held-out rows whether to pace; on the annotators' labels it mostly does not."
    )
    say("\n[bold]3. Finding wrong labels[/]: the audit of the worst annotator's labels")
    name = max(wrong, key=lambda each: wrong[each])
    frame = pd.DataFrame(given[name], columns=digits.label_names)
    audit = curriculum.audit(digits.X[train], frame, n_jobs=-1, random_state=0)
    is_wrong = given[name] != digits.Y[train]
    for line in _audit_lines(audit, frame, digits.X[train], is_wrong):
        say(line)
    picture = folder / "suspected_labels.png"
    _draw(audit, is_wrong, digits.X[train]).savefig(picture, dpi=110)
    audit.to_html(folder / "audit.html", digits.X[train], name=f"digits, labels of {name}", force=True)
    say("\n[bold]4. Where to look[/]")
    for path, text in {
        str(folder / "audit.html"): "the review page of the audit: open it in a browser",
        str(picture): "the twelve most suspected labels as pictures",
        str(folder / "results.db"): "all results of section 1: `mlspl compare` reads them",
        "docs/tutorial.md": "your own file: find its wrong labels, correct them, fit a model",
    }.items():
        console.print(f"{path}\n  {text}", soft_wrap=True)


def annotate_blurred(digits) -> dict[str, np.ndarray]:
    """Labels of the training rows as three annotators give them who see the pictures blurred.

    Each learned the digits from some clear pictures, and guesses them from blurred and noisy ones.
    """
    learned, shown = digits.X[_ROWS["annotators"]], digits.X[_ROWS["train"]]
    # Digits with the same traits are the same to a multi-label classifier.
    kinds, classes = np.unique(digits.Y[_ROWS["annotators"]], axis=0, return_inverse=True)
    given = {}
    for seed, (name, blur) in enumerate({"Ann": 0.5, "Bob": 0.6, "Cid": 0.7}.items()):
        rng = np.random.default_rng(seed)
        some = rng.choice(len(learned), 120, replace=False)
        reader = LogisticRegression(max_iter=1000, C=0.01).fit(learned[some], classes.ravel()[some])
        blurred = gaussian_filter(shown.reshape(-1, 8, 8), (0, blur, blur)).reshape(shown.shape)
        given[name] = kinds[reader.predict(blurred + rng.normal(0, 4.0, shown.shape))].astype(int)
    return given


def _paper_means(folder: Path) -> pd.DataFrame:
    """Mean average precision by method and data set, and with 30 % of the digits' labels inverted."""
    data = {"digits-traits": datasets.load_dataset("digits-traits", encode=False)}
    for name in PAPER_DATASETS:
        try:
            data[name] = datasets.load_dataset(name, encode=False)
        except (UserError, OSError):
            continue  # not on this machine, and not to be downloaded
    methods = [*PAPER_METHODS, "mlspl-cv"]
    digits = {"digits-traits": data["digits-traits"]}
    trials = [
        *plan_trials(digits, methods, splits=_SPLITS, train=[0.3]),
        *plan_trials(digits, methods, splits=_SPLITS, train=[0.3], corruption="flip:0.3"),
        *plan_trials(
            {name: data[name] for name in data if name not in digits}, methods, splits=_SPLITS, train=[0.3]
        ),
    ]
    with (
        Store(folder / "results.db") as store,
        show_progress("trials", len(trials), lines=True) as advance,
    ):
        run_trials(trials, data, store, on_result=lambda trial, _: advance(f"{trial.dataset} {trial.method}"))
        frame = store.frame(trial.key for trial in trials)
    frame["precision"] = [scores["average_precision"] for scores in frame["scores"]]
    means = frame.pivot_table(index="method", columns=["dataset", "corruption"], values="precision")
    means = means.loc[methods, list(dict.fromkeys((trial.dataset, trial.corruption) for trial in trials))]
    means.columns = [
        name.removesuffix("-traits") + (", noisy" if noise else "") for name, noise in means.columns
    ]
    return means


def _paper_table(means: pd.DataFrame) -> Table:
    table = _table("method", *means.columns)
    for method, row in means.iterrows():
        table.add_row(method_title(str(method)), *_mark_best(row, means.max()))
    return table


def _annotator_table(digits, given, found, train, test) -> Table:
    """Forests, unpaced and paced, by their training labels."""
    majority = (np.mean(list(given.values()), axis=0) > 0.5).astype(int)
    rows = {f"annotator {name}": (Y, None) for name, Y in given.items()}
    rows |= {"majority of the three": (majority, None), "their consensus": (found.labels, found.weights)}
    for rate in (0.3, 0.4):
        flipped, _ = datasets.corrupt(digits.Y[train], "flip", rate, random_state=0)
        rows[f"{rate:.0%} inverted at random"] = (flipped, None)
    rows["correct labels"] = (digits.Y[train], None)
    values = {
        name: [
            metrics.average_precision(
                digits.Y[test],
                SelfPacedForestClassifier(100, pace_function, n_jobs=-1, random_state=0)
                .fit(digits.X[train], Y, label_weight=weight)
                .decision_function(digits.X[test]),
            )
            for pace_function in (None, "gaussian")
        ]
        for name, (Y, weight) in rows.items()
    }
    means = pd.DataFrame(values, index=["forest", "paced forest"]).T
    table = _table("training labels", "of them wrong", *means.columns)
    for name, row in means.iterrows():
        wrong = (rows[str(name)][0] != digits.Y[train]).mean()
        table.add_row(str(name), f"{wrong:.1%}", *_mark_best(row, means.max()))
    return table


def _audit_lines(audit, Y, X, is_wrong) -> list[str]:
    """How many of the first 100 suspicions are errors; cleanlab's ranking beside it if it is installed."""
    rankings = {"the audit": audit.suspicion}
    if find_spec("cleanlab") is not None:
        from studies.audits.rivals import fit_logistic, rank_by_cleanlab

        rankings["cleanlab on logistic regression"] = rank_by_cleanlab(
            Y.to_numpy(), fit_logistic(X, Y.to_numpy(), 0)
        )
    hits = {
        name: int(is_wrong.ravel()[np.argsort(-scores, axis=None, kind="stable")[:100]].sum())
        for name, scores in rankings.items()
    }
    return [
        f"Of {is_wrong.size:,} labels, {is_wrong.sum()} are wrong; "
        f"the audit expects {audit.expected_errors:.0f}.",
        "Errors among the 100 most suspected labels: "
        + ", ".join(f"{name} {count}" for name, count in hits.items())
        + f" (by chance {is_wrong.mean():.0%}).",
    ]


def _table(first: str, *others: str) -> Table:
    table = Table(box=None, pad_edge=False)
    table.add_column(first)
    for name in others:
        table.add_column(str(name), justify="right")
    return table


def _mark_best(row: pd.Series, best: pd.Series) -> list[str]:
    """Values with four digits; the best of a column is bold."""
    return [f"[bold]{value:.4f}[/]" if value == best[name] else f"{value:.4f}" for name, value in row.items()]


def _draw(audit, is_wrong, X):
    """The twelve strongest suspicions: picture, label, what was given, and whether it is wrong."""
    figure, axes = plt.subplots(2, 6, figsize=(11, 4.6), layout="constrained")
    for ax, issue in zip(axes.flat, audit.issues.itertuples(), strict=False):
        ax.imshow(X[issue.row_number].reshape(8, 8), cmap="gray_r")
        truth = "wrong" if is_wrong[issue.row_number, issue.label_number] else "right"
        given = "" if issue.given else "not "
        ax.set_title(f"given “{given}{issue.label}”\nsuspicion {issue.suspicion:.0%}; {truth}", fontsize=8)
        ax.set_axis_off()
    figure.suptitle("The labels that the audit suspects most, and whether they are wrong")
    return figure


if __name__ == "__main__":
    main(Path(sys.argv[1]))
