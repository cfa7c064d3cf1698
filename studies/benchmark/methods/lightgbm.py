"""LightGBM, a model a label."""

from mlspl.recipes import Method
from studies.benchmark.adapters import PerLabel


def build(**parameters):
    from lightgbm import LGBMClassifier

    return PerLabel(LGBMClassifier(n_jobs=1, verbose=-1, **parameters), least=5)


METHOD = Method(
    "lightgbm",
    "LightGBM",
    build,
    {"n_estimators": 30, "learning_rate": 0.2, "min_child_samples": 5, "max_bin": 31},
    {"num_leaves": [4, 8, 16]},
    libraries=("lightgbm",),
)
