import pytest

from mlspl import pacing
from mlspl.errors import UserError


def test_every_name_gives_a_function_of_that_name():
    assert pacing.names()[:5] == ["arctan", "sigmoid", "tanh", "exponential", "gaussian"]
    assert len(set(pacing.names())) == len(pacing.names()) == 16
    for name in pacing.names():
        assert pacing.get(name).name == name


def test_an_instance_passes_through():
    function = pacing.derive("exp(-t)")
    assert pacing.get(function) is function


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ("sigmiod", "Did you mean 'sigmoid'?"),
        ("quadratic!", "The names are arctan, sigmoid"),
        (3, "Give a name, or an instance"),
        (pacing.Sigmoid, "Give a name, or an instance"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(wrong, sentence):
    with pytest.raises(UserError) as error:
        pacing.get(wrong)
    assert sentence in str(error.value)
