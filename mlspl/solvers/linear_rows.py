"""Feature rows beside their codes and a constant, as the linear solvers multiply by them.

Eight labels are solved side by side: their weights stand next to one another in memory, so that an entry of a
sparse row is read once for all of them and multiplied in one vector instruction. That is what makes a product
here take less than a third of eight products with one vector. Of dense rows BLAS makes more of thirty-two.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from scipy import sparse

from mlspl._numba_cache import njit

__all__ = ["LANES", "Rows", "lane_dots"]

LANES = 8
# Numbers of a dense block of rows: enough to keep BLAS busy, few enough to stay in the cache.
_BLOCK_NUMBERS = 2**20
_CONTRACT = ("contract",)
_DOUBLE = ir.DoubleType()
_VECTOR = ir.VectorType(_DOUBLE, LANES)
# numba's annotations count the typing context among the arguments of a call, which it is not.
_intrinsic: Any = extending.intrinsic


class Rows:
    """The rows [x_i, q_i, 1] of features, codes and a constant; the features are not copied.

    `lanes` is how many labels are solved side by side: of dense rows a multiple of LANES, else LANES.
    """

    def __init__(self, X, codes=None, lanes=LANES):
        self.n, self.n_features = X.shape
        self.width = self.n_features + 1 + (0 if codes is None else codes.shape[1])
        beside = np.ones((self.n, self.width - self.n_features))
        if codes is not None:
            beside[:, :-1] = codes
        self._dense: Any = None
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        if sparse.issparse(X):
            X = X.tocsr()
            data, indices, indptr = X.data.astype(dtype, copy=False), X.indices, X.indptr
            dense = np.empty((self.n, 0), dtype)
        else:
            data, indices, indptr = np.empty(0, dtype), np.empty(0), np.zeros(self.n + 1)
            dense = self._dense = np.ascontiguousarray(X, dtype=dtype)
        # The one form that compiled code is made for: column numbers of 32 bits, all read-only.
        self.arrays = (
            _freeze(data),
            _freeze(indices.astype(np.int32, copy=False)),
            _freeze(indptr.astype(np.int64, copy=False)),
            _freeze(dense),
            _freeze(beside),
        )
        """Data, indices and index pointers of a sparse X, columns of a dense one, and what is beside."""
        self._beside = beside
        self.is_sparse = self._dense is None
        self.lanes = LANES if self.is_sparse else lanes
        self._columns = np.arange(self.n_features, self.width, dtype=np.int32)

    def scores(self, W) -> np.ndarray:
        """[X, Q, 1] W, of shape (n, lanes), for weights (width, lanes)."""
        out = np.zeros((self.n, self.lanes))
        if self._dense is None:
            _multiply(*self.arrays, self._columns, W, out)
            return out
        features = W[: self.n_features].astype(self._dense.dtype)
        for block in self._blocks():
            out[block] = self._dense[block] @ features
        out += self._beside @ W[self.n_features :]
        return out

    def pull(self, G) -> np.ndarray:
        """[X, Q, 1]ᵀ G, of shape (width, lanes), for G (n, lanes)."""
        out = np.zeros((self.width, self.lanes))
        if self._dense is None:
            _multiply_transposed(*self.arrays, self._columns, G, out)
            return out
        for block in self._blocks():
            self._add_block(self._dense[block], self._beside[block], G[block], out)
        return out

    def take(self, numbers) -> "Rows":
        """Copies of some of the rows, which are sparse."""
        data, indices, indptr, _, beside = self.arrays
        X = sparse.csr_array((data, indices, indptr), (self.n, self.n_features))[numbers]
        return Rows(X, beside[numbers, :-1])

    def curve(self, D, V) -> np.ndarray:
        """[X, Q, 1]ᵀ (D ∘ [X, Q, 1] V)."""
        out = np.zeros((self.width, self.lanes))
        if self._dense is None:
            _multiply_twice(*self.arrays, self._columns, D, V, out)
            return out
        features, others = V[: self.n_features].astype(self._dense.dtype), V[self.n_features :]
        for block in self._blocks():
            X, beside = self._dense[block], self._beside[block]
            self._add_block(X, beside, (X @ features + beside @ others) * D[block], out)
        return out

    def squares(self, D) -> np.ndarray:
        """The diagonal of [X, Q, 1]ᵀ D [X, Q, 1], of shape (width, lanes)."""
        out = np.zeros((self.width, self.lanes))
        if self._dense is None:
            data, indices, indptr, dense, beside = self.arrays
            squared = (_freeze(data * data), indices, indptr, dense, _freeze(beside * beside))
            _multiply_transposed(*squared, self._columns, D, out)
            return out
        for block in self._blocks():
            self._add_block(self._dense[block] ** 2, self._beside[block] ** 2, D[block], out)
        return out

    def _blocks(self) -> list[slice]:
        height = max(1, _BLOCK_NUMBERS // max(1, self.n_features))
        return [slice(start, start + height) for start in range(0, self.n, height)]

    def _add_block(self, X, beside, G, out) -> None:
        # Turned round: BLAS reads rows of X as they lie.
        out[: self.n_features] += (np.ascontiguousarray(G.T, X.dtype) @ X).T
        out[self.n_features :] += beside.T @ G


def _freeze(array: np.ndarray) -> np.ndarray:
    """A view of the array that is read-only."""
    view = array.view()
    view.flags.writeable = False
    return view


def _lanes_at(builder: Any, base: Any, row: Any) -> Any:
    """Pointer to the lanes of a row of a C-contiguous (·, LANES) float64 array."""
    offset = builder.mul(row, ir.Constant(row.type, LANES))
    return builder.bitcast(builder.gep(base, [offset]), _VECTOR.as_pointer())


def _spread(builder: Any, number: Any) -> Any:
    """A number in every lane."""
    if number.type != _DOUBLE:
        number = builder.fpext(number, _DOUBLE)
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    )


def _entries(context: Any, builder: Any, signature: Any, arguments: Any) -> list:
    """Arguments as compiled code wants them: of an array, the pointer to its first entry."""
    return [
        context.make_array(kind)(context, builder, value).data if isinstance(kind, types.Array) else value
        for kind, value in zip(signature.args, arguments, strict=True)
    ]


@_intrinsic
def _gather(
    typing_context: Any, data: Any, indices: Any, start: Any, end: Any, W: Any, out: Any, i: Any
) -> Any:
    """Add Σ_t data[t] W[indices[t]] over start ≤ t < end to out[i]; loops in Python stay scalar."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, indices, start, end, W, out, i = _entries(context, builder, signature, arguments)
        target = _lanes_at(builder, out, i)
        total = cgutils.alloca_once(builder, _VECTOR)
        builder.store(builder.load(target, align=8), total)
        one = ir.Constant(start.type, 1)
        with cgutils.for_range_slice(builder, start, end, one, inc=True) as (t, _):
            column = builder.sext(builder.load(builder.gep(indices, [t])), i.type)
            value = _spread(builder, builder.load(builder.gep(data, [t])))
            product = builder.fmul(
                value, builder.load(_lanes_at(builder, W, column), align=8), flags=_CONTRACT
            )
            builder.store(builder.fadd(builder.load(total), product, flags=_CONTRACT), total)
        builder.store(builder.load(total), target, align=8)
        return context.get_dummy_value()

    return types.void(data, indices, types.intp, types.intp, W, out, types.intp), generate


