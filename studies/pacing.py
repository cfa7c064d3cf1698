"""What self-pacing is worth: each model paced and unpaced, on real noise, planted noise and clean labels.

``python -m studies.pacing docs/study.md [MINUTES]`` runs what `studies/pacing.csv.gz` lacks, for at most so
many minutes, adds it there, and writes the page and its figure.
"""

import gzip
import io
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlspl import MLSPLClassifier, MLSPLClassifierCV, SelfPacedForestClassifier
from mlspl._files import write_file
from mlspl._progress import show_progress
from mlspl.datasets import corrupt, load_dataset, load_noisy_labels
from mlspl.experiments import markdown_table
from mlspl.metrics import average_precision
from mlspl.model_selection import protocol_split
from mlspl.recipes import Recipe, Schema, get_method, take_rows
from mlspl.solvers import one_library_thread
from studies.results import save_figure

__all__ = [
    "RESULTS",
    "Setting",
    "gains",
    "list_trials",
    "read_results",
    "run_trial",
    "study_page",
]

RESULTS = Path(__file__).with_suffix(".csv.gz")
REAL = {
    **{f"OPP-115, annotator {k}": ("opp115", k) for k in "123"},
    "CheXpert, labeler": ("chexpert", "labeler"),
    "CheXpert, radiologist 1": ("chexpert", "radiologist_1"),
    "mirflickr": ("mirflickr", None),
}
SETS = ("flags", "emotions", "scene", "yeast", "medical", "enron")
PLANTED = ("flip:0.3", "flip:0.2", "missing:0.4", "swap:0.3", "ambiguous:0.2")
MODELS = {
    "forest": "SelfPacedForestClassifier()",
    "MLSPL-CV": 'MLSPLClassifierCV(budget="fast")',
    "MLSPL": "MLSPLClassifier()",
    "network": "mlspl.torch.SelfPacedNetClassifier()",
    "extra trees": "scikit-learn's ExtraTreesClassifier(500, min_samples_leaf=2)",
}
PACED = [model for model in MODELS if model != "extra trees"]
_KEYS = ["noise", "data", "model", "split"]
_TEMPLATE = Path(__file__).with_suffix(".md")


class Setting(NamedTuple):
    """Training labels of a data set: "real", "clean", or planted noise such as "flip:0.3"."""

    noise: str
    data: str


def list_trials() -> list[tuple[Setting, str, int]]:
    """List all (setting, model, split): what the page needs most first."""
    real = [Setting("real", name) for name in REAL]
    clean = [Setting("clean", name) for name in SETS]
    planted = [Setting(kind, name) for kind in PLANTED for name in SETS]
    main = real + clean + [setting for setting in planted if setting.noise == PLANTED[0]]
    fast = [model for model in MODELS if model != "network"]
    stages: list[tuple[list[Setting], Sequence[str], range]] = [
        (main, fast, range(3)),
        (main, ["network"], range(1)),
        (planted, fast, range(1)),
        (main, fast, range(10)),
    ]
    trials = [
        (setting, model, split)
        for settings, models, splits in stages
        for split in splits
        for setting in settings
        for model in models
    ]
    return list(dict.fromkeys(trials))


@cache
def _load_real(name: str):
    data, annotator = REAL[name]
    return load_noisy_labels(data, annotator)


def _rows(
    setting: Setting, split: int, train_share: float | None = None
) -> tuple[Any, np.ndarray, Any, np.ndarray]:
    """Training rows with the given labels, test rows with the true ones; NaN where these are not settled.

    Texts become 100 components of their TF-IDF, fitted on the training rows.
    """
    if setting.noise == "real":
        real = _load_real(setting.data)
        share = train_share or (0.25 if setting.data == "mirflickr" else 0.5)
        train, test = protocol_split(len(real.given), split, share)
        if isinstance(real.X, list):
            prepare: Any = make_pipeline(
                TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2)),
                TruncatedSVD(100, random_state=split),
                StandardScaler(),
            )
            X_train, X_test = ([real.X[row] for row in rows] for rows in (train, test))
        else:
            prepare = StandardScaler()
            X_train, X_test = real.X[train], real.X[test]
        return prepare.fit_transform(X_train), real.given[train], prepare.transform(X_test), real.truth[test]
    data = load_dataset(setting.data, encode=False)
    recipe = Recipe(get_method("forest"), Schema.from_dataset(data), split)
    table, _ = recipe.schema.match(data)
    train, test = protocol_split(data.Y.shape[0], split, train_share or 0.3)
    prepare = recipe.build(recipe.method.defaults)[:-1]
    X_train = prepare.fit_transform(take_rows(table, train))
    Y = np.asarray(data.Y)
    given = Y[train]
    if setting.noise != "clean":
        kind, rate = setting.noise.split(":")
        given, _ = corrupt(given, kind, float(rate), split, X=X_train)
    return X_train, given, prepare.transform(take_rows(table, test)), Y[test]


