import numpy as np
import pytest

from mlspl.curriculum import difficulty
from mlspl.errors import UserError
from mlspl.pacing import Trace


def test_pairs_that_enter_later_are_harder_and_losses_tell_equals_apart():
    trace = Trace((2, 2))
    trace.add(np.array([[0.1, 0.2], [1.0, 3.0]]), np.array([[1.0, 0.8], [0.2, 0.0]]))
    trace.add(np.array([[0.1, 0.2], [0.5, 3.0]]), np.array([[1.0, 0.9], [0.6, 0.0]]))
    found = difficulty(trace)
    assert found.pairs == pytest.approx(np.array([[0, 1 / 3], [2 / 3, 1]]))
    assert found.labels == pytest.approx([1 / 3, 2 / 3])
    assert found.rows == pytest.approx([1 / 6, 5 / 6])


def test_a_trace_without_steps_is_refused():
    with pytest.raises(UserError, match="no steps"):
        difficulty(Trace((2, 2)))
