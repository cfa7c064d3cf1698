"""Why a label is suspected, in a few words."""

import numpy as np

__all__ = ["explain_issues"]

# Another label is mentioned if it moves the log-odds by at least this: an even chance to nearly 2 to 1.
WORTH = 0.5


def explain_issues(rows, labels, names, given, probabilities, other_labels, never_entered):
    """Return a text for each suspected pair (rows[k], labels[k]).

    The model's probability; the other label that is the strongest evidence against the given one; whether the
    pair never entered the paced fit.
    """
    texts = [f"{share:.0%} likely by its features" for share in probabilities[rows, labels]]
    if other_labels is not None and len(rows):
        weight = other_labels.weights[labels]
        others = np.where(given[rows] >= 0, given[rows] - other_labels.centre, 0.0)
        # Positive where a label moves the odds away from what is given.
        against = weight * others * np.where(given[rows, labels] == 0, 1.0, -1.0)[:, None]
        strongest = against.argmax(axis=1)
        for k, other in enumerate(strongest.tolist()):
            if against[k, other] >= WORTH:
                texts[k] += "; " + _relation(weight[k, other] > 0, given[rows[k], other] == 1, names[other])
    if never_entered is not None:
        for k in np.flatnonzero(never_entered[rows, labels]).tolist():
            texts[k] += "; too unlikely for the model to learn from it"
    return texts


def _relation(together: bool, present: bool, name: str) -> str:
    """Return how the pair's own label, the subject, relates to the other one."""
    if present:
        return f"{'usually' if together else 'rarely'} comes with {name}, which is given"
    return f"rarely comes without {name}" if together else f"usually given where {name} is not"
