"""scikit-multilearn-ng's ML-kNN, for the record."""

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


def build(**parameters):
    from skmultilearn.adapt import MLkNN

    return AllLabels(MLkNN(**parameters))


METHOD = Method(
    "skml-ml-knn", "ML-kNN (skml)", build, {}, {"k": [5, 10, 20]}, libraries=("scikit-multilearn-ng",)
)
