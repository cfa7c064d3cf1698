"""Model files of allowed types with parts that no fit leaves: each is refused before anyone uses it."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import mlspl
from mlspl import load_model, pacing, save_model
from mlspl.errors import UserError
from tests.model_files import (
    X,
    Y,
    assert_same_answers,
    json_text,
    node,
    parts_of,
    put,
    rewritten,
    texts,
    unchecked,
)

MARKER = "mlspl_was_here"


def test_a_formula_in_a_file_cannot_become_code(tmp_path, monkeypatch):
    """SymPy's lambdify would run a list of strings; only text reaches our own parser."""
    monkeypatch.chdir(tmp_path)
    function = pacing.derive("exp(-t)")
    model = mlspl.SelfPacedClassifier(GaussianNB(), pace_function=function, random_state=0).fit(
        X[:30], Y[:30]
    )
    saved = save_model(model, tmp_path / "model.skops")
    hostile = json.dumps([f"__import__('os').mkdir('{MARKER}')"])

    def change(tree):
        state = tree["content"]["content"]["pace_function"]["content"]["content"]
        state["source"] = node("JsonNode", "builtins", "str", content=hostile)

    def alias(tree):
        attributes = tree["content"]["content"]
        attributes["n_folds"] = node("JsonNode", "builtins", "str", content=hostile, __id__=4242)
        tree["content"]["content"] = {"n_folds": attributes.pop("n_folds"), **attributes}
        attributes["pace_function"]["content"]["content"]["source"]["__id__"] = 4242

    for trick, message in (
        (change, "a curve is a function, a formula"),
        (alias, "different objects under one id"),
    ):
        with pytest.raises(UserError, match=message):
            load_model(rewritten(saved, tmp_path, trick))
    assert not (tmp_path / MARKER).exists()


def test_how_to_run_is_for_the_user_to_say(tmp_path):
    """A file with n_jobs=40 started 40 processes on predict; one with a cache wrote and unpickled there."""
    learner = mlspl.SelfPacedClassifier(LogisticRegression(), random_state=0, verbose=0)
    model = make_pipeline(StandardScaler(), learner).fit(X[:, :5], np.nan_to_num(Y))
    model.set_params(memory=str(tmp_path / "cache"), verbose=True, selfpacedclassifier__n_jobs=40)
    model.set_params(selfpacedclassifier__estimator__n_jobs=40)
    again = load_model(save_model(model, tmp_path / "model.skops"))
    asked = {name: value for name, value in again.get_params().items() if "n_jobs" in name}
    assert set(asked.values()) == {None}
    assert (again.memory, again.verbose, again[-1].verbose) == (None, False, 0)
    neighbours = mlspl.MLkNNClassifier(k=3, n_jobs=40).fit(X, Y)
    again = load_model(save_model(neighbours, tmp_path / "model.skops"))
    assert (again.n_jobs, again._neighbours.n_jobs) == (None, None)
    assert_same_answers(neighbours, again, X)


@pytest.mark.parametrize("rows", [0, 1, 59])
def test_neighbours_that_are_not_there_are_refused(tmp_path, rows):
    """A sparse product would read the labels of rows beyond the table."""
    model = mlspl.MLkNNClassifier(k=3).fit(X, np.nan_to_num(Y))
    model._carried = model._carried[:rows]
    with pytest.raises(UserError, match="was refused"):
        load_model(unchecked(model, tmp_path))


WRONG_PARTS = [
    ("_carried", np.zeros((60, 3)), "labels"),
    ("_carried", np.zeros((60, 4), dtype=np.float32).astype(str), "float"),
    ("neighbour_counts_", np.zeros((2, 4, 9)), "counts do not fit"),
    ("label_counts_", np.zeros(2), "no array"),
    ("label_names_", np.array([1, 2, 3, 4]), "text"),
    ("n_features_in_", "64", "no int"),
    ("_neighbours", [1], "of type list"),
    ("extra", 3, "part 'extra'"),
    ("metric_params", {"w": sparse.csr_matrix((2, 10**9))}, "sparse matrix, where none belongs"),
    ("_target_dtype", np.dtype("U9"), "no dtype"),
]


@pytest.mark.parametrize(("name", "part", "message"), WRONG_PARTS)
def test_parts_that_are_not_as_declared_are_refused(tmp_path, name, part, message):
    model = mlspl.MLkNNClassifier(k=3).fit(X, np.nan_to_num(Y))
    setattr(model, name, part)
    with pytest.raises(UserError, match=message):
        load_model(unchecked(model, tmp_path))


VECTORIZERS = [
    ({"vocabulary_": {"cat": 0, "dog": 10**6}}, "not numbered from 0 on"),
    ({"vocabulary_": {"cat": 0, "dog": 0}}, "not numbered from 0 on"),
    ({"input": "filename"}, "another input"),
    ({"token_pattern": "(a+)+$"}, "another token_pattern"),
    ({"analyzer": "eval"}, "an analyzer"),
    ({"ngram_range": (1, 10**9)}, "n-grams longer"),
]


