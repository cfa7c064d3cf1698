"""What was easy, what was hard and what is probably mislabelled: for any model, from arrays and traces.

`audit` takes data; `label_issues` and `noise_rates` take labels and out-of-sample probabilities,
`row_scores` what they found; `difficulty` takes the trace of a paced fit. The displays draw what was found.
"""

from mlspl.curriculum._sources import suited_models
from mlspl.curriculum.audit import Audit, audit
from mlspl.curriculum.difficulty import Difficulty, difficulty
from mlspl.curriculum.issues import label_issues
from mlspl.curriculum.plotting import (
    DifficultyDisplay,
    EntryDisplay,
    NoiseDisplay,
    plot_difficulty,
    plot_entry,
    plot_noise,
)
from mlspl.curriculum.rates import noise_rates
from mlspl.curriculum.rows import row_scores

__all__ = [
    "Audit",
    "Difficulty",
    "DifficultyDisplay",
    "EntryDisplay",
    "NoiseDisplay",
    "audit",
    "difficulty",
    "label_issues",
    "noise_rates",
    "plot_difficulty",
    "plot_entry",
    "plot_noise",
    "row_scores",
    "suited_models",
]
