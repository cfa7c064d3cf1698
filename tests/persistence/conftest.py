"""A model file that several tests look at and change copies of."""

import pytest

from mlspl import MLkNNClassifier, save_model
from tests.model_files import X, Y


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The file of a small model."""
    path = tmp_path_factory.mktemp("models") / "model.skops"
    return save_model(MLkNNClassifier(k=3).fit(X, Y), path)
