"""Songs to learn from: numbers, categories, missing values and unknown labels."""

import csv
import io

import numpy as np

HEADER = "tempo,key,loud,happy,calm,dance"


def songs(rows=80, seed=0):
    """Numbers, categories, missing values and unknown labels."""
    rng = np.random.default_rng(seed)
    lines = [HEADER]
    for i in range(rows):
        tempo, key, loud = rng.normal(110, 30), rng.choice(list("CFad")), rng.normal(-9, 3)
        labels = [int(key in "CF"), "?" if i % 13 == 5 else int(tempo < 105), int(tempo > 115)]
        cells = [f"{tempo:.1f}", "" if i % 11 == 3 else key, "" if i % 17 == 3 else f"{loud:.2f}", *labels]
        lines.append(",".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def table(text):
    return list(csv.reader(io.StringIO(text)))
