"""Self-paced functions and pace schedules.

A self-paced function maps the loss of a pair and the pace to a weight (`weight`) and back (`inverse`); the
weight minimises a regulariser (`penalty`). `get` and `names` give known functions, `derive` makes one from a
curve, `verify` checks it, `plot` and `save_plot` draw it. A schedule sets the pace; `paced` runs the loop.
"""

from mlspl.pacing.base import ScaleFamily, SelfPacedFunction, ShiftFamily
from mlspl.pacing.derived import DerivedFunction, DerivedScale, DerivedShift, derive
from mlspl.pacing.literature import (
    L1L2,
    Cauchy,
    Diversity,
    Hard,
    Huber,
    Linear,
    Logarithmic,
    Logistic,
    Mixture,
    MixtureZhao,
    Polynomial,
    get,
    names,
)
from mlspl.pacing.loop import Learner, Paced, Step, Trace, check_weights, paced
from mlspl.pacing.paper import Arctan, Exponential, Gaussian, Sigmoid, Tanh
from mlspl.pacing.plotting import PACES, plot, save_plot
from mlspl.pacing.schedules import GeometricPace, NoisePace, PaceSchedule, QuantilePace
from mlspl.pacing.verification import Check, Report, verify

__all__ = [
    "L1L2",
    "PACES",
    "Arctan",
    "Cauchy",
    "Check",
    "DerivedFunction",
    "DerivedScale",
    "DerivedShift",
    "Diversity",
    "Exponential",
    "Gaussian",
    "GeometricPace",
    "Hard",
    "Huber",
    "Learner",
    "Linear",
    "Logarithmic",
    "Logistic",
    "Mixture",
    "MixtureZhao",
    "NoisePace",
    "PaceSchedule",
    "Paced",
    "Polynomial",
    "QuantilePace",
    "Report",
    "ScaleFamily",
    "SelfPacedFunction",
    "ShiftFamily",
    "Sigmoid",
    "Step",
    "Tanh",
    "Trace",
    "check_weights",
    "derive",
    "get",
    "names",
    "paced",
    "plot",
    "save_plot",
    "verify",
]
