"""Pictures of an audit: how hard labels are, how noisy they are, and when their pairs entered."""

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from mlspl._display import BLUE, ORANGE, Display, final_step, label_names_of
from mlspl._text import drawn
from mlspl.curriculum.audit import Audit, audit
from mlspl.curriculum.difficulty import Difficulty, difficulty
from mlspl.errors import UserError
from mlspl.pacing import Trace

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "DifficultyDisplay",
    "EntryDisplay",
    "NoiseDisplay",
    "plot_difficulty",
    "plot_entry",
    "plot_noise",
]  # fmt: skip

# More labels than this cannot be read side by side; those that matter most are shown.
MOST_LABELS = 30


class DifficultyDisplay(Display):
    """How hard the pairs of each label are: from the 5th to the 95th percentile, the quartiles, the median.

    Parameters
    ----------
    difficulty : Difficulty
        Of the pairs.
    label_names : list of str
        What labels are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import Difficulty, DifficultyDisplay
    >>> display = DifficultyDisplay(Difficulty(np.random.default_rng(0).random((50, 2))), ["a", "b"]).plot()
    >>> display.ax_.get_xlabel()
    'difficulty'
    """

    def __init__(self, difficulty: Difficulty, label_names: list[str]) -> None:
        self.difficulty = difficulty
        self.label_names = label_names

    @classmethod
    def from_audit(cls, audit: Audit, ax: "Axes | None" = None) -> Self:
        """Draw the difficulties of an audit."""
        return cls(audit.difficulty, audit.label_names).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, ax: "Axes | None" = None) -> Self:
        """Draw the difficulties by the trace of a fitted self-paced estimator."""
        trace = _trace_of(estimator)
        return cls(difficulty(trace), label_names_of(estimator, trace.entered.shape[1])).plot(ax)

    def _height(self) -> float:
        return 1.2 + 0.25 * min(len(self.label_names), MOST_LABELS)

    def _draw(self, ax) -> None:
        order = _shown(self.difficulty.labels)
        for place, label in enumerate(order):
            column = self.difficulty.pairs[:, label]
            column = column[~np.isnan(column)]
            if len(column) == 0:
                continue
            low, first, median, third, high = np.quantile(column, [0.05, 0.25, 0.5, 0.75, 0.95])
            ax.plot([low, high], [place, place], color="0.6", linewidth=1)
            ax.plot([first, third], [place, place], color=BLUE, linewidth=5, solid_capstyle="butt")
            ax.plot(median, place, "o", color="white", markeredgecolor="0.2", markersize=4)
        _name_labels(ax, [self.label_names[label] for label in order], len(self.label_names))
        ax.set(xlabel="difficulty", xlim=(0, 1))


class NoiseDisplay(Display):
    """The share of lost positives and of false ones of each label, with their intervals.

    Parameters
    ----------
    noise_rates : DataFrame
        As :func:`noise_rates` returns it.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import NoiseDisplay, noise_rates
    >>> P = np.random.default_rng(0).random((100, 2))
    >>> display = NoiseDisplay(noise_rates(P > 0.5, P)).plot()
    >>> display.ax_.get_xlabel()
    'rate of noise'
    """

    def __init__(self, noise_rates) -> None:
        self.noise_rates = noise_rates

    @classmethod
    def from_audit(cls, audit: Audit, ax: "Axes | None" = None) -> Self:
        """Draw the rates that an audit found."""
        return cls(audit.noise_rates).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, X, Y, ax: "Axes | None" = None, **options: Any) -> Self:
        """Audit X and Y with the estimator, and draw the rates; `options` go to :func:`audit`."""
        return cls.from_audit(audit(X, Y, estimator, **options), ax)

    def _height(self) -> float:
        return 1.2 + 0.25 * min(len(self.noise_rates), MOST_LABELS)

    def _draw(self, ax) -> None:
        rates = self.noise_rates
        order = _shown((rates["lost"] + rates["false"]).to_numpy())
        for name, meaning, colour, shift in (
            ("lost", "positives lost", BLUE, 0.15),
            ("false", "negatives given falsely", ORANGE, -0.15),
        ):
            part, places = rates.iloc[order], np.arange(len(order)) + shift
            ax.hlines(places, part[f"{name}_low"], part[f"{name}_high"], color=colour, linewidth=1.5)
            ax.plot(part[name], places, "o", color=colour, markersize=4, label=meaning)
        _name_labels(ax, [str(name) for name in rates.index[order]], len(rates))
        ax.set_xlim(left=0)
        ax.set_xlabel("rate of noise")
        ax.legend(frameon=False)


