"""Naive Bayes on which features exceed their mean, a model a label: the floor, and the example to copy."""

from sklearn.naive_bayes import BernoulliNB

from mlspl.recipes import Method
from studies.benchmark.adapters import PerLabel


def build(alpha):
    return PerLabel(BernoulliNB(alpha=alpha, binarize=0.0))


METHOD = Method("naive-bayes", "Naive Bayes", build, {}, {"alpha": [0.1, 1.0, 10.0]})
