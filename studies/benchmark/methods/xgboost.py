"""XGBoost with vector leaves: trees of all labels at once."""

from mlspl.recipes import Method
from studies.benchmark.adapters import AllLabels


def build(**parameters):
    from xgboost import XGBClassifier

    trees = XGBClassifier(multi_strategy="multi_output_tree", tree_method="hist", n_jobs=1, **parameters)
    return AllLabels(trees, dense=True)


METHOD = Method(
    "xgboost",
    "XGBoost (vector leaves)",
    build,
    {"n_estimators": 30, "learning_rate": 0.2, "max_bin": 31},
    {"max_depth": [3, 5, 8]},
    libraries=("xgboost",),
)
