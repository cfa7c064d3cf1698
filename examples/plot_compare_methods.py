"""
Compare methods on your data
============================

Several methods on the same splits of the same data. At the shell, ``mlspl compare FILE`` does this with
significance tests and a report.
"""

# %%
# Methods by name
# ---------------
# ``get_method`` returns a method with the defaults of ``mlspl fit --method NAME``. ``Recipe`` adds the
# preprocessing.

import time

import matplotlib.pyplot as plt
import pandas as pd

from mlspl import datasets, metrics
from mlspl.model_selection import protocol_split
from mlspl.recipes import Recipe, Schema, get_method, take_rows

digits = datasets.load_dataset("digits-traits", encode=False)
schema = Schema.from_dataset(digits)
table, _ = schema.match(digits)
methods = ["bsvm", "ml-knn", "tram", "ml-loc", "mlspl", "extra-trees"]

# %%
# Splits
# ------
# Two random splits, one fifth of the rows for training.

rows = []
for split in (100, 101):
    train, test = protocol_split(len(digits.Y), split, train=0.2)
    new = take_rows(table, test)
    for name in methods:
        method = get_method(name)
        start = time.perf_counter()
        model = Recipe(method, schema, seed=split).build({}).fit(take_rows(table, train), digits.Y[train])
        seconds = time.perf_counter() - start
        scores = metrics.score_all(digits.Y[test], model.decision_function(new), model.predict(new))
        rows.append({"method": method.title, "split": split, "seconds": seconds, **scores})
results = pd.DataFrame(rows)
means = results.drop(columns="split").groupby("method", sort=False).mean()
print(means.round(4).to_string())

# %%
# Figure
# ------
# Points are splits, bars their means. A split can be hard for all methods, so compare methods within a
# split.

figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for axis, criterion in zip(axes, ("average_precision", "hamming_loss"), strict=True):
    axis.plot(means[criterion], means.index, "|", color="#0072b2", markersize=16, markeredgewidth=3)
    axis.plot(results[criterion], results["method"], "o", color="#0072b2", markersize=4, alpha=0.5)
    axis.grid(axis="y", alpha=0.3)
    axis.set_xlabel(criterion.replace("_", " "))
axes[0].invert_yaxis()
plt.show()
