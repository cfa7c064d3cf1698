"""MLRL-Boomer: boosted multi-label rules."""

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


class Boomer(AllLabels):
    """Its seeds begin with 1, where everybody else's begin with 0."""

    def _copy(self):
        seed = self.estimator.random_state
        return super()._copy().set_params(random_state=None if seed is None else seed + 1)


def build(**parameters):
    from mlrl.boosting import BoomerClassifier

    steps = ("rule_refinement", "statistic_update", "prediction")
    one_thread = {f"parallel_{step}": "false" for step in steps}
    return Boomer(BoomerClassifier(**one_thread, **parameters), dense=True)


METHOD = Method(
    "boomer",
    "MLRL-Boomer",
    build,
    {"max_rules": 300},
    {"shrinkage": [0.1, 0.3, 0.5]},
    libraries=("mlrl-boomer",),
)
