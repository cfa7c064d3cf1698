"""From a name to a self-paced function."""

from mlspl.errors import UserError, guess
from mlspl.pacing.base import SelfPacedFunction
from mlspl.pacing.cutoff import Hard, Linear, Logarithmic, Mixture, MixtureZhao, Polynomial
from mlspl.pacing.diversity import Diversity
from mlspl.pacing.paper import Arctan, Exponential, Gaussian, Sigmoid, Tanh
from mlspl.pacing.robust import L1L2, Cauchy, Huber, Logistic

__all__ = ["get", "names"]

_CLASSES: dict[str, type[SelfPacedFunction]] = {
    function.name: function
    for function in (
        Arctan,
        Sigmoid,
        Tanh,
        Exponential,
        Gaussian,
        Hard,
        Linear,
        Polynomial,
        Logarithmic,
        Mixture,
        MixtureZhao,
        Logistic,
        Cauchy,
        L1L2,
        Huber,
        Diversity,
    )
}


def names() -> list[str]:
    """Return the names that `get` knows, the paper's own first.

    Examples
    --------
    >>> from mlspl import pacing
    >>> pacing.names()[:5]
    ['arctan', 'sigmoid', 'tanh', 'exponential', 'gaussian']
    """
    return list(_CLASSES)


def get(function: str | SelfPacedFunction) -> SelfPacedFunction:
    """Resolve the name of a self-paced function; an instance passes through.

    Parameters
    ----------
    function : str or SelfPacedFunction
        One of `names()`, which is made with its default parameters, or an instance.

    Returns
    -------
    SelfPacedFunction

    Examples
    --------
    >>> from mlspl import pacing
    >>> pacing.get("polynomial")
    Polynomial(degree=3.0)
    >>> pacing.get(pacing.Polynomial(degree=2.5))
    Polynomial(degree=2.5)
    """
    if isinstance(function, SelfPacedFunction):
        return function
    if isinstance(function, str) and function in _CLASSES:
        return _CLASSES[function]()
    if not isinstance(function, str):
        hint = " Give a name, or an instance of a subclass of mlspl.pacing.SelfPacedFunction."
    else:
        hint = guess(function, _CLASSES)
        hint = hint or f" The names are {', '.join(_CLASSES)}; mlspl.pacing.derive makes one from a formula."
    raise UserError(f"there is no self-paced function {function!r}.{hint}")
