"""From whatever container the user holds to blocks of labels and scores the criteria can trust."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

from mlspl.errors import UserError

__all__ = ["RELEVANT", "UNKNOWN", "label_blocks", "paired", "prediction_blocks", "score_blocks"]

RELEVANT, UNKNOWN = 1, -1

# Pairs converted at a time: 8 MB of float64, so that a million rows cost no more memory than a thousand.
BLOCK = 1 << 20


def paired(Y: ArrayLike, values: ArrayLike, name: str) -> tuple[Any, Any]:
    """Return Y and F (or P, as `name` says) as 2-d arrays or CSR matrices of one shape."""
    left, right = (list(getattr(container, "columns", ())) for container in (Y, values))
    if left != right and sorted(map(str, left)) == sorted(map(str, right)):
        raise UserError(
            f"Y and {name} have the same columns in another order: {left[:3]} … beside {right[:3]} …. "
            "Put them in one order first."
        )
    truth, other = table(Y, "Y", accept_sparse=True), table(values, name, accept_sparse=name != "F")
    if truth.shape != other.shape:
        raise UserError(
            f"Y has shape {truth.shape} but {name} has shape {other.shape}: they must be the same."
        )
    return truth, other


def table(values: ArrayLike, name: str, accept_sparse: bool) -> Any:
    """Return `values` as a 2-d numeric array, or as CSR if it is sparse, without copying where possible."""
    try:
        return check_array(
            values,
            accept_sparse="csr" if accept_sparse else False,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError) as error:
        raise UserError(f"{name} must be a numeric table of shape (n, L). {error}") from error


def row_blocks(values: Any) -> Iterator[tuple[int, NDArray]]:
    """Yield (first row, rows as a dense array)."""
    step = max(1, BLOCK // values.shape[1])
    for start in range(0, values.shape[0], step):
        block = values[start : start + step]
        yield start, block.toarray() if sparse.issparse(block) else block


def refuse(wrong: NDArray[np.bool_], block: NDArray, start: int, name: str, advice: str) -> None:
    """Raise on the first pair that is wrong, if there is one."""
    if wrong.any():
        i, label = np.argwhere(wrong)[0]
        raise UserError(f"{name}[{start + i}, {label}] is {block[i, label]:g}: {advice}")


def label_blocks(Y: Any, name: str = "Y") -> Iterator[NDArray[np.int8]]:
    """Yield codes (1 relevant, 0 irrelevant, -1 unknown) for 0/1, ±1 or boolean labels and NaN."""
    has_zero = has_minus = False
    for start, block in row_blocks(Y):
        if block.dtype == bool:
            yield block.astype(np.int8, order="C")
            continue
        zero, minus, one, unknown = block == 0, block == -1, block == 1, np.isnan(block)
        advice = "a label is 0 or 1 (or -1 and +1), or NaN where it is unknown."
        refuse(~(zero | minus | one | unknown), block, start, name, advice)
        has_zero |= bool(zero.any())
        has_minus |= bool(minus.any())
        if has_zero and has_minus:
            raise UserError(
                f"{name} holds both 0 and -1, so it is unclear which of them means 'not relevant': "
                "use 0 and 1, or -1 and +1, and NaN where a label is unknown."
            )
        codes = one.astype(np.int8, order="C")
        codes[unknown] = UNKNOWN
        yield codes


def prediction_blocks(P: Any) -> Iterator[NDArray[np.int8]]:
    """Yield the codes of `label_blocks`; a NaN among predictions is an error."""
    for (start, block), codes in zip(row_blocks(P), label_blocks(P, "P"), strict=True):
        refuse(codes == UNKNOWN, block, start, "P", "predict 0 or 1 for every label.")
        yield codes


def score_blocks(F: Any) -> Iterator[NDArray[np.float64]]:
    """Yield the scores as contiguous float64; a NaN among them is an error."""
    for start, block in row_blocks(F):
        scores = np.ascontiguousarray(block, dtype=np.float64)
        advice = "a label without a score cannot be ranked. Give every label a score (infinities are fine)."
        refuse(np.isnan(scores), scores, start, "F", advice)
        yield scores
