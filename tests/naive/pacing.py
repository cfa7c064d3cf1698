"""Slow, obvious twins of what `mlspl.pacing` computes fast."""

import numpy as np


def minimising_weight(loss, penalty, points=20001):
    """The v in [0, 1] of the smallest v·l + f(v), on a fine grid and then on a finer one around it."""
    low, high = 0.0, 1.0
    for _ in range(3):
        grid = np.linspace(low, high, points)
        with np.errstate(all="ignore"):
            best = grid[np.argmin(grid * loss + penalty(grid))]
        step = (high - low) / (points - 1)
        low, high = max(0.0, best - step), min(1.0, best + step)
    return best


def diversity_cost(v, loss, pace, gamma, groups):
    """Σ v·l − λ Σ v − γ Σ_b ‖v_b‖₂ of weights given pair by pair."""
    cost = sum(vi * (li - pi) for vi, li, pi in zip(v, loss, pace, strict=True))
    for group in set(groups):
        cost -= gamma * sum(vi**2 for vi, g in zip(v, groups, strict=True) if g == group) ** 0.5
    return cost


def quantile_pace(losses, Y, target, per):
    """The pace of every pair, one group after another."""
    n, L = losses.shape
    pace = np.empty((n, L))
    for i in range(n):
        for label in range(L):
            group = [
                losses[j, k]
                for j in range(n)
                for k in range(L)
                if per == "all" or (k == label and (per == "label" or (Y[j, k] > 0) == (Y[i, label] > 0)))
            ]
            larger = [loss for loss in group if loss > min(group)]
            quantile = np.quantile(group, target)
            if target == 1 or (per == "negatives" and Y[i, label] > 0):
                pace[i, label] = np.inf
            elif quantile > min(group):
                pace[i, label] = quantile
            else:
                pace[i, label] = min(larger, default=np.inf)
    return pace


def paced_steps(learner, function, schedule, Y, known):
    """Losses and weights of every step of Algorithm 1, to the schedule's end; losses in steps of 2⁻²⁶."""
    steps = []
    for target in schedule:
        losses = np.round(learner.losses() * 2.0**26) / 2.0**26
        weights = function.weight(losses, schedule.pace(target, losses, Y, known))
        learner.fit(weights)
        steps.append((losses, weights))
    return steps


def trace(steps):
    """When each pair entered and the mean of its losses, from all steps."""
    losses = np.array([losses for losses, _ in steps])
    entered = np.zeros(losses.shape[1:])
    for number in range(len(steps), 0, -1):
        entered[steps[number - 1][1] >= 0.5] = number
    return entered, losses.mean(axis=0)
