"""Which trials a run consists of."""

import pytest

from mlspl.datasets import load_dataset
from mlspl.errors import UserError
from mlspl.experiments import plan_trials


@pytest.fixture(scope="module")
def data():
    return {"digits-traits": load_dataset("digits-traits")}


def test_every_combination_once(data):
    trials = plan_trials(data, ["ml-knn", "tram"], splits=3, train=(0.3, 0.5), corruption="flip:.20")
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 3 * 2
    assert {trial.corruption for trial in trials} == {"flip:0.2"}
    assert {(trial.method, trial.split, trial.train) for trial in trials} == {
        (method, split, share) for method in ("ml-knn", "tram") for split in range(3) for share in (0.3, 0.5)
    }


def test_functions_are_trials_of_mlspl_and_its_own_is_not_run_twice(data):
    trials = plan_trials(data, ["mlspl-published"], splits=1, functions=["arctan", "sigmoid"])
    assert [trial.parameters["pace_function"] for trial in trials] == ["sigmoid", "arctan"]
    tuned = plan_trials(
        data, ["mlspl-published"], splits=1, functions=["arctan", "sigmoid"], tune="one_error"
    )
    assert [trial.parameters["pace_function"] for trial in tuned] == [["sigmoid"], ["arctan"]]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"methods": ["svm"]}, "no method 'svm'"),
        ({"splits": 0}, "splits; 0"),
        ({"train": (1.2,)}, "it is 1.2"),
        ({"corruption": "flip"}, "flip:0.2"),
        ({"corruption": "flip:2"}, "flip:0.2"),
        ({"corruption": "shuffle:0.2"}, "flip, missing, swap"),
        ({"tune": "accuracy"}, "no criterion 'accuracy'"),
        ({"functions": ["sigmoidal"]}, "sigmoid"),
    ],
)
def test_mistakes_are_sentences(data, options, sentence):
    with pytest.raises(UserError, match=sentence):
        plan_trials(data, **{"methods": ["ml-knn"], **options})
