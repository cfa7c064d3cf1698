"""Local label correlation: prototypes of label vectors and codes of instances.

The names follow ML-LOC (Huang & Zhou 2012): A are the prototypes, Q the codes.
"""

from mlspl.correlation.prototypes import initial_codes, prototype_distances, prototype_means

__all__ = ["initial_codes", "prototype_distances", "prototype_means"]
