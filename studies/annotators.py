"""`docs/annotators.md`: how good the consensus of several annotators is.

``python -m studies.annotators results/annotators docs/annotators.md`` keeps its results in the folder.
Reads CheXpert and OPP-115 from ``$MLSPL_REAL`` or downloads them (see `mlspl.datasets.load_noisy_labels`).
"""

import sys
import time
from pathlib import Path
from string import Template

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mlspl
from mlspl import MLSPLClassifier, SelfPacedForestClassifier
from mlspl._files import write_file
from mlspl.curriculum import consensus
from mlspl.datasets import load_noisy_labels
from mlspl.metrics import average_precision, micro_f1

__all__ = ["simulate"]

_TEMPLATE = Path(__file__).with_suffix(".md")
_SPLITS = 5
_TRAIN = 0.6
_SCORES = ["average precision", "micro F1"]


def simulate(n, L, A, per_row, seed):
    """Return annotations (n, L, A), truth, rates (A, L), and the log-odds that the truth was drawn with."""
    rng = np.random.default_rng(seed)
    odds = logit(rng.uniform(0.1, 0.4, L)) + rng.normal(0, 1.5, (n, L))
    truth = rng.random((n, L)) < expit(odds)
    sensitivity = np.clip(rng.beta(8, 3, (A, 1)) + rng.normal(0, 0.05, (A, L)), 0.05, 0.98)
    specificity = np.clip(rng.beta(20, 2, (A, 1)) + rng.normal(0, 0.02, (A, L)), 0.05, 0.99)
    chance = np.where(truth[:, :, None], sensitivity.T, 1 - specificity.T)
    table = (rng.random((n, L, A)) < chance).astype(float)
    for row in table:
        n_judges = per_row if per_row >= 1 else 1 + (rng.random() < per_row)
        row[:, rng.permutation(A)[n_judges:]] = np.nan
    return table, truth, sensitivity, specificity, odds


def _recovery() -> pd.DataFrame:
    """Coverage of the intervals and error of the labels on simulated annotators."""
    lines = []
    for n, A, per_row in ((2000, 6, 3), (500, 3, 3), (500, 2, 2), (3000, 8, 0.2)):
        results = []
        for seed in range(10):
            table, truth, *rates, odds = simulate(n, 5, A, per_row, seed)
            for model in (None, expit(odds)):
                found = consensus(None, table, probabilities=model)
                by_label = found.annotators_by_label
                covered = [
                    by_label[f"{name}_low"].le(rate.ravel()) & by_label[f"{name}_high"].ge(rate.ravel())
                    for name, rate in zip(("sensitivity", "specificity"), rates, strict=True)
                ]
                results.append((np.mean(covered), (found.labels != truth).mean()))
            results.append((np.nan, ((np.nanmean(table, axis=2) > 0.5) != truth).mean()))
        votes, model, majority = (np.mean(results[k::3], axis=0) for k in range(3))
        judges = f"{per_row}" if per_row >= 1 else f"1, {per_row:.0%} of rows 2"
        lines.append((n, A, judges, votes[0], model[0], majority[1], votes[1], model[1]))
    columns = ["rows", "annotators", "per row", "covered", "covered, with model"]
    columns += ["error: majority", "consensus", "consensus with model"]
    return pd.DataFrame(lines, columns=columns)


def _f1(P, Y):
    """F1 over all pairs whose truth is known."""
    known = ~np.isnan(Y)
    return 2 * ((P == 1) & (Y == 1))[known].sum() / ((P == 1)[known].sum() + (Y == 1)[known].sum())


def _compare(name, given, X, truth):
    """Error and F1 of annotators, of those who give the label at all, and of the consensus."""
    candidates = dict(given) | {"given by any annotator": np.maximum.reduce(list(given.values()))}
    votes, model = (consensus(x, given, random_state=0) for x in (None, X))
    candidates |= {"consensus, votes only": votes.labels, "consensus with model": model.labels}
    known = ~np.isnan(truth)
    lines = [(name, who, (truth != P)[known].mean(), _f1(P, truth)) for who, P in candidates.items()]
    return pd.DataFrame(lines, columns=["data", "labels", "error", "F1"])


def _rates(X, given, truth):
    """Estimated rates with their intervals, and the rates against the truth."""
    found, lines = consensus(X, given, random_state=0), []
    for who, labels in given.items():
        estimate = found.annotators.loc[who]
        for rate, value in (("sensitivity", 1), ("specificity", 0)):
            interval = (
                f"{estimate[rate]:.2f} ({estimate[rate + '_low']:.2f} to {estimate[rate + '_high']:.2f})"
            )
            lines.append((who, rate, interval, (labels == value)[truth == value].mean()))
    return pd.DataFrame(lines, columns=["annotator", "rate", "estimated", "against the truth"])


def _models(dense):
    """Return the models, paced and unpaced, each with the name of its parameter for label weights."""
    for pacing, options in (("paced", {}), ("unpaced", {"pace_function": None})):
        forest = SelfPacedForestClassifier(100, trees="joint", random_state=0, **options)
        yield "forest", pacing, forest, "label_weight"
        model = MLSPLClassifier(random_state=0, **options)
        if dense:
            yield "MLSPL", pacing, make_pipeline(StandardScaler(), model), "mlsplclassifier__label_weight"
        else:
            yield "MLSPL", pacing, model, "label_weight"


