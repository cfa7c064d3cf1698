"""What is saved comes back to the last bit, or is refused by name."""

import io
import zipfile
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import mlspl
from mlspl import BSVMClassifier, load_model, pacing, save_model
from mlspl.errors import UserError
from mlspl.persistence import TRUSTED_TYPES, read_model_info
from tests.model_files import NEW, X, Y, assert_same_answers, rewritten


def functions():
    derived = [pacing.derive("1/(1+t**2)"), pacing.derive("1/(1+exp(t))", family="shift")]
    return [*map(pacing.get, pacing.names()), pacing.Polynomial(degree=4.0), *derived]


def schedules():
    return [
        pacing.GeometricPace(0.5, 1.3, 2),
        pacing.QuantilePace(0.7, 0.9, 2, per="label"),
        pacing.NoisePace(np.full((2, 4), 0.2)),
    ]


MODELS = [
    mlspl.BSVMClassifier(),
    mlspl.BSVMClassifier(kernel="linear", class_weight={0: 1.0, 1: 2.0}),
    mlspl.MLkNNClassifier(k=3),
    mlspl.TRAMClassifier(k=3),
    mlspl.RankSVMClassifier(gamma="scale"),
    mlspl.MLLOCClassifier(max_steps=2, regressor="ridge", random_state=3),
    mlspl.MLSPLClassifier(n_codes=3),
    mlspl.MLSPLClassifier.as_published(max_steps=2, random_state=0),
    mlspl.MLSPLClassifierCV(budget="fast", C=(1.0,), quantiles=(0.9,), random_state=0),
    mlspl.SelfPacedClassifier(LogisticRegression(C=0.1), random_state=0),
    mlspl.SelfPacedClassifier(GaussianNB(), random_state=0),
    mlspl.TunedDecisionClassifier(mlspl.BSVMClassifier()),
    make_pipeline(StandardScaler(), mlspl.TunedDecisionClassifier(mlspl.RankSVMClassifier(gamma="scale"))),
]


def roundtrip(model, folder, **options):
    return load_model(save_model(model, folder / "model.skops", proba=True, **options))


def cases():
    for model in MODELS:
        yield pytest.param(model, np.asarray, id=f"{str(model)[:40]} dense")
        if "GaussianNB" not in str(model) and not hasattr(model, "steps"):
            yield pytest.param(model, sparse.csr_array, id=f"{str(model)[:40]} sparse")
    for model in (MODELS[0], MODELS[2]):
        yield pytest.param(model, sparse.csr_matrix, id=f"{model} csr_matrix")


@pytest.mark.parametrize(("model", "container"), list(cases()))
def test_a_loaded_model_answers_to_the_last_bit(model, container, tmp_path):
    model.fit(container(X), Y)
    again = roundtrip(model, tmp_path)
    assert_same_answers(model, again, container(NEW))
    assert again.get_params().keys() == model.get_params().keys()


@pytest.mark.parametrize("function", functions(), ids=repr)
def test_every_self_paced_function_can_be_saved(function, tmp_path):
    schedule = pacing.GeometricPace(0.5, 1.1, 1)
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, schedule, random_state=0).fit(X[:30], Y[:30])
    again = roundtrip(model, tmp_path)
    assert again.pace_function == function
    loss = np.linspace(0.0, 3.0, 20)
    np.testing.assert_array_equal(again.pace_function.weight(loss, 0.7), function.weight(loss, 0.7))


@pytest.mark.parametrize("schedule", schedules(), ids=repr)
def test_every_schedule_can_be_saved(schedule, tmp_path):
    model = mlspl.SelfPacedClassifier(GaussianNB(), schedule=schedule, random_state=0).fit(X[:30], Y[:30])
    assert roundtrip(model, tmp_path).schedule == schedule