@pytest.mark.parametrize(("change", "message"), VECTORIZERS)
def test_a_vocabulary_outside_its_columns_is_refused(tmp_path, change, message):
    """Compiled code would write there; and rows that are file names would be opened."""
    words = pd.Series(["cat and dog", "dog", "__init__ cat"] * 20)
    model = make_pipeline(TfidfVectorizer(), mlspl.MLkNNClassifier(k=3)).fit(words, Y)
    assert_same_answers(model, load_model(save_model(model, tmp_path / "model.skops")), words)
    vars(model[0]).update(change)
    with pytest.raises(UserError, match=message):
        load_model(unchecked(model, tmp_path))


def test_a_sparse_matrix_with_wild_indices_is_refused(tmp_path):
    """Compiled code would follow them out of the array."""
    model = mlspl.BSVMClassifier().fit(sparse.csr_array(X), Y)
    model.model_.X.indices[0] = 2**30
    with pytest.raises(UserError, match="damaged"):
        load_model(unchecked(model, tmp_path))


def colours():
    """A model with an encoder, fitted, and its table."""
    frame = pd.DataFrame({"a": np.arange(60.0), "colour": [f"c{i:02}" for i in range(60)]})
    columns = make_column_transformer((OneHotEncoder(), ["colour"]), sparse_threshold=0)
    return make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y), frame


def too_few_columns(tree):
    for encoder in parts_of(tree, "OneHotEncoder"):
        if "_n_features_outs" in encoder["content"]:
            encoder["content"]["_n_features_outs"]["content"] = [json_text(1)]


def test_an_encoder_lays_out_its_columns_anew(tmp_path):
    """Its columns are laid out by one attribute and filled by another; compiled code checks neither."""
    model, frame = colours()
    saved = save_model(model, tmp_path / "model.skops")
    assert_same_answers(model, load_model(rewritten(saved, tmp_path, too_few_columns)), frame)


@pytest.mark.parametrize("name", ["__getstate__", "__class__", "get_params", "fit"])
@pytest.mark.parametrize("kind", ["ColumnTransformer", "OneHotEncoder", "Pipeline", "MLkNNClassifier"])
def test_no_part_takes_the_place_of_a_method(tmp_path, kind, name):
    """A shadowed __getstate__ hid everything below it from the check: mlspl predict died in compiled code."""
    model, _ = colours()

    def shadow(tree):
        too_few_columns(tree)
        put(parts_of(tree, kind)[0], name, node("TypeNode", "builtins", "str"))

    saved = save_model(model, tmp_path / "model.skops")
    with pytest.raises(UserError, match=f"part '{name}'"):
        load_model(rewritten(saved, tmp_path, shadow))


@pytest.mark.parametrize("kind", ["JsonNode", "ListNode"])
def test_the_parts_of_an_object_are_a_dict(saved, tmp_path, kind):
    """dict.update takes pairs and JSON as well."""
    pair = texts("ListNode", "__getstate__", "x")
    state = texts("ListNode") | {"content": [pair]}
    if kind == "JsonNode":
        state = node("JsonNode", "builtins", "str", content='{"__getstate__": 1}')
    with pytest.raises(UserError, match="parts have no names"):
        load_model(rewritten(saved, tmp_path, lambda tree: tree.update(content=state)))


def test_numeric_categories_out_of_order_are_refused(tmp_path):
    """A search by halves in them ends outside them."""
    frame = pd.DataFrame({"size": np.arange(60.0) % 4})
    columns = make_column_transformer((OneHotEncoder(), ["size"]), sparse_threshold=0)
    model = make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y)
    assert_same_answers(model, load_model(save_model(model, tmp_path / "model.skops")), frame)
    encoder = model[0].named_transformers_["onehotencoder"]
    for wrong in ([3.0, 1.0, 2.0, 0.0], [0.0, 1.0, 1.0, 2.0], []):
        encoder.categories_ = [np.array(wrong)]
        with pytest.raises(UserError, match="categories out of order"):
            load_model(unchecked(model, tmp_path))


@pytest.mark.parametrize("part", ["_closed", "_functions", "_evaluate", "_numeric", "name"])
@pytest.mark.parametrize("family", ["scale", "shift"])
def test_a_derived_function_takes_nothing_but_its_parameters(tmp_path, monkeypatch, part, family):
    """A forged closed form reached SymPy's lambdify, which runs text as code, on the next fit."""
    monkeypatch.chdir(tmp_path)
    function = pacing.derive("exp(-t)" if family == "scale" else "1/(1+exp(t))", family=family)
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X[:30], Y[:30])
    hostile = json_text([f"__import__('os').mkdir('{MARKER}') or v"])
    inner = node(
        "DictNode",
        "builtins",
        "dict",
        content={"inverse": hostile, "penalty": hostile},
        key_types=node("ListNode", "builtins", "list", content=[node("TypeNode", "builtins", "str")] * 2),
    )
    forged = node("ObjectNode", "mlspl.correlation.regressors", "CodeRidge", content=inner)
    saved = save_model(model, tmp_path / "model.skops")

    def change(tree):
        put(tree["content"]["content"]["pace_function"]["content"], part, forged)

    with pytest.raises(UserError, match="no such parts"):
        load_model(rewritten(saved, tmp_path, change)).fit(X, Y)
    assert not (tmp_path / MARKER).exists()


