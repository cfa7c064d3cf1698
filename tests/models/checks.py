"""scikit-learn's checks of an estimator, with what cannot hold of weights."""

from functools import partial

from sklearn.utils.estimator_checks import parametrize_with_checks

# Of scikit-learn's own, SVC and the forests are excused for the same reason.
_ROWS = (
    "Folds, draws, neighbours and codes are made of rows: a row of weight 2 is in one fold, two rows are in "
    "two. Where nothing of the kind is used, test_sample_weight.py holds the scores to it."
)
NOT_EQUIVALENT = {f"check_sample_weight_equivalence_on_{kind}_data": _ROWS for kind in ("dense", "sparse")}

scikit_learn_checks = partial(parametrize_with_checks, expected_failed_checks=lambda _: NOT_EQUIVALENT)