@_intrinsic
def _scatter(
    typing_context: Any, data: Any, indices: Any, start: Any, end: Any, G: Any, i: Any, out: Any
) -> Any:
    """Add data[t] G[i] to out[indices[t]] for start ≤ t < end."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        data, indices, start, end, G, i, out = _entries(context, builder, signature, arguments)
        row = builder.load(_lanes_at(builder, G, i), align=8)
        one = ir.Constant(start.type, 1)
        with cgutils.for_range_slice(builder, start, end, one, inc=True) as (t, _):
            column = builder.sext(builder.load(builder.gep(indices, [t])), i.type)
            target = _lanes_at(builder, out, column)
            product = builder.fmul(
                _spread(builder, builder.load(builder.gep(data, [t]))), row, flags=_CONTRACT
            )
            builder.store(
                builder.fadd(builder.load(target, align=8), product, flags=_CONTRACT), target, align=8
            )
        return context.get_dummy_value()

    return types.void(data, indices, types.intp, types.intp, G, types.intp, out), generate


_compiled = njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})


@_compiled
def _multiply(data, indices, indptr, dense, beside, columns, W, out):  # pragma: no cover - compiled
    for i in range(out.shape[0]):
        _gather(data, indices, indptr[i], indptr[i + 1], W, out, i)
        _gather(beside[i], columns, 0, len(columns), W, out, i)


@_compiled
def _multiply_transposed(
    data, indices, indptr, dense, beside, columns, G, out
):  # pragma: no cover - compiled
    for i in range(G.shape[0]):
        _scatter(data, indices, indptr[i], indptr[i + 1], G, i, out)
        _scatter(beside[i], columns, 0, len(columns), G, i, out)


@_compiled
def _multiply_twice(data, indices, indptr, dense, beside, columns, D, V, out):  # pragma: no cover - compiled
    G = np.empty((1, LANES))
    for i in range(D.shape[0]):
        G[0] = 0.0
        _gather(data, indices, indptr[i], indptr[i + 1], V, G, 0)
        _gather(beside[i], columns, 0, len(columns), V, G, 0)
        for b in range(LANES):
            G[0, b] *= D[i, b]
        _scatter(data, indices, indptr[i], indptr[i + 1], G, 0, out)
        _scatter(beside[i], columns, 0, len(columns), G, 0, out)


@_compiled
def lane_dots(A, B):  # pragma: no cover - compiled
    """Σ_i A_ib B_ib per lane; NumPy's sums over rows of eight numbers take ten times as long."""
    total = np.zeros(A.shape[1])
    for i in range(A.shape[0]):
        for first in range(0, A.shape[1], LANES):
            for b in range(first, first + LANES):
                total[b] += A[i, b] * B[i, b]
    return total
