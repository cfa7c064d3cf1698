"""Why a label is suspected, in a few words."""

import numpy as np

__all__ = ["explain_issues"]

# Log-odds from which another label's word is worth mentioning: it makes an even chance nearly two to one.
WORTH = 0.5


def explain_issues(rows, labels, audit_names, given, probabilities, relations, never_entered):
    """Return a text for each suspected pair (rows[k], labels[k]).

    What the model says; the other label that speaks most against what is given; whether the pair was never
    learned from.
    """
    texts = [f"{share:.0%} likely by its features" for share in probabilities[rows, labels]]
    if relations is not None and len(rows):
        weight = relations.weights[labels]
        others = np.where(given[rows] >= 0, given[rows] - relations.centre, 0.0)
        # Positive where a label moves the odds away from what is given.
        against = weight * others * np.where(given[rows, labels] == 0, 1.0, -1.0)[:, None]
        strongest = against.argmax(axis=1)
        for k, other in enumerate(strongest.tolist()):
            if against[k, other] >= WORTH:
                texts[k] += "; " + _relation(
                    weight[k, other] > 0, given[rows[k], other] == 1, audit_names[other]
                )
    if never_entered is not None:
        for k in np.flatnonzero(never_entered[rows, labels]).tolist():
            texts[k] += "; never learnt from"
    return texts


def _relation(together: bool, present: bool, name: str) -> str:
    """What the other label says of a pair; the subject is the pair's own label."""
    if present:
        return f"{'usually' if together else 'rarely'} comes with {name}, which is given"
    return f"rarely comes without {name}" if together else f"usually given where {name} is not"
