"""Docstring paragraphs that several objects share."""

import re
from collections.abc import Callable
from textwrap import indent
from typing import TypeVar

T = TypeVar("T")


def substitute(**paragraphs: str) -> Callable[[T], T]:
    """Replace each line ``{name}`` of an object's docstring by the paragraph of that name."""

    def decorate(documented: T) -> T:
        if documented.__doc__:  # None with python -OO
            lines = (re.fullmatch(r"( *)\{(\w+)\}", line) or line for line in documented.__doc__.split("\n"))
            documented.__doc__ = "\n".join(
                line if isinstance(line, str) else indent(paragraphs[line[2]], line[1]) for line in lines
            )
        return documented

    return decorate


_PASSAGES = {
    "X": """\
X : array, sparse matrix or DataFrame of shape (n_samples, n_features)
    The features.""",
    "output": """\
output : {"array", "pandas", "polars"}, default="array"
    "pandas" is a DataFrame with the label names, and the index of X if it has one.""",
    "kernel": """\
kernel : {"rbf", "linear", "precomputed"} or callable, default="rbf"
    The kernel, or a function of two tables. Scale the features first.
gamma : {"scale", "auto"} or float, default="scale"
    Parameter of the kernel "rbf": "scale" is 1/(d·variance), "auto" is 1/d.""",
    "class_weight": """\
    A number e weights a class of share p by (½/p)^e: 0 is no balance, 1 (= "balanced") gives both classes of
    a label the same total weight. A dict gives the weight of each class, for all labels.""",
    "space": """\
space : {"auto", "gram", "linear", "nystroem"} or Space, default="auto"
    Where the classifiers are fitted: on a kernel matrix, on the features, or on kernel values with landmarks.
    "auto" is "linear" if X is sparse; else "gram" up to 8,000 rows. Beyond, it is "nystroem" if this has a
    clearly lower held-out loss on a sample than "linear". The loss is the hinge on a kernel matrix, and
    logistic elsewhere.
n_landmarks : "auto" or int, default="auto"
    Landmarks of "nystroem". "auto" is 1,400 minus the number of features; fewer if memory is short.""",
    "codes": """\
n_codes : int, default=15
    Number of prototypes; at most the number of distinct label sets.""",
    "beta": """\
beta : float, default=100.0
    Weight of the distances between label vectors and prototypes.""",
    "tol": """\
tol : float, default=1e-3
    Largest violation of the optimality conditions of the SVMs.""",
    "n_jobs": """\
n_jobs : int, optional
    Number of threads. The result does not depend on it.""",
    "feature_weights": """\
feature_weights : "auto" or None, default="auto"
    "auto" weighs the features of sparse X, such as word counts, by their correlations with the labels, and
    scales rows to length 1. None takes Euclidean distances, as published.""",
    "neighbours_": """\
k_, prior_weight_ : int, float
    The number of neighbours and the weight that were used.
feature_weights_ : array of shape (n_features,) or None
    Weights of the features.""",
    "verbose": """\
verbose : int, default=0
    1 shows a progress bar.""",
    "pace_function": """\
pace_function : str, SelfPacedFunction or None, default="gaussian"
    The self-paced function; None weights every pair 1.""",
    "label_weights_": """\
label_weights_ : array (n_samples, n_labels)
    Weights of the pairs at the last step.""",
    "paced_": """\
history_ : list of dict
    A record of every step: pace, mean loss and mean weight of the known pairs, and ``in_play``, the share of
    each label's pairs with a weight of ½ or more.
trace_ : Trace
    The step at which each pair entered, and its losses: see :class:`mlspl.pacing.Trace`.
stop_reason_ : str
    "max_steps", "infinite_pace", "target_weight", "settled" or "callback".""",
    "thresholds": """\
thresholds : sequence of str, default=("zero", "label", "count")
    Threshold rules to try.""",
    "decisions_": """\
calibration_, threshold_ : calibration and threshold of :mod:`mlspl.model_selection`
    The chosen rules, fitted on the out-of-fold scores.
decisions_ : list of dict
    The calibrations and threshold rules tried, best first.""",
    "space_": """\
space_ : str
    The space that was taken, and why.
C_ : float
    The C that was used.""",
    "codes_": """\
codes_ : array (n_samples, n_codes)
    The training codes.
prototypes_ : array (n_codes, n_labels)
    The prototypes, in the ±1 label space.""",
}

share = substitute(**_PASSAGES)
"""Decorator that inserts the paragraphs above, which the estimators share."""
