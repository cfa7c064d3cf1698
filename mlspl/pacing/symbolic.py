"""Formulas of a derived self-paced function: SymPy runs in a child process with limited time and memory."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from typing import Any

import numpy as np

from mlspl.errors import UserError
from mlspl.pacing.base import FloatArray
from mlspl.pacing.expression import to_sympy
from mlspl.pacing.numeric import NumericCurve

_CPU_SECONDS = 6  # of processor time for the child; on Windows only the next limit holds
_WALL_SECONDS = 30.0
_MEMORY = 2**30  # bytes of address space
_SHORT = 16  # operations; a shorter penalty is not simplified further
_PROBES = np.concatenate([[1e-6, 1e-3], np.linspace(0.02, 0.98, 25)])


def find_formulas(text: str, family: str, exponent: float) -> dict[str, dict[str, str]]:
    """From "weight", "inverse" and "penalty" to ``{"text": ..., "latex": ...}``, where found."""
    if find_spec("sympy") is None:
        raise UserError("formulas need SymPy. Install the extra: python -m pip install 'mlspl[symbolic]'.")
    # With -P and without "" in the path, a sympy.py in the current directory is not imported.
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1"}
    try:
        output = subprocess.run(
            [sys.executable, "-P", "-W", "ignore", "-m", __name__],
            input=json.dumps([text, family, exponent]).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_WALL_SECONDS,
            env=environment,
            check=False,
        ).stdout
    except subprocess.TimeoutExpired as late:
        output = late.stdout or b""
    # The child writes one line for each form it finds; a later line is a shorter form of the same part.
    return dict(map(json.loads, output.splitlines()[: output.count(b"\n")]))


def main() -> None:
    """Read a formula from standard input and write what SymPy finds, line by line."""
    text, family, exponent = json.load(sys.stdin)
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (_CPU_SECONDS, _CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    import sympy as sp

    from mlspl.pacing.derived import derive

    loss, v, pace = (sp.Symbol(name, positive=True) for name in ("l", "v", "lambda"))
    t = sp.Symbol("t", positive=True) if family == "scale" else sp.Symbol("t", real=True)
    scale = pace ** sp.nsimplify(exponent, rational=True)
    curve = to_sympy(text, sp, t)
    numeric = derive(text, family).numeric
    for part, form in _search(curve, t, v, _PROBES * numeric.top, numeric):
        if part == "weight":
            form = form.subs(t, loss / scale if family == "scale" else loss - pace)
        elif family == "scale":
            form = scale * form
        else:
            form += pace if part == "inverse" else -pace * v
        forms = {"text": str(form), "latex": sp.latex(form, ln_notation=True)}
        print(json.dumps([part, forms]), flush=True)


def _search(
    curve: Any, t: Any, v: Any, probes: FloatArray, numeric: NumericCurve
) -> Iterator[tuple[str, Any]]:
    """Invert and integrate a curve; yield forms that agree with the numeric values, ever shorter."""
    import sympy as sp

    yield "weight", curve
    losses, costs = numeric.inverse(probes), numeric.penalty(probes)
    plain = sp.simplify(curve.rewrite(sp.exp)) if curve.has(sp.tanh, sp.sinh, sp.cosh) else curve
    roots = sp.solve(sp.Eq(plain, v), t)
    roots = [root for root in (*roots, *map(sp.simplify, roots)) if _agrees(root, v, probes, losses)]
    if not roots:
        return
    root = min(roots, key=sp.count_ops)
    yield "inverse", root
    shortest = np.inf
    logs = (sp.log(v), sp.log(1 - v), sp.log(2 - v))
    for integrate in (
        lambda: sp.integrate(plain, t).subs(t, root) - v * root,  # by parts
        lambda: -sp.integrate(root, v, manual=True),
    ):
        if shortest <= _SHORT:
            return
        with suppress(Exception):  # SymPy may fail on one of them
            form = integrate()
            split = sp.expand(sp.expand_log(sp.expand(sp.simplify(form)), force=True))
            for written in (form, sp.collect(split, logs)):
                written = written.as_independent(v, as_Add=True)[1]  # without its constant
                size = sp.count_ops(written)
                if size < shortest and _agrees(written, v, probes, costs, up_to_constant=True):
                    shortest = size
                    yield "penalty", written


def _agrees(
    form: Any, v: Any, probes: FloatArray, expected: FloatArray, *, up_to_constant: bool = False
) -> bool:
    """Return whether a form is real and has the expected values at the probes."""
    import sympy as sp

    if not isinstance(form, sp.Expr) or form.has(sp.I, sp.zoo, sp.nan, sp.Integral):
        return False
    try:
        with np.errstate(all="ignore"):
            values = np.asarray(sp.lambdify(v, form, ["scipy", "numpy"])(probes))
    except Exception:  # a form that NumPy and SciPy cannot compute is not used
        return False
    if values.shape != probes.shape or values.dtype.kind != "f":
        return False
    if up_to_constant:
        values, expected = values - values[-1], expected - expected[-1]
    return bool(np.allclose(values, expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max()))


if __name__ == "__main__":
    main()
