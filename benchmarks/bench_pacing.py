"""The weight of every self-paced function on ten million losses, against the one ufunc it is made of.

Prints the best of several runs of both, side by side, and their ratio; it should be at most 3. All of it runs
in one thread and is timed in processor seconds, which a busy machine disturbs least.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy.special import expit

from mlspl import pacing


def best_of(runs: int, *functions: Callable[[], object]) -> list[float]:
    """The shortest time of each function; the runs take turns, so that noise falls on all alike."""
    shortest = [np.inf] * len(functions)
    for _ in range(runs):
        for i, function in enumerate(functions):
            start = time.process_time()
            function()
            shortest[i] = min(shortest[i], time.process_time() - start)
    return shortest


def ufuncs(loss: np.ndarray, pace: float) -> dict[str, tuple[str, Callable[[], np.ndarray]]]:
    """Of each function, the ufunc that does its work, applied to the losses once."""
    exp = ("exp", lambda: np.exp(loss))
    sigmoid = ("expit", lambda: expit(loss))
    root = ("sqrt", lambda: np.sqrt(loss))
    divide = ("divide", lambda: np.divide(pace, loss))
    return {
        "arctan": ("arctan", lambda: np.arctan(loss)),
        "sigmoid": sigmoid,
        "tanh": sigmoid,
        "exponential": exp,
        "gaussian": exp,
        "hard": ("less, as float", lambda: np.less(loss, pace).astype(np.float64)),
        "linear": ("maximum", lambda: np.maximum(loss, pace)),
        "polynomial": ("power", lambda: np.power(loss, 0.5)),
        "logarithmic": ("log1p", lambda: np.log1p(loss)),
        "mixture": divide,
        "mixture-zhao": root,
        "logistic": sigmoid,
        "cauchy": divide,
        "l1-l2": root,
        "huber": root,
        "diversity": ("argsort", lambda: np.argsort(loss, kind="stable")),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--losses", type=int, default=10_000_000)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    loss = np.random.default_rng(0).exponential(size=arguments.losses)
    pace = 0.7
    peers = ufuncs(loss, pace)
    print(f"{loss.size:,} losses, best of {arguments.runs}; one pace for all, then one for each of 10 labels")
    print(f"{'function':14}{'weight':>9}{'a label':>9}{'ufunc':>9}  {'':16}{'ratio':>6}{'a label':>9}")
    worst = 0.0
    table = loss.reshape(-1, 10)
    paces = np.linspace(0.2, 0.9, 10)[None, :]
    for name in pacing.names():
        function = pacing.get(name)
        label, peer = peers[name]
        own, by_label, other = best_of(
            2 if name == "diversity" else arguments.runs,
            lambda f=function: f.weight(loss, pace),
            lambda f=function: f.weight(table, paces),
            peer,
        )
        worst = max(worst, own / other)
        milliseconds = "".join(f"{1e3 * seconds:6.0f} ms" for seconds in (own, by_label, other))
        print(f"{name:14}{milliseconds}  {label:16}{own / other:5.2f}x{by_label / other:8.2f}x")
    curve = pacing.derive(lambda t: np.exp(-t))
    text = pacing.derive("exp(-t)")
    for title, function in (("derived, call", curve), ("derived, text", text)):
        own, other = best_of(arguments.runs, lambda f=function: f.weight(loss, pace), lambda: np.exp(loss))
        worst = max(worst, own / other)
        print(f"{title:14}{1e3 * own:6.0f} ms{'':9}{1e3 * other:6.0f} ms  {'exp':16}{own / other:5.2f}x")
    print(f"largest ratio {worst:.2f}")


if __name__ == "__main__":
    main()