def test_names_survive_and_a_frame_predicts_through_categories(tmp_path):
    frame = pd.DataFrame(X[:, :5].copy(), columns=list("abcde"))
    frame["colour"] = np.where(X[:, 20] > 0.3, "red", "blue")
    frame.loc[3, "a"] = np.nan
    columns = make_column_transformer(
        (SimpleImputer(strategy="median"), list("abcde")),
        (OneHotEncoder(handle_unknown="ignore"), ["colour"]),
        sparse_threshold=0,
    )
    model = make_pipeline(columns, StandardScaler(), mlspl.MLkNNClassifier(k=3))
    model.fit(frame, pd.DataFrame(Y, columns=["even", "prime", "loop", "round"]))
    path = save_model(model, tmp_path / "model.skops", summary={"rows": 60})
    assert_same_answers(model, load_model(path), frame.assign(colour="green"))
    info = read_model_info(path)
    assert list(info.schema.names) == [*"abcde", "colour"]
    assert info.label_names == ["even", "prime", "loop", "round"]
    assert info.schema.kinds["colour"] == "categorical"
    assert info.schema.categories == {"colour": ["blue", "red"]}
    assert (info.summary, info.versions["mlspl"]) == ({"rows": 60}, mlspl.__version__)
    assert info.versions.keys() >= {"python", "numpy", "scikit-learn", "skops"}


@pytest.mark.parametrize("model", [mlspl.BSVMClassifier(), mlspl.RankSVMClassifier(gamma="scale")])
def test_the_training_rows_stay_at_home(model, tmp_path):
    """Kernel machines hold support vectors; of the rest of the rows nothing is in the file."""
    path = save_model(model.fit(X, Y), tmp_path / "model.skops")
    with zipfile.ZipFile(path) as archive:
        arrays = [np.load(io.BytesIO(archive.read(name))) for name in archive.namelist() if ".npy" in name]
    assert sum(array.size for array in arrays if array.shape[-1:] == X.shape[-1:]) == len(model.support_) * 64


@pytest.mark.parametrize("model", [mlspl.BSVMClassifier(), mlspl.RankSVMClassifier(gamma="scale")])
def test_probabilities_are_in_the_file_where_they_were_asked_for(model, tmp_path):
    path = tmp_path / "model.skops"
    model.fit(X, Y)
    without = load_model(save_model(model, path))
    np.testing.assert_array_equal(without.decision_function(NEW), model.decision_function(NEW))
    with pytest.raises(UserError, match=r"saved without probabilities.*proba=True"):
        without.predict_proba(NEW)
    # The model itself is as it was.
    probabilities = model.predict_proba(NEW)
    np.testing.assert_array_equal(load_model(save_model(model, path)).predict_proba(NEW), probabilities)
    model.fit(X, Y)
    np.testing.assert_array_equal(
        load_model(save_model(model, path, proba=True)).predict_proba(NEW), probabilities
    )


def test_a_model_of_too_few_rows_for_folds_is_saved_all_the_same(tmp_path):
    model = mlspl.BSVMClassifier().fit(X[:1], Y[1:2])
    again = roundtrip(model, tmp_path)
    np.testing.assert_array_equal(again.decision_function(NEW), model.decision_function(NEW))


