import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from mlspl.models._label_blocks import class_costs

Y = np.array([[1, 1, 0], [0, 1, 0], [0, 1, 1], [0, 1, 1]], dtype=bool)


def test_balanced_costs_are_those_of_scikit_learn():
    costs = class_costs(Y, "balanced")
    for label in (0, 2):
        absent, present = compute_class_weight("balanced", classes=np.array([False, True]), y=Y[:, label])
        np.testing.assert_allclose(costs[:, label], np.where(Y[:, label], present, absent))


def test_an_exponent_lies_between_no_balance_and_full_balance():
    np.testing.assert_array_equal(class_costs(Y, 0.0), np.ones(Y.shape))
    np.testing.assert_allclose(class_costs(Y, 0.5), np.sqrt(class_costs(Y, 1.0)))


def test_a_label_with_one_class_keeps_finite_costs():
    assert np.isfinite(class_costs(Y, "balanced")).all()


def test_shares_are_counted_in_prior_weights():
    weight = np.ones(Y.shape)
    weight[1, 0] = 0.0
    costs = class_costs(Y, "balanced", weight)
    np.testing.assert_allclose(costs[:, 0], [1.5, 0.0, 0.75, 0.75])
    assert costs[Y[:, 0], 0].sum() == pytest.approx(costs[~Y[:, 0], 0].sum())


def test_a_dict_speaks_of_the_classes_by_name():
    costs = class_costs(Y, {"yes": 3.0}, classes=("no", "yes"))
    np.testing.assert_array_equal(costs, np.where(Y, 3.0, 1.0))
    with pytest.raises(ValueError, match=r"maybe"):
        class_costs(Y, {"maybe": 3.0}, classes=("no", "yes"))


@pytest.mark.parametrize("wrong", ["equal", -1.0, np.nan])
def test_other_values_are_refused(wrong):
    with pytest.raises(ValueError, match="class_weight is"):
        class_costs(Y, wrong)