def _train(X, given, truth, groups, split) -> pd.DataFrame:
    """Scores on held-out rows of models fitted to one annotator, the majority and the consensus."""
    units = np.unique(groups)
    chosen = np.random.RandomState(split).permutation(len(units))[: int(_TRAIN * len(units))]
    train = np.isin(groups, units[chosen])
    part = {who: labels[train] for who, labels in given.items()}
    share = np.mean(list(part.values()), axis=0)
    found = consensus(X[train], part, random_state=split)
    targets = {who: (labels, None) for who, labels in part.items()}
    targets["majority"] = np.where(share == 0.5, np.nan, share > 0.5), None
    targets["consensus"] = found.labels, found.weights
    lines = []
    for label_source, (Y, weight) in targets.items():
        for name, pacing, model, parameter in _models(isinstance(X, np.ndarray)):
            model.fit(X[train], Y, **{parameter: weight})
            precision = average_precision(truth[~train], model.decision_function(X[~train]))
            lines.append(
                (name, pacing, label_source, precision, micro_f1(truth[~train], model.predict(X[~train])))
            )
    return pd.DataFrame(lines, columns=["model", "pacing", "trained on", *_SCORES]).assign(split=split)


def _training_table(results: pd.DataFrame) -> pd.DataFrame:
    """Mean scores, and the mean difference of average precision to the majority with its standard error."""
    keys = ["data", "model", "pacing", "trained on"]
    scores = results.set_index([*keys, "split"])[_SCORES]
    majority = scores.xs("majority", level="trained on")["average precision"]
    gain = scores["average precision"].unstack("trained on").sub(majority, axis=0).stack()
    by = gain.groupby(keys, sort=False)
    table = scores.groupby(keys, sort=False).mean()
    table["to majority"] = by.mean().map("{:+.3f}".format) + by.sem().map(" ± {:.3f}".format)
    table.loc[table.index.get_level_values("trained on") == "majority", "to majority"] = ""
    return table.reset_index()


def _speed() -> pd.DataFrame:
    """CPU seconds for 100,000 rows, 50 labels and 20 annotators, three of them per row."""
    rng = np.random.default_rng(0)
    n, L, A = 100_000, 50, 20
    truth = rng.random((n, L)) < 0.1
    rows, who = np.repeat(np.arange(n), 3), np.argsort(rng.random((n, A)), axis=1)[:, :3].ravel()
    said = truth[rows] ^ (rng.random((3 * n, L)) < rng.uniform(0.02, 0.1, A)[who, None])
    table = pd.DataFrame(said.astype(np.int8)).assign(row=rows, annotator=who)
    start = time.process_time()
    consensus(None, table)
    return pd.DataFrame({"seconds": [time.process_time() - start]})


def _markdown(table: pd.DataFrame) -> str:
    cells = table.map(lambda cell: f"{cell:.3f}" if isinstance(cell, float) else str(cell))
    lines = [list(cells.columns), ["---"] * cells.shape[1], *cells.to_numpy().tolist()]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _once(folder: Path, name: str, measure, *arguments) -> pd.DataFrame:
    """Return a table of the folder, which is measured and written if it is not there."""
    path = folder / f"{name}.csv"
    if not path.exists():
        write_file(path, measure(*arguments).to_csv(index=False))
    return pd.read_csv(path)


def main(folder: Path, path: Path) -> None:
    """Measure, and write the page."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = {who: load_noisy_labels("chexpert", who) for who in ("labeler", "radiologist_1")}
    chexpert = {who: data.given for who, data in sources.items()}
    X, truth = sources["labeler"].X, sources["labeler"].truth
    parts = {f"annotator {k}": load_noisy_labels("opp115", str(k)) for k in (1, 2, 3)}
    opp = {who: data.given for who, data in parts.items()}
    words = TfidfVectorizer(min_df=2, sublinear_tf=True).fit_transform(parts["annotator 1"].X)
    majority = (np.mean(list(opp.values()), axis=0) > 0.5).astype(float)
    held_out = []
    for who in opp:
        others = {name: labels for name, labels in opp.items() if name != who}
        arguments = (f"held out: {who}", others, words, opp[who].astype(float))
        held_out.append(_once(folder, f"opp115-without-{who[-1]}", _compare, *arguments))
    trained = []
    for split in range(_SPLITS):
        for name, *data in (
            ("CheXpert", X, chexpert, truth, np.arange(len(truth))),
            ("OPP-115", words, opp, majority, parts["annotator 1"].groups),
        ):
            trained.append(_once(folder, f"{name}-{split}", _train, *data, split).assign(data=name))
    tables = {
        "recovery": _once(folder, "recovery", _recovery),
        "chexpert": _once(folder, "chexpert", _compare, "CheXpert", chexpert, X, truth),
        "rates": _once(folder, "chexpert-rates", _rates, X, chexpert, truth),
        "opp": pd.concat(held_out),
        "trained": _training_table(pd.concat(trained)),
    }
    values = {name: _markdown(table) for name, table in tables.items()}
    values["seconds"] = f"{_once(folder, 'speed', _speed)['seconds'][0]:.0f}"
    values |= {"version": mlspl.__version__, "splits": str(_SPLITS)}
    write_file(path, Template(_TEMPLATE.read_text(encoding="utf-8")).substitute(values))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
