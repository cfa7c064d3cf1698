"""Which space suits how much there is to learn from, and why."""

from dataclasses import fields
from typing import NamedTuple

from mlspl._limits import FitSize
from mlspl.errors import UserError
from mlspl.spaces._losses import LOSSES
from mlspl.spaces.base import Space
from mlspl.spaces.gram import Gram
from mlspl.spaces.linear import Linear
from mlspl.spaces.nystroem import Nystroem, count_columns

__all__ = ["SpaceChoice", "choose_space"]

# A kernel matrix of 512 MB: with more rows its copies fill a laptop, and its machines take minutes a label.
_GRAM_ROWS = 8000
# Where more than eight labels side by side are worth it.
_MANY_NUMBERS = 2**24


class SpaceChoice(NamedTuple):
    """A space, and a sentence that says why it was taken."""

    space: Space
    reason: str


def choose_space(
    space, loss, size: FitSize, gram: Gram, n_landmarks="auto", random_state=None
) -> SpaceChoice:
    """Resolve the parameters ``space`` and ``loss`` of an estimator.

    Parameters
    ----------
    space : {"auto", "gram", "linear", "nystroem"} or Space
        "auto" is Gram up to 8,000 rows and for kernels that only Gram knows, then Linear where X is sparse or
        the kernel linear, and Nystroem where X is dense. A Space is taken as it is.
    loss : {"auto", "hinge", "squared_hinge", "logistic"}
        "auto" is the hinge in Gram, which has no other, and logistic in the others.
    size : FitSize
        What is to be fitted.
    gram : Gram
        Kernel, tolerance and threads.
    n_landmarks, random_state
        Of Nystroem.

    Examples
    --------
    >>> from mlspl._limits import FitSize
    >>> size = FitSize(rows=90_000, features=1000, labels=28, values=1_700_000, pairs=10**6)
    >>> print(choose_space("auto", "auto", size, Gram()).reason)
    linear space with logistic loss: a kernel matrix of 90,000 rows would take 64.8 GB, and X is sparse
    """
    if loss != "auto" and loss not in LOSSES:
        raise UserError(f"loss is {loss!r}; give 'auto', {', '.join(map(repr, LOSSES))}.")
    if isinstance(space, Space):
        return SpaceChoice(space, f"{type(space).__name__.lower()} space, as given")
    name, why = _choose_name(space, loss, size, gram)
    smooth = "logistic" if loss == "auto" else loss
    taken: Space
    if name == "gram":
        if loss not in ("auto", "hinge"):
            raise UserError(
                f"A Gram space has the hinge loss only; for {loss!r} give space='linear' or 'nystroem'."
            )
        taken = gram
        told = "gram space with hinge loss"
    elif name == "linear":
        taken = Linear(smooth, gram.tol, gram.n_threads, _count_lanes(size, size.features))
        told = f"linear space with {smooth.replace('_', ' ')} loss"
    else:
        shared = {field.name: getattr(gram, field.name) for field in fields(gram) if field.name != "solver"}
        landmarks, beside = count_columns(n_landmarks, size.rows, size.features)
        shared |= {"n_landmarks": n_landmarks, "n_lanes": _count_lanes(size, landmarks + beside)}
        taken = Nystroem(**shared, loss=smooth, random_state=random_state)
        features = f" and {beside:,} features" if beside else ""
        told = f"nystroem space of {landmarks:,} landmarks{features} with {smooth.replace('_', ' ')} loss"
    return SpaceChoice(taken, f"{told}: {why}")


def _count_lanes(size, n_columns) -> int:
    """On many numbers up to 32 labels side by side, but two groups at least: two threads have work.

    BLAS rounds a label among 32 by its place, among 8 always alike; on few numbers it is not worth that.
    """
    if size.rows * n_columns < _MANY_NUMBERS:
        return 8
    return min(32, 8 * max(1, -(-size.labels // 16)))


def _choose_name(space, loss, size, gram) -> tuple[str, str]:
    if space in ("gram", "linear", "nystroem"):
        return space, "as asked for"
    if space != "auto":
        raise UserError(f"space is {space!r}; give 'auto', 'gram', 'linear', 'nystroem' or a Space.")
    sparse = size.values < size.rows * size.features
    beyond = "linear" if sparse or gram.kernel == "linear" else "nystroem"
    because = "X is sparse" if sparse else "the kernel is linear" if gram.kernel == "linear" else "X is dense"
    if gram.kernel == "precomputed" or gram.solver == "libsvm":
        return "gram", "kernel and solver ask for it"
    if loss not in ("auto", "hinge"):
        return beyond, f"the loss is not the hinge, and {because}"
    if size.rows <= _GRAM_ROWS:
        return "gram", f"{size.rows:,} rows are few enough for a kernel matrix"
    matrix = f"a kernel matrix of {size.rows:,} rows would take {8e-9 * size.rows**2:.3g} GB"
    return beyond, f"{matrix}, and {because}"
