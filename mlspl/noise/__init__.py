"""Estimates of label noise from given labels and out-of-sample probabilities.

The models of noise that :mod:`mlspl.curriculum` and noise-following paces share.
"""

from mlspl.noise._other_labels import OtherLabels
from mlspl.noise.estimate import NoiseEstimate, estimate_noise, label_codes, wrong_shares

__all__ = ["NoiseEstimate", "OtherLabels", "estimate_noise", "label_codes", "wrong_shares"]
