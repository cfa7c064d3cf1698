"""Label errors, noise rates and the difficulty of pairs, for any model.

`audit` takes data; `label_issues`, `noise_rates` and `wrong_shares` take labels and out-of-sample
probabilities, `row_scores` takes suspicions, `difficulty` the trace of a paced fit. The displays draw them.
"""

from mlspl.curriculum.audit import LEAST_SUSPICION, Audit, audit
from mlspl.curriculum.consensus import Consensus, consensus
from mlspl.curriculum.difficulty import Difficulty, difficulty
from mlspl.curriculum.issues import label_issues, noise_rates, row_scores
from mlspl.curriculum.plotting import AnnotatorDisplay, NoiseDisplay
from mlspl.noise import wrong_shares

__all__ = [
    "LEAST_SUSPICION",
    "AnnotatorDisplay",
    "Audit",
    "Consensus",
    "Difficulty",
    "NoiseDisplay",
    "audit",
    "consensus",
    "difficulty",
    "label_issues",
    "noise_rates",
    "row_scores",
    "wrong_shares",
]
