"""Searching families one after the other, and what is remembered of those that are learned."""

import warnings
from typing import Any

import numpy as np

from mlspl.models._families import Candidate, Family, Visit
from mlspl.pacing import Trace

__all__ = ["recall_visits", "search_families"]


class _StoppedError(Exception):
    """A callback asked to try nothing further."""


def search_families(
    families, X, Y, label_weight, folds, report
) -> tuple[list[tuple[Family, list[Candidate]]], str]:
    """All candidates of all families, or those that were finished when somebody asked to stop; and why."""
    found: list[tuple[Family, list[Candidate]]] = []
    asked = False

    def tell(note):
        nonlocal asked
        asked |= report(note)
        if asked and found:
            raise _StoppedError

    try:
        for family in families:
            for candidates in family.search(X, Y, label_weight, folds, tell):
                if not found or found[-1][0] is not family:
                    found.append((family, []))
                found[-1][1].extend(candidates)
    except _StoppedError:
        return found, "callback"
    except KeyboardInterrupt:
        if not found:
            raise
        names = " and ".join(family.name for family, _ in found)
        warnings.warn(f"Interrupted: going on with what was finished ({names}).", stacklevel=5)
        return found, "interrupted"
    return found, "max_steps"


def recall_visits(
    learned: list[tuple[Family, list[Visit]]], known
) -> tuple[np.ndarray, Trace, list[dict[str, Any]]]:
    """Mean weights, trace of the first family and history of all members, in the order of their pace."""
    of_families = [np.mean([visit.label_weights for visit in visits], axis=0) for _, visits in learned]
    trace = Trace(known.shape)
    history: list[dict[str, Any]] = []
    for family, visits in learned:
        for visit in sorted(visits, key=lambda visit: visit.candidate.point.target):
            if family is learned[0][0]:
                trace.add(visit.losses, visit.label_weights)
            history.append(
                {
                    "step": len(history) + 1,
                    "family": family.name,
                    "pace": visit.candidate.point.target,
                    "mean_loss": float(visit.losses.mean(where=known)),
                    "mean_weight": float(visit.label_weights.mean(where=known)),
                    **visit.candidate.setting,
                }
            )
    return np.mean(of_families, axis=0), trace, history