@pytest.mark.parametrize("exponent", ["__import__('os').mkdir('x')", -1.0, True, None, [2.0], float("nan")])
def test_the_exponent_of_a_derived_function_is_a_number(tmp_path, exponent):
    """Text reached SymPy's nsimplify on latex()."""
    model = mlspl.SelfPacedClassifier(GaussianNB(), pacing.derive("exp(-t)"), random_state=0)
    saved = save_model(model.fit(X[:30], Y[:30]), tmp_path / "model.skops")

    def change(tree):
        tree["content"]["content"]["pace_function"]["content"]["content"]["exponent"] = json_text(exponent)

    with pytest.raises(UserError, match="exponent of the pace"):
        load_model(rewritten(saved, tmp_path, change))


@pytest.mark.parametrize(
    ("function", "name", "value"),
    [
        (pacing.Polynomial(3.0), "degree", "3"),
        (pacing.Diversity(1.0), "gamma", -1.0),
        (pacing.Mixture(), "gamma", None),
    ],
)
def test_parameters_that_the_constructor_refuses_are_refused(tmp_path, function, name, value):
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X[:30], Y[:30])
    object.__setattr__(function, name, value)
    with pytest.raises(UserError, match="was refused"):
        load_model(unchecked(model, tmp_path))


def test_an_encoder_that_drops_categories_needs_trust(tmp_path):
    _, frame = colours()
    columns = make_column_transformer((OneHotEncoder(drop="first"), ["colour"]))
    with pytest.raises(UserError, match="drops or groups categories"):
        save_model(
            make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y), tmp_path / "dropped.skops"
        )
    trusted = ["sklearn.preprocessing._encoders.OneHotEncoder"]
    model = make_pipeline(columns, mlspl.MLkNNClassifier(k=3)).fit(frame, Y)
    path = save_model(model, tmp_path / "dropped.skops", trusted=trusted)
    assert_same_answers(model, load_model(path, trusted=trusted), frame)


def test_a_random_state_outside_its_range_is_refused(tmp_path):
    model = mlspl.MLLOCClassifier(max_steps=1, random_state=np.random.RandomState(0)).fit(X, Y)
    saved = save_model(model, tmp_path / "model.skops")

    def change(tree):
        state = tree["content"]["content"]["random_state"]["content"]["content"]["state"]
        state["content"]["pos"]["content"] = "100000"

    with pytest.raises(UserError, match="outside its range"):
        load_model(rewritten(saved, tmp_path, change))


@pytest.mark.parametrize("name", ["_doc_link_module", "_HTMLDocumentationLinkMixin__doc_link_template"])
def test_no_part_changes_where_scikit_learn_sends_people(tmp_path, name):
    """A notebook shows an estimator with a link to its documentation, which such a part would set."""
    saved = save_model(
        make_pipeline(StandardScaler(), mlspl.MLkNNClassifier(k=3)).fit(X, Y), tmp_path / "m.skops"
    )
    for kind in ("StandardScaler", "MLkNNClassifier", "Pipeline"):

        def change(tree, kind=kind):
            put(parts_of(tree, kind)[0], name, json_text("javascript:alert(1)"))

        with pytest.raises(UserError, match=f"part '{name}'"):
            load_model(rewritten(saved, tmp_path, change))


@pytest.mark.parametrize("protocol", [0, 1, True, "2", None])
def test_protocols_that_mlspl_never_wrote_are_refused(saved, tmp_path, protocol):
    """Older ones name functions elsewhere than where the check looks."""
    with pytest.raises(UserError, match="was refused"):
        load_model(rewritten(saved, tmp_path, lambda tree: tree.update(protocol=protocol)))


def test_a_version_that_is_none_warns_of_nothing(tmp_path):
    model = make_pipeline(StandardScaler(), mlspl.MLkNNClassifier(k=3)).fit(X, Y)

    def change(tree):
        parts_of(tree, "StandardScaler")[0]["content"]["_sklearn_version"] = json_text("\x1b[2J")

    with pytest.raises(UserError, match="no version"):
        load_model(rewritten(save_model(model, tmp_path / "model.skops"), tmp_path, change))


def test_more_columns_than_the_model_takes_are_refused(saved, tmp_path):
    """Rows would have been widened to as many."""
    with zipfile.ZipFile(saved) as archive:
        schema = json.loads(archive.read("mlspl.json"))["schema"]
    path = rewritten(saved, tmp_path, info={"schema": {**schema, "names": None, "n_features": 10**12}})
    with pytest.raises(UserError, match="1000000000000 columns, and its model 64"):
        load_model(path)
