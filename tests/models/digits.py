"""A tenth of the digits and their traits, scaled: what the tests of choosing models fit on."""

from sklearn.preprocessing import StandardScaler

from mlspl.datasets import load_dataset
from mlspl.model_selection import protocol_split

DIGITS = load_dataset("digits-traits")
TRAIN, TEST = protocol_split(len(DIGITS.Y), 0, 0.1)
X = StandardScaler().fit(DIGITS.X[TRAIN]).transform(DIGITS.X)
X_TRAIN, Y_TRAIN, X_TEST, Y_TEST = X[TRAIN], DIGITS.Y[TRAIN], X[TEST], DIGITS.Y[TEST]