class EntryDisplay(Display):
    """The share of each label's pairs that has entered by each step of a paced fit.

    Parameters
    ----------
    trace : Trace
        Of the fit.
    label_names : list of str
        What labels are called.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        After :meth:`plot`.

    Examples
    --------
    >>> import numpy as np
    >>> from mlspl.curriculum import EntryDisplay
    >>> from mlspl.pacing import Trace
    >>> trace = Trace((1, 2))
    >>> trace.add(np.array([[0.5, 2.0]]), np.array([[0.9, 0.1]]))
    >>> EntryDisplay(trace, ["a", "b"]).shares
    array([[1., 0.]])
    """

    def __init__(self, trace: Trace, label_names: list[str]) -> None:
        self.trace = trace
        self.label_names = label_names

    @classmethod
    def from_audit(cls, audit: Audit, ax: "Axes | None" = None) -> Self:
        """Draw the trace of the audit's paced model."""
        if audit.trace is None:
            raise UserError("The audit asked no paced model, so no pair entered at any step.")
        return cls(audit.trace, audit.label_names).plot(ax)

    @classmethod
    def from_estimator(cls, estimator, ax: "Axes | None" = None) -> Self:
        """Draw the trace of a fitted self-paced estimator."""
        trace = _trace_of(estimator)
        return cls(trace, label_names_of(estimator, trace.entered.shape[1])).plot(ax)

    @property
    def shares(self) -> NDArray[np.float64]:
        """The shares (steps, L)."""
        entered = self.trace.entered
        steps = range(1, self.trace.n_steps + 1)
        return np.array([((entered > 0) & (entered <= step)).mean(axis=0) for step in steps])

    def _height(self) -> float:
        return 1.2 + 0.25 * min(len(self.label_names), MOST_LABELS)

    def _draw(self, ax) -> None:
        from matplotlib.ticker import MaxNLocator

        shares = self.shares
        order = _shown(1 - shares[-1])
        image = ax.imshow(
            shares[:, order].T, origin="lower", aspect="auto", vmin=0, vmax=1, cmap="viridis",
            extent=(0.5, len(shares) + 0.5, -0.5, len(order) - 0.5),
        )  # fmt: skip
        ax.figure.colorbar(image, ax=ax, label="share of pairs that entered")
        _name_labels(ax, [self.label_names[label] for label in order], len(self.label_names))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("step")


def plot_difficulty(audit: Audit, ax: "Axes | None" = None) -> DifficultyDisplay:
    """Draw how hard the pairs of each label are.

    Parameters
    ----------
    audit : Audit
        What to draw.
    ax : matplotlib Axes, optional
        Where; by default in a new figure.

    Returns
    -------
    DifficultyDisplay

    Examples
    --------
    >>> from mlspl import BSVMClassifier, curriculum, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> found = curriculum.audit(digits.X[:100], digits.Y[:100], BSVMClassifier(gamma="scale"), cv=2)
    >>> curriculum.plot_difficulty(found).ax_.get_xlabel()
    'difficulty'
    """
    return DifficultyDisplay.from_audit(audit, ax)


def plot_noise(audit: Audit, ax: "Axes | None" = None) -> NoiseDisplay:
    """Draw the rates of noise of each label.

    Parameters
    ----------
    audit : Audit
        What to draw.
    ax : matplotlib Axes, optional
        Where; by default in a new figure.

    Returns
    -------
    NoiseDisplay

    Examples
    --------
    >>> from mlspl import BSVMClassifier, curriculum, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> found = curriculum.audit(digits.X[:100], digits.Y[:100], BSVMClassifier(gamma="scale"), cv=2)
    >>> curriculum.plot_noise(found).ax_.get_xlabel()
    'rate of noise'
    """
    return NoiseDisplay.from_audit(audit, ax)


def plot_entry(audit: Audit, ax: "Axes | None" = None) -> EntryDisplay:
    """Draw which share of each label's pairs had entered by each step of the audit's paced model.

    Parameters
    ----------
    audit : Audit
        What to draw.
    ax : matplotlib Axes, optional
        Where; by default in a new figure.

    Returns
    -------
    EntryDisplay

    Examples
    --------
    >>> from mlspl import SelfPacedForestClassifier, curriculum, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> found = curriculum.audit(digits.X[:100], digits.Y[:100], SelfPacedForestClassifier(10))
    >>> curriculum.plot_entry(found).ax_.get_xlabel()
    'step'
    """
    return EntryDisplay.from_audit(audit, ax)


def _trace_of(estimator) -> Trace:
    fitted = final_step(estimator)
    trace = getattr(fitted, "trace_", None)
    if trace is None:
        raise UserError(f"{type(fitted).__name__} has no trace_: fit a self-paced estimator first.")
    return trace


def _shown(values) -> NDArray[np.intp]:
    """The labels with the largest values, these last; NaN first."""
    return np.argsort(np.nan_to_num(values, nan=-1.0), kind="stable")[-MOST_LABELS:]


def _name_labels(ax, names: list[str], total: int) -> None:
    ax.set_yticks(range(len(names)), [drawn(name) for name in names])
    ax.set_ylim(-0.6, len(names) - 0.4)
    ax.spines[["top", "right"]].set_visible(False)
    if len(names) < total:
        ax.set_title(f"{len(names)} of {total} labels", loc="left", fontsize="medium")
