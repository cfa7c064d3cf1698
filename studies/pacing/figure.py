"""The study's figure: what pacing gains, by family and noise."""

import pandas as pd
from matplotlib.figure import Figure

from mlspl.experiments import draw_intervals

__all__ = ["gain_figure"]


def gain_figure(gains: pd.DataFrame) -> Figure:
    """Draw what pacing gains: a row a family, a panel a data set, mean ± standard error by noise.

    Parameters
    ----------
    gains : DataFrame
        From :func:`studies.pacing.scores.pacing_gains`.
    """
    # While the study runs, a family with results on one data set would be a row of empty panels.
    spread = gains.groupby("family")["dataset"].nunique()
    gains = gains[gains["family"].isin(spread[spread >= min(2, spread.max())].index)]
    names, families = (list(dict.fromkeys(gains[level])) for level in ("dataset", "family"))
    size = (1.0 + 1.8 * len(names), 0.8 + 1.7 * len(families))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(len(families), len(names), sharex=False, sharey=True, squeeze=False)
    kinds = ["clean", *dict.fromkeys(kind.replace(":", " ") for kind in gains["corruption"] if kind)]
    for number, family in enumerate(families):
        for axis, name in zip(axes[number], names, strict=True):
            part = gains[(gains["dataset"] == name) & (gains["family"] == family)]
            part = part.set_index(part["corruption"].str.replace(":", " ").replace("", "clean")).reindex(
                kinds
            )
            draw_intervals(axis, part["gain"], part["error"], reference=0.0)
            if number < len(families) - 1:
                axis.set_xticklabels([])
            if number == 0:
                axis.set_title(name, fontsize=10)
        axes[number, 0].set_ylabel(family, fontsize=9)
    title = "Average precision, paced less unpaced (mean ± standard error over splits; of one split no error)"
    figure.suptitle(title, fontsize=9)
    return figure
