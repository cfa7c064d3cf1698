"""The study's figure: what pacing gains under corrupted labels."""

import pandas as pd
from matplotlib.figure import Figure

from mlspl.experiments import draw_intervals

__all__ = ["corruption_figure"]


def corruption_figure(gains: pd.DataFrame) -> Figure:
    """Draw what pacing gains under corrupted labels: a panel a data set, mean ± standard error.

    Parameters
    ----------
    gains : DataFrame
        With the columns `dataset`, `corruption`, `gain` and `error`.
    """
    names = list(dict.fromkeys(gains["dataset"]))
    figure = Figure(figsize=(1.0 + 2.2 * len(names), 2.9), layout="constrained")
    axes = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for axis, name in zip(axes, names, strict=True):
        of_set = (
            gains[gains["dataset"] == name]
            .set_index("corruption")
            .rename(lambda kind: kind.replace(":", " "))
        )
        draw_intervals(axis, of_set["gain"], of_set["error"], reference=0.0)
        axis.set_title(name, fontsize=10)
    axes[0].set_ylabel("gain in average precision", fontsize=9)
    figure.suptitle("MLSPL-CV less its own unpaced end (mean ± standard error over splits)", fontsize=9)
    return figure
