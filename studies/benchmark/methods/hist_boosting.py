"""scikit-learn's histogram gradient boosting, a model a label."""

from sklearn.ensemble import HistGradientBoostingClassifier

from mlspl.recipes import Method
from studies.benchmark.adapters import PerLabel


def build(**parameters):
    return PerLabel(HistGradientBoostingClassifier(early_stopping=False, **parameters), least=5)


DEFAULTS = {"max_iter": 10, "learning_rate": 0.3, "min_samples_leaf": 5, "max_bins": 31}
METHOD = Method("hist-boosting", "HistGB", build, DEFAULTS, {"max_leaf_nodes": [4, 8, 16]})