def test_what_a_file_cannot_hold_is_refused_when_it_is_saved(tmp_path):
    def cosine(A, B):
        return A @ B.T

    lambdas = mlspl.SelfPacedClassifier(GaussianNB(), pace_function=pacing.derive(lambda t: np.exp(-t)))
    cases = [
        (mlspl.BSVMClassifier(kernel=cosine), r"BSVMClassifier\.kernel .*cosine"),
        (lambdas, r"DerivedScale\.source"),
        (mlspl.MLLOCClassifier(max_steps=1, random_state=np.random.RandomState(0)), "RandomState"),
        (make_pipeline(FunctionTransformer(np.abs), mlspl.BSVMClassifier()), "FunctionTransformer"),
        (mlspl.SelfPacedClassifier(DecisionTreeClassifier()), "sklearn.tree"),
    ]
    for model, message in cases:
        with pytest.raises(UserError, match=message):
            save_model(model.fit(X, Y), tmp_path / "model.skops")
    with pytest.raises(UserError, match="fitted"):
        save_model(mlspl.BSVMClassifier(), tmp_path / "model.skops")
    with pytest.raises(UserError, match="fitted"):
        save_model("text", tmp_path / "model.skops")
    with pytest.raises(UserError, match="JSON"):
        save_model(MODELS[2].fit(X, Y), tmp_path / "model.skops", summary={"rows": np.int64(60)})
    with pytest.raises(UserError, match="same name"):
        save_model(MODELS[2].fit(X, Y), tmp_path / "model.skops", label_names=list("abca"))
    with pytest.raises(UserError, match="does not exist"):
        save_model(mlspl.MLkNNClassifier(k=3).fit(X, Y), tmp_path / "nowhere" / "model.skops")
    assert not any(tmp_path.iterdir())


def test_a_file_of_an_older_version_loads(saved, tmp_path):
    versions = {"mlspl": "0.0.1", "numpy": "1.26.0"}
    path = rewritten(saved, tmp_path, info={"versions": versions})
    assert_same_answers(load_model(saved), load_model(path), NEW)


def test_a_file_of_an_older_format_says_so(saved, tmp_path):
    path = rewritten(saved, tmp_path, info={"versions": {"mlspl": "0.1.0"}, "format": 1})
    with pytest.raises(UserError, match=r"0\.1\.0 .*format 1\b"):
        load_model(path)


def test_a_file_of_a_newer_format_says_so(saved, tmp_path):
    path = rewritten(saved, tmp_path, info={"versions": {"mlspl": "9.9"}, "format": 99})
    for read in (load_model, read_model_info):
        with pytest.raises(UserError, match=r"9\.9 .*format 99\b"):
            read(path)


def test_a_type_that_is_gone_is_named_with_the_version_that_wrote_it(saved, tmp_path):
    def rename(tree):
        tree["__class__"] = "OldClassifier"

    path = rewritten(saved, tmp_path, rename, info={"versions": {"mlspl": "0.0.1"}})
    with pytest.raises(UserError, match=r"models\.mlknn\.OldClassifier.*mlspl 0\.0\.1 wrote it"):
        load_model(path)


def test_an_object_in_two_places_is_saved(tmp_path):
    """It is written twice under one id, with parts that have other ids each time."""
    function = pacing.derive("1/(1+t**2)")
    model = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0).fit(X, np.nan_to_num(Y))
    model.estimator = mlspl.SelfPacedClassifier(GaussianNB(), function, random_state=0)
    assert_same_answers(model, roundtrip(model, tmp_path, label_names=list("abcd")), NEW)


def test_the_published_list_names_only_what_exists_and_is_harmless():
    """Our own classes, plain data, and scikit-learn estimators; no functions."""
    things = [
        getattr(import_module(module), name) for module, _, name in (n.rpartition(".") for n in TRUSTED_TYPES)
    ]
    assert all(isinstance(thing, type) for thing in things)
    homes = {"builtins", "numpy", "scipy", "sklearn", "mlspl"}
    assert {name.partition(".")[0] for name in TRUSTED_TYPES} == homes
    assert {name for name in TRUSTED_TYPES if name.startswith("builtins.")} == {
        f"builtins.{kind.__name__}" for kind in (bool, int, float, str, list, tuple, dict, slice)
    }
    assert not [name for name in TRUSTED_TYPES if "FunctionTransformer" in name or "sklearn.tree" in name]


def test_names_of_another_number_are_refused_before_anything_is_written(tmp_path):
    model = BSVMClassifier().fit(np.eye(6), np.eye(6, dtype=int)[:, :2])
    with pytest.raises(UserError, match="label_names has 1 names, and the model has 2 labels"):
        save_model(model, tmp_path / "model.skops", label_names=["a"])
    assert not list(tmp_path.iterdir())
