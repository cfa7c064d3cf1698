"""
Model files you can trust
=========================

A model file holds arrays and names, and no code, so files from unknown sources can be loaded. The contents
are checked before the model is built, and a damaged file is refused.
"""

# %%
# Save
# ----

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mlspl import BSVMClassifier, MLkNNClassifier, SelfPacedForestClassifier, datasets, load_model, save_model
from mlspl.errors import UserError
from mlspl.persistence import read_model

digits = datasets.load_dataset("digits-traits")
X = pd.DataFrame(digits.X, columns=digits.feature_names)
Y = pd.DataFrame(digits.Y, columns=digits.label_names)
folder = Path(tempfile.mkdtemp())
model = make_pipeline(StandardScaler(), BSVMClassifier(gamma="scale")).fit(X[:800], Y[:800])
path = save_model(model, folder / "digits.skops", summary={"trained on": "the first 800 digits"})
print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")

# %%
# Load
# ----
# The loaded model predicts exactly what the saved one did. ``read_model`` also returns the description in
# the file: labels, columns, versions, and how the model was trained.

again = load_model(path)
print((again.decision_function(X[800:]) == model.decision_function(X[800:])).all())
_, info = read_model(path)
print(info.label_names, info.summary, info.versions, sep="\n")

# %%
# A damaged file
# --------------
# One bit is changed.

content = bytearray(path.read_bytes())
content[len(content) // 2] ^= 1
changed = folder / "changed.skops"
changed.write_bytes(content)
try:
    load_model(changed)
except UserError as error:
    print(error)

# %%
# Sizes
# -----
# SVMs keep their support vectors, forests their nodes, and ML-kNN all training rows.

sizes = {}
for n_rows in (100, 200, 400, 800):
    for name, estimator in {
        "BSVM": BSVMClassifier(gamma="scale"),
        "ML-kNN": MLkNNClassifier(),
        "forest, 30 trees": SelfPacedForestClassifier(30, random_state=0),
    }.items():
        file = save_model(estimator.fit(X[:n_rows], Y[:n_rows]), folder / "size.skops")
        sizes.setdefault(name, {})[n_rows] = file.stat().st_size / 1e6
table = pd.DataFrame(sizes)
print(table.round(2).to_string())
figure, axis = plt.subplots(figsize=(6, 3.2), layout="constrained")
for name, column in table.items():
    axis.plot(column.index, column, marker="o", label=name)
axis.set(xlabel="training rows", ylabel="size of the file, MB", xticks=np.array(table.index))
axis.legend(frameon=False)
plt.show()
