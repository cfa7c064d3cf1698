"""Progress of a long fit: a bar with ``verbose=1``, and scikit-learn's callbacks where they exist."""

from contextlib import contextmanager

from mlspl._progress import show_progress

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks in this version of scikit-learn."""

    def with_callbacks(method):
        """No callbacks to tear down in this version of scikit-learn."""
        return method


__all__ = ["CallbackSupportMixin", "fit_progress", "with_callbacks"]


@contextmanager
def fit_progress(estimator, n_steps: int, X, Y):
    """Yield a function to call at the end of every step of `estimator`'s fit.

    Its argument is a short text for the bar; it returns True when a callback asks to stop.
    """
    context = None
    if hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=n_steps)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=Y)
    with show_progress(
        f"steps of {type(estimator).__name__}", n_steps, hidden=not estimator.verbose, lines=True
    ) as advance:

        def step(note: str) -> bool:
            advance(note)
            if context is None:
                return False
            child = context.subcontext(task_name="step")
            child.call_on_fit_task_begin(estimator=estimator, X=X, y=Y)
            return bool(child.call_on_fit_task_end(estimator=estimator, X=X, y=Y))

        yield step
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator, X=X, y=Y)
