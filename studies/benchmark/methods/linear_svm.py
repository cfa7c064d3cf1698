"""Linear support vector machines, one against the rest."""

from sklearn.svm import LinearSVC

from mlspl.recipes import Method
from studies.benchmark.adapters import PerLabel


def build(C):
    return PerLabel(LinearSVC(C=C, class_weight="balanced", tol=1e-3, max_iter=500))


METHOD = Method("linear-svm", "Linear SVM", build, {}, {"C": [0.001, 0.01, 0.1]})
