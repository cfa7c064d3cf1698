"""scikit-learn's random forest of all labels at once."""

from sklearn.ensemble import RandomForestClassifier

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


def build(n_estimators, **parameters):
    return AllLabels(RandomForestClassifier(n_estimators, **parameters), dense=True)


METHOD = Method(
    "random-forest", "Random forest", build, {"n_estimators": 100}, {"min_samples_leaf": [1, 2, 5]}
)
