"""
Write your own self-paced function
==================================

A self-paced function gives the weight of an instance-label pair from its loss and the pace. Here we write new
ones in three ways, verify and plot them.
"""

# %%
# From a curve, in one line
# -------------------------
# Any curve that falls from 1 to 0 can be used. Inverse and penalty follow from Lemma 1 of the paper.
# ``latex`` shows closed forms if SymPy finds them.

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
# If the inverse and the penalty are known, write them as methods. The base class does the broadcasting, the
# input checks, and paces 0 and infinity. As a frozen dataclass, two functions are equal if their parameters
# are.


@dataclass(frozen=True)
class Power(pacing.ScaleFamily):
    """v* = (1 + l/λ)^(−p): a heavy tail, so every pair keeps some weight."""

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
# From the base class
# -------------------
# If the pace enters in another way, write the three methods of ``SelfPacedFunction``. This function has the
# weight 1 up to the pace, and falls to 0 over a fixed width.


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
# Verify
# ------
# ``verify`` checks the conditions of Definition 1 and Lemma 1, and shows a counterexample for each that
# fails. The ramp fails condition 3: at pace 0, losses below its width still have a weight.

for function in (derived, Power(power=3.0), Ramp(width=0.5)):
    print(pacing.verify(function))
    print()

# %%
# Plot
# ----

figure = plt.figure(figsize=(7.2, 4.0), layout="constrained")
pacing.plot([derived, Power(power=1.5), Ramp(width=0.5), "sigmoid"], figure=figure)
plt.show()

# %%
# Weights along a schedule
# ------------------------
# The first pace is the median loss of each label and class. The functions differ in the weights of the
# pairs above it. At the last step every pair has the weight 1.

random = np.random.default_rng(0)
Y = random.random((500, 6)) < 0.15
losses = random.exponential(np.where(Y, 1.5, 0.3))
schedule = pacing.QuantilePace(0.5, 1.0, 6, per="class")
print(schedule)
for function in (Power(power=3.0), Ramp(width=0.5), pacing.get("sigmoid"), pacing.get("hard")):
    path = [function.weight(losses, schedule.pace(target, losses, Y)).mean() for target in schedule]
    print(f"{function!r:18} mean weight", np.round(path, 2))
