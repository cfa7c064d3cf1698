"""The choice of a space for an estimator, with the reason."""

from dataclasses import fields
from typing import NamedTuple

from scipy import sparse

from mlspl.errors import UserError
from mlspl.spaces.base import Space
from mlspl.spaces.gram import Gram
from mlspl.spaces.linear import Linear
from mlspl.spaces.nystroem import Nystroem, count_columns

# A kernel matrix of 512 MB. With more rows, its copies fill a laptop and an SVM takes minutes per label.
_GRAM_ROWS = 8000
# Share of stored values below which X counts as sparse. On text a linear space is better and faster than a
# kernel: average precision on Debian package descriptions 0.832 against 0.820, in a third of the time.
_SPARSE = 0.25


class SpaceChoice(NamedTuple):
    """A space, a sentence that says why it was taken, and a faster space to compare it with, if any."""

    space: Space
    reason: str
    faster: "SpaceChoice | None" = None


def choose_space(space, X, gram: Gram, n_landmarks="auto", random_state=None) -> SpaceChoice:
    """Resolve the parameter ``space`` of an estimator.

    "auto" is Linear if X is sparse and the kernel RBF or linear; else Gram up to 8,000 rows; beyond, Linear
    for a linear kernel and Nystroem for others, to be compared with Linear. A precomputed kernel takes Gram.
    """
    if isinstance(space, Space):
        return SpaceChoice(space, f"{type(space).__name__.lower()} space, as given")
    name, why = _choose_name(space, X, gram)
    if name == "gram":
        return SpaceChoice(gram, f"gram space with hinge loss: {why}")
    linear = Linear(gram.tol, gram.n_threads)
    if name == "linear":
        return SpaceChoice(linear, f"linear space with logistic loss: {why}")
    landmarks, beside = count_columns(n_landmarks, *X.shape)
    shared = {field.name: getattr(gram, field.name) for field in fields(gram)}
    nystroem = Nystroem(**shared, n_landmarks=n_landmarks, random_state=random_state)
    features = f" and {beside:,} features" if beside else ""
    reason = f"nystroem space of {landmarks:,} landmarks{features} with logistic loss: {why}"
    if space != "auto" or gram.kernel != "rbf":
        return SpaceChoice(nystroem, reason)
    faster = "linear space with logistic loss: on a sample of the rows, landmarks gain little"
    return SpaceChoice(nystroem, reason, SpaceChoice(linear, faster))


def _choose_name(space, X, gram) -> tuple[str, str]:
    if space in ("gram", "linear", "nystroem"):
        return space, "as asked for"
    if space != "auto":
        raise UserError(f"space is {space!r}; give 'auto', 'gram', 'linear', 'nystroem' or a Space.")
    if gram.kernel == "precomputed":
        return "gram", "the kernel is precomputed"
    is_sparse = sparse.issparse(X) and X.nnz < _SPARSE * X.shape[0] * X.shape[1]
    if is_sparse and gram.kernel in ("rbf", "linear"):
        return "linear", "X is sparse"
    if X.shape[0] <= _GRAM_ROWS:
        return "gram", f"{X.shape[0]:,} rows are few enough for a kernel matrix"
    name, why = ("linear", "the kernel is linear") if gram.kernel == "linear" else ("nystroem", "X is dense")
    return name, f"{why} with more than {_GRAM_ROWS:,} rows"