def _fit_and_score(model: str, seed: int, X, Y, X_test) -> dict[str, np.ndarray]:
    """Scores of the test rows by the paced and the unpaced model; extra trees have no pace."""
    if model == "extra trees":
        trees = ExtraTreesClassifier(500, min_samples_leaf=2, random_state=seed).fit(X, Y)
        chances = [
            chance[:, list(classes).index(1)] if 1 in classes else np.zeros(len(chance))
            for chance, classes in zip(trees.predict_proba(X_test), trees.classes_, strict=True)
        ]
        return {"unpaced": np.column_stack(chances)}
    paced: Any
    off: dict[str, Any] = {"pace_function": None}
    if model == "forest":
        paced = SelfPacedForestClassifier(random_state=seed)
    elif model == "MLSPL-CV":
        paced, off = MLSPLClassifierCV(budget="fast", random_state=seed), {"quantiles": ()}
    elif model == "MLSPL":
        paced = MLSPLClassifier(random_state=seed)
    else:
        from mlspl.torch import SelfPacedNetClassifier

        paced = SelfPacedNetClassifier(random_state=seed)
    pair = {"paced": paced, "unpaced": clone(paced).set_params(**off)}
    return {name: estimator.fit(X, Y).decision_function(X_test) for name, estimator in pair.items()}


def run_trial(setting: Setting, model: str, split: int) -> dict[str, Any]:
    """Average precision of the paced and the unpaced model on the test rows, and the model's version."""
    X_train, given, X_test, truth = _rows(setting, split)
    with one_library_thread():
        scores = _fit_and_score(model, split, X_train, given, X_test)
    found = {name: average_precision(truth, each) for name, each in scores.items()}
    keys = dict(zip(_KEYS, (*setting, model, split), strict=True))
    return keys | {"paced": np.nan} | found | {"version": model_version(model)}


@cache
def model_version(model: str) -> str:
    """A hash of the scores on noisy digits, which changes when the model computes otherwise."""
    digits = load_dataset("digits-traits")
    train, test = protocol_split(len(digits.Y), 0, 0.1)
    given, _ = corrupt(digits.Y[train], "flip", 0.3, 0)
    with one_library_thread():
        scores = _fit_and_score(model, 0, digits.X[train], given, digits.X[test[:100]])
    text = "".join(f"{name} {each.round(3).tolist()}" for name, each in scores.items())
    return sha256(text.encode()).hexdigest()[:8]


def read_results(path: Path = RESULTS) -> pd.DataFrame:
    """Read the finished trials, a row each."""
    if not path.exists():
        return pd.DataFrame(columns=[*_KEYS, "paced", "unpaced", "version"])
    table = io.StringIO(gzip.decompress(path.read_bytes()).decode())
    return pd.read_csv(table, dtype={"version": str})


def _drop_old(results: pd.DataFrame, versions: Mapping[str, str]) -> pd.DataFrame:
    """The rows whose model has the given version, and those of models that have none given."""
    return results[results["version"] == results["model"].map(versions).fillna(results["version"])]


def _run(minutes: float) -> None:
    models = [model for model in MODELS if model != "network" or find_spec("torch")]
    results = _drop_old(read_results(), {model: model_version(model) for model in models})
    finished = set(results[_KEYS].itertuples(index=False, name=None))
    waiting = [
        trial for trial in list_trials() if trial[1] in models and (*trial[0], *trial[1:]) not in finished
    ]
    end = time.monotonic() + 60 * minutes

    def in_time() -> Iterator:
        for trial in waiting:
            if time.monotonic() > end:
                return
            yield delayed(run_trial)(*trial)

    found = Parallel(n_jobs=-1, pre_dispatch="n_jobs", return_as="generator_unordered")(in_time())
    with show_progress("trials", len(waiting), lines=True) as advance:
        for row in found:
            results = pd.concat([results, pd.DataFrame([row])] if len(results) else [pd.DataFrame([row])])
            table = results.sort_values(_KEYS, kind="stable").round(5)
            write_file(RESULTS, gzip.compress(table.to_csv(index=False).encode(), mtime=0))
            advance(" ".join(str(row[key]) for key in _KEYS))


def gains(results: pd.DataFrame) -> pd.DataFrame:
    """Mean average precision of paced and unpaced models by setting, the gain, and its standard error.

    The standard error is that of the mean over the splits; NaN for a single split.
    """
    results = results.assign(gain=results["paced"] - results["unpaced"])
    groups = results.groupby(["noise", "data", "model"])
    table = groups[["paced", "unpaced", "gain"]].mean()
    return table.assign(error=groups["gain"].sem(), splits=groups.size())


