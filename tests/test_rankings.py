"""On no data set does a method rank labels worse than their frequencies alone do."""

import warnings

import numpy as np
import pytest

from mlspl.datasets import EMBEDDED, load_dataset, locate_dataset
from mlspl.recipes import METHODS, Recipe, Schema, get_method, take_rows

DATASETS = [
    EMBEDDED, "flags", "emotions", "scene", "yeast", "enron", "medical", "bibtex", "delicious", "tmc2007-500",
    "imdb",
]  # fmt: skip
# A sample of the rows and labels of each set, so that all methods together take seconds.
N_TRAIN, N_TEST, N_LABELS = 200, 300, 20
SMALLER = {
    "mlspl-cv": {"budget": "fast", "n_estimators": 30},
    "forest": {"n_estimators": 30},
    "extra-trees": {"n_estimators": 30},
}

# Two hundred rows of imdb say next to nothing of its genres. Methods of the paper and scikit-learn's trees
# have no held-out scores to learn that from, and thirty paced trees too noisy ones; it takes more fits, which
# are asked for: +. With more of the rows they rank above the frequencies by themselves: a hundred trees,
# paced or not, from 6,000 rows on, which would take minutes here, and these of LARGER.
ASKED = {
    "delicious": ("bsvm", "ml-loc", "extra-trees"),
    "imdb": ("bsvm", "ml-loc", "ranksvm", "forest", "extra-trees", "logistic"),
}
LARGER = {"delicious": (2_000, ("bsvm",)), "imdb": (36_000, ("bsvm", "ml-loc"))}


def sample(name, n_train=N_TRAIN, n_test=N_TEST, n_labels=N_LABELS):
    """Training and test rows; labels from the most frequent to the rarest."""
    data = load_dataset(name, encode=False)
    rows = np.random.RandomState(100).permutation(data.Y.shape[0])[: n_train + n_test]
    n_train = min(n_train, int(0.4 * len(rows)))
    Y = data.Y[rows]
    Y = np.asarray(Y if isinstance(Y, np.ndarray) else Y.toarray())
    counts = Y[:n_train].sum(axis=0)
    order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    labels = order[np.unique(np.linspace(0, len(order) - 1, n_labels).astype(int))]
    schema = Schema.from_dataset(data)
    table = take_rows(schema.match(data)[0], rows)
    train, test = np.arange(n_train), np.arange(n_train, len(rows))
    return schema, [take_rows(table, part) for part in (train, test)], Y[train][:, labels], Y[test][:, labels]


def precisions(Y, scores):
    """Average precision of every row that has present and absent labels."""
    mixed = Y.any(axis=1) & ~Y.all(axis=1)
    ranked = np.take_along_axis(Y[mixed], np.argsort(-scores[mixed], axis=1, kind="stable"), axis=1)
    at = np.cumsum(ranked, axis=1) / np.arange(1, Y.shape[1] + 1)
    return (at * ranked).sum(axis=1) / ranked.sum(axis=1)


def find_below(part, methods):
    """Methods that rank below the frequencies by more than the luck of the test rows.

    That is two standard errors of the difference.
    """
    schema, (X, X_test), Y, Y_test = part
    alone = precisions(Y_test, np.broadcast_to(Y.mean(axis=0), Y_test.shape))
    below = {}
    for name in methods:
        method = get_method(name)
        settings = method.settings("") | SMALLER.get(name.rstrip("+"), {})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = Recipe(method, schema).build(settings).fit(X, Y)
        gain = precisions(Y_test, model.decision_function(X_test)) - alone
        if gain.mean() < -2 * gain.std(ddof=1) / np.sqrt(len(gain)):
            below[name] = round(gain.mean(), 3)
    return below


def skip_unless_there(name, request):
    if name != EMBEDDED:
        request.getfixturevalue("data_home")
        if locate_dataset(name) is None:
            pytest.skip(f"{name} is not on this machine")


@pytest.mark.parametrize("name", DATASETS)
def test_no_method_ranks_below_the_frequencies(name, request):
    skip_unless_there(name, request)
    methods = [
        f"{method}+" if method in ASKED.get(name, ()) else method for method in METHODS if method != "net"
    ]
    assert not find_below(sample(name), methods)


@pytest.mark.parametrize("name", LARGER)
def test_nor_of_more_rows_and_all_labels(name, request):
    skip_unless_there(name, request)
    n_train, methods = LARGER[name]
    assert not find_below(sample(name, n_train, n_train, n_labels=10_000), methods)
