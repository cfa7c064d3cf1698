"""Made-up documents of an audit, as `mlspl.pages` would write them."""

import numpy as np

from mlspl.pages import render
from mlspl.pages._images import picture_address

EVIL = "<script>document.title='hurt'</script>\"' onmouseover=alert(1)"
NAMES = ["calm", "happy", "=1+cmd|' /C calc'!A1", EVIL, "loud, slow"]
PIXEL = picture_address(np.array([[0.0]]))


def make_document(n_pairs=60, fingerprint="f1", images=False, low=0):
    """Pairs with suspicions that fall from .99 on; the label of the last is unknown."""
    rng = np.random.default_rng(0)
    L = len(NAMES)
    n = -(-n_pairs // 2)
    keys = np.sort(rng.choice(n * L, n_pairs, replace=False))
    rng.shuffle(keys)
    rows, labels = (keys // L).tolist(), (keys % L).tolist()
    given = rng.integers(0, 2, n_pairs).tolist()
    given[-1] = None
    neighbours = [[int(row), 0.5] for row in rng.choice(n, 2)]
    detail = {
        "for": [[0, 1.0, 2.0, -1.0]],
        "against": [[1, None, 0.0, 0.25]],
        "with": neighbours,
        "without": neighbours,
    }
    everyone = list(range(n))
    return {
        "name": f"songs {EVIL}",
        "fingerprint": fingerprint,
        "rows": n,
        "low": n_pairs - low,
        "estimated": 12.3,
        "features": [EVIL, "tempo"],
        "labels": {
            "name": NAMES,
            "prevalence": [0.1, 0.2, 0.3, 0.4, 0.5],
            "difficulty": [0.5, 0.1, 0.3, 0.4, None],
            "noise": [0.01, 0.09, 0.05, 0.03, None],
            "lost": [0.1, 0.2, 0.0, 0.0, None],
            "false": [0.0, 0.01, 0.02, 0.03, None],
            "auc": [0.9, 0.8, 0.7, 0.6, None],
        },
        "pairs": {
            "row": rows,
            "label": labels,
            "given": given,
            "suggested": [1 if g is None else 1 - g for g in given],
            "suspicion": np.linspace(0.99, 0.01, n_pairs).round(4).tolist(),
            "difficulty": rng.permutation(n_pairs).tolist(),
            "why": [0] * n_pairs,
        },
        "reasons": [f"because {EVIL}"],
        "details": dict.fromkeys(range(min(n_pairs, 50)), detail),
        "items": {
            "row": everyone,
            "id": [f"song {row}" if row % 2 else f"-{row}{EVIL}" for row in everyone],
            "text": [f"text {row} {EVIL}" for row in everyone],
            "image": [PIXEL] * n if images else None,
            "labels": [[row % L] for row in everyone],
            "unknown": [[] if row % 3 else [(row + 1) % L] for row in everyone],
        },
    }


def write_page(path, document, local_images=False):
    page = render("audit.html", name=document["name"], document=document, local_images=local_images)
    path.write_text(page, encoding="utf-8")
    return path
