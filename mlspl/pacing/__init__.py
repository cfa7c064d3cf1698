"""Self-paced functions and pace schedules.

A self-paced function turns the loss of a pair and the pace into a weight (`weight`) and back (`inverse`); the
weight is the minimiser that belongs to a regulariser (`penalty`). Use a known one (`get`, `names`), make one
from a curve (`derive`), be told whether it is valid (`verify`), see it (`plot`, `save_plot`), and let a
schedule grow the pace.
"""

from mlspl.pacing.base import SelfPacedFunction
from mlspl.pacing.cutoff import Hard, Linear, Logarithmic, Mixture, MixtureZhao, Polynomial
from mlspl.pacing.derived import DerivedFunction, DerivedScale, DerivedShift, derive
from mlspl.pacing.diversity import Diversity
from mlspl.pacing.families import ScaleFamily, ShiftFamily
from mlspl.pacing.loop import Learner, Paced, Step, paced
from mlspl.pacing.paper import Arctan, Exponential, Gaussian, Sigmoid, Tanh
from mlspl.pacing.plotting import PACES, plot, save_plot
from mlspl.pacing.registry import get, names
from mlspl.pacing.report import Check, Report
from mlspl.pacing.robust import L1L2, Cauchy, Huber, Logistic
from mlspl.pacing.schedules import GeometricPace, PaceSchedule, QuantilePace, UntilInPlay
from mlspl.pacing.trace import Trace
from mlspl.pacing.verification import verify

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
    "UntilInPlay",
    "derive",
    "get",
    "names",
    "paced",
    "plot",
    "save_plot",
    "verify",
]
