"""Trials of nothing, for the tests of the store."""

from mlspl.experiments import Trial


def trial(split=0, **changes):
    return Trial(
        **{
            "dataset": "d",
            "fingerprint": "f",
            "method": "m",
            "parameters": {"k": 1},
            "split": split,
            **changes,
        }
    )