def study_page(results: pd.DataFrame) -> str:
    """Return the page as Markdown; extra trees count on the splits that another model was run on."""
    keys = ["noise", "data", "split"]
    paced = results.loc[results["model"] != "extra trees", keys].drop_duplicates()
    table = gains(results.merge(paced, on=keys))
    missing = len(list_trials()) - len(results)
    return Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(
        progress="" if missing <= 0 else f"{len(results)} of {len(list_trials())} trials are run so far. ",
        models=markdown_table(["name", "model"], [[k, f"`{v}`"] for k, v in MODELS.items()], numeric=False),
        summary=_summary(table),
        real=_noise_table(table, "real", list(REAL)),
        planted="\n\n".join(
            f"### {kind}\n\n{_noise_table(table, kind, list(SETS))}"
            for kind in PLANTED
            if kind in table.index
        ),
        clean=_noise_table(table, "clean", list(SETS)),
    )


def _noise_table(table: pd.DataFrame, noise: str, names: list[str]) -> str:
    """Average precision of each paced model with its gain in brackets, and of extra trees."""
    rows = []
    models = [model for model in PACED if (noise, model) in table.index.droplevel("data")]
    for name in names:
        row = [name, _number(table["unpaced"].get((noise, name, "extra trees"), np.nan))]
        for model in models:
            if (noise, name, model) not in table.index:
                row.append("–")
                continue
            found = table.loc[(noise, name, model)]
            error = "" if np.isnan(found["error"]) else f" ± {found['error']:.4f}"
            row.append(f"{_number(found['paced'])} ({found['gain']:+.4f}{error}; {found['splits']:.0f})")
        rows.append(row)
    return markdown_table(["data", "extra trees", *models], rows)


def _number(value: float) -> str:
    return "–" if np.isnan(value) else f"{value:.4f}"


def _summary(table: pd.DataFrame) -> str:
    """A line for each kind of noise: mean gain over the data sets, and on how many it is positive."""
    rows = []
    for noise, title in {
        "real": "real noise",
        **{k: f"planted, {k}" for k in PLANTED},
        "clean": "clean",
    }.items():
        if noise not in table.index:
            continue
        row = [title]
        for model in PACED:
            found = table[table.index.isin([(noise, name, model) for name in (*REAL, *SETS)])]
            gain = found["gain"].dropna().round(6)
            signs = " / ".join(str(int((np.sign(gain) == sign).sum())) for sign in (1, 0, -1))
            row.append("–" if gain.empty else f"{gain.mean():+.4f} ({signs})")
        rows.append(row)
    return markdown_table(["training labels", *PACED], rows)


def gain_figure(results: pd.DataFrame) -> Figure:
    """Gain of the paced forest: real noise, the strongest planted noise, and clean labels."""
    table = gains(results)
    figure = Figure(figsize=(10, 3.6), layout="constrained")
    axes = figure.subplots(1, 3, sharey=True, width_ratios=[1, 1, 1])
    panels = {"real": "real noise", "flip:0.3": "planted noise: 30 % flipped", "clean": "clean labels"}
    for ax, (noise, title) in zip(axes, panels.items(), strict=True):
        names = list(REAL) if noise == "real" else list(SETS)
        part = table.xs((noise, "forest"), level=("noise", "model")).reindex(names)
        ax.errorbar(range(len(part)), part["gain"], part["error"], fmt="o", capsize=3, markersize=5.5)
        ax.axhline(0.0, color="0.4", linestyle="--", linewidth=1, zorder=0)
        ax.set_xticks(
            range(len(part)), part.index, rotation=40, ha="right", rotation_mode="anchor", fontsize=8
        )
        ax.grid(axis="y", color="0.87")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title(title, fontsize=10)
    axes[0].set_ylabel("average precision,\npaced − unpaced forest", fontsize=9)
    return figure


def main(arguments: Sequence[str]) -> None:
    """Run trials, write the page, and the figure beside it."""
    if len(arguments) not in (1, 2):
        sys.exit("usage: python -m studies.pacing PAGE.md [MINUTES]")
    page = Path(arguments[0])
    _run(float(arguments[1]) if len(arguments) == 2 else np.inf)
    results = read_results()
    images = page.parent / "images"
    images.mkdir(parents=True, exist_ok=True)
    save_figure(gain_figure(results), images, "study_pacing")
    write_file(page, study_page(results).encode())


if __name__ == "__main__":
    # Other processes find the functions of a module that has a name, not those of __main__.
    from studies import pacing

    pacing.main(sys.argv[1:])
