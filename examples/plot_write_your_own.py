"""
Write your own self-paced function
==================================

A self-paced function says how much a pair of an instance and a label counts, given its loss and the pace.
Here we make new ones in three ways, are told whether they are valid, and look at them.
"""

# %%
# From a curve, in one line
# -------------------------
# Any curve that falls from 1 to 0 will do. Its inverse and its penalty follow from Lemma 1 of the paper;
# where SymPy finds closed forms, we get those.

from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np

from mlspl import pacing

derived = pacing.derive("1/(1+t)**3", family="scale")
print(derived.weight([0.0, 0.5, 2.0], pace=1.0))
print(derived.latex())

# %%
# From three formulas
# -------------------
# Who knows the inverse and the integral writes them down. The family takes care of arrays, of mistakes in
# the input, and of paces 0 and infinity; the frozen dataclass makes two functions equal when their
# parameters are.


@dataclass(frozen=True)
class Power(pacing.ScaleFamily):
    """v* = (1 + l/λ)^(−p): heavy tails, so that no pair is ever quite forgotten."""

    power: float = 2.0

    name = "power"

    def curve(self, t):
        return (1 + t) ** -self.power

    def curve_inverse(self, weight):
        return weight ** (-1 / self.power) - 1

    def curve_penalty(self, weight):
        rest = 1 - 1 / self.power
        return weight - weight**rest / rest


# %%
# From nothing
# ------------
# Where the pace enters in its own way, write the three methods of the base class. This one is hard pacing
# with a margin: a pair counts in full up to the pace, and then less and less over a fixed width.


@dataclass(frozen=True)
class Ramp(pacing.SelfPacedFunction):
    """v* falls in a straight line from 1 at l = λ to 0 at l = λ + width."""

    width: float = 1.0

    name = "ramp"

    def weight(self, loss, pace):
        return np.clip(1 - (np.asarray(loss) - pace) / self.width, 0, 1)

    def inverse(self, weight, pace):
        return pace + self.width * (1 - np.asarray(weight))

    def penalty(self, weight, pace):
        weight = np.asarray(weight)
        return -pace * weight - self.width * (weight - weight**2 / 2)


# %%
# Are they valid?
# ---------------
# ``verify`` tries the conditions of Definition 1 and Lemma 1 and shows a witness for each that fails. The
# ramp breaks condition 3: at pace 0 it still lets losses below its width in.

for function in (derived, Power(power=3.0), Ramp(width=0.5)):
    print(pacing.verify(function))
    print()

# %%
# What do they look like?
# -----------------------

figure = plt.figure(figsize=(7.2, 4.0), layout="constrained")
pacing.plot([derived, Power(power=1.5), Ramp(width=0.5), "sigmoid"], figure=figure)
plt.show()

# %%
# How do they differ in use?
# --------------------------
# With a pace taken from the losses, class by class, half of the pairs of every class are below it at the
# first step; what weight the others keep is the function's choice. At the last step every pair is in play.

random = np.random.default_rng(0)
Y = random.random((500, 6)) < 0.15
losses = random.exponential(np.where(Y, 1.5, 0.3))
schedule = pacing.QuantilePace(0.5, 1.0, 6, per="class")
print(schedule)
for function in (Power(power=3.0), Ramp(width=0.5), pacing.get("sigmoid"), pacing.get("hard")):
    path = [function.weight(losses, schedule.pace(target, losses, Y)).mean() for target in schedule]
    print(f"{function!r:18} mean weight", np.round(path, 2))
