"""How long a fit takes is foretold by fits in the space of all rows, not in that of a sample."""

import numpy as np
import pytest
from scipy import sparse

from mlspl import BSVMClassifier, MLkNNClassifier, MLSPLClassifierCV
from mlspl.cli.fit import _settle_space


@pytest.mark.parametrize(
    ("n_rows", "is_sparse", "space"),
    [(8000, True, "gram"), (8001, True, "linear"), (8001, False, "nystroem")],
)
@pytest.mark.parametrize("estimator", [BSVMClassifier, MLSPLClassifierCV])
def test_samples_are_fitted_where_all_rows_are(estimator, n_rows, is_sparse, space):
    table = sparse.random(n_rows, 3, 0.5, format="csr", random_state=0) if is_sparse else np.ones((n_rows, 3))
    model = estimator()
    _settle_space(model, table, 2)
    assert model.space == space


def test_what_was_asked_for_and_what_has_no_space_stay():
    given, other = BSVMClassifier(space="linear"), MLkNNClassifier()
    for model in (given, other):
        before = repr(model)
        _settle_space(model, np.ones((9000, 2)), 2)
        assert repr(model) == before
