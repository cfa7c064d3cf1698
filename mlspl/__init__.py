"""Self-paced multi-label learning: a weight for every (instance, label) pair, easy pairs first."""

from importlib.metadata import version

__version__ = version("mlspl")
