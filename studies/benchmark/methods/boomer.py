"""MLRL-Boomer: boosted multi-label rules."""

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


def build(**parameters):
    from mlrl.boosting import BoomerClassifier

    return AllLabels(BoomerClassifier(**parameters), dense=True)


METHOD = Method(
    "boomer",
    "MLRL-Boomer",
    build,
    {"max_rules": 300},
    {"shrinkage": [0.1, 0.3, 0.5]},
    libraries=("mlrl-boomer",),
)
