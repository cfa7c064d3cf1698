"""scikit-learn's extremely randomised trees of all labels at once."""

from sklearn.ensemble import ExtraTreesClassifier

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


def build(n_estimators, **parameters):
    return AllLabels(ExtraTreesClassifier(n_estimators, **parameters), dense=True)


METHOD = Method("extra-trees", "ExtraTrees", build, {"n_estimators": 100}, {"min_samples_leaf": [1, 2, 5]})
