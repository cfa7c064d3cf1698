"""`write_audit`: the page on which suspected labels are reviewed."""

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from mlspl._files import write_file
from mlspl.curriculum import Audit
from mlspl.datasets import Dataset
from mlspl.pages._evidence import find_evidence
from mlspl.pages._images import Picture, are_local, picture_address
from mlspl.pages._render import embed_json, render

__all__ = ["write_audit"]

_MOST_PAIRS = 100_000
# Features and nearest rows are shown for so many of the strongest suspicions, and for so many of each label.
_MOST_DETAILS = 2000
_DETAILS_A_LABEL = 5
_MOST_EXAMPLES = 3000
_EXAMPLES = 3
# A paced fit of fewer steps tells little of what came when; then pairs are shown by tenths of difficulty.
_FEWEST_STEPS = 3
# Characters of a text: of a row whose details are shown, and of one that only stands in a list.
_LONG_TEXT, _SHORT_TEXT = 2000, 200


def write_audit(
    path: str | PathLike,
    audit: Audit,
    X,
    *,
    name: str = "data",
    fingerprint: str | None = None,
    feature_names: Sequence[str] | None = None,
    ids: Sequence[str] | None = None,
    texts: Sequence[str | None] | None = None,
    images: Sequence[Picture] | None = None,
) -> Path:
    """Write the page of an audit: one HTML file with everything inside.

    Parameters
    ----------
    path : path
        The file to write.
    audit : Audit
        From :func:`mlspl.curriculum.audit`.
    X : array, sparse matrix or DataFrame of shape (n, d)
        The features, in units that a reader knows; NaN where a value is missing.
    name : str, default="data"
        What to call the data.
    fingerprint : str, optional
        Under which the browser keeps decisions, and by which `mlspl correct` knows the data again: that of
        the :class:`~mlspl.datasets.Dataset`. By default it is taken of X and the given labels.
    feature_names : sequence of str, optional
        Names of the columns of X; by default those of a DataFrame.
    ids, texts : sequences of str, optional
        What to call each row, by default as the audit does, and its text.
    images : sequence, optional
        A picture of each row: an array of pixels or a `Path`, which are embedded, or a path relative to the
        page as text, which is linked.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl import BSVMClassifier, curriculum, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> X, (Y, planted) = digits.X[:200], datasets.corrupt(digits.Y[:200], "flip", 0.05, random_state=0)
    >>> found = curriculum.audit(X, Y, BSVMClassifier(gamma="scale"), random_state=0)
    >>> pictures = list(X.reshape(-1, 8, 8))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_audit(f"{folder}/audit.html", found, X, name="digits", images=pictures)
    ...     page.read_text(encoding="utf-8").count("<title>Label audit of digits</title>")
    1
    """
    path = Path(path)
    names = feature_names or getattr(X, "columns", None)
    names = [f"feature {j}" for j in range(X.shape[1])] if names is None else list(map(str, names))
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    if fingerprint is None:
        labels = np.where(audit.given < 0, np.nan, audit.given)
        fingerprint = Dataset(X, labels, names, audit.label_names).fingerprint()
    if ids is None and not isinstance(audit.row_names, pd.RangeIndex):
        ids = audit.row_names.map(str).tolist()
    document = describe_audit(audit, X, ids=ids, texts=texts, images=images)
    document |= {"name": name, "fingerprint": fingerprint, "features": names}
    page = render("audit.html", name=name, document=embed_json(document), local_images=are_local(images))
    write_file(path, page)
    return path


def describe_audit(audit: Audit, X, *, ids=None, texts=None, images=None) -> dict[str, Any]:
    """What the page knows, as columns of plain numbers and texts; `templates/audit/model.js` reads it."""
    Y = np.where(audit.given < 0, np.nan, audit.given)
    pairs = _pairs(audit)
    rows, labels = (pairs[name].to_numpy(dtype=np.intp) for name in ("row_number", "label_number"))
    detailed = _detailed(labels)
    evidence = find_evidence(X, Y, rows[detailed], labels[detailed])
    trace = audit.trace if audit.trace is not None and audit.trace.n_steps >= _FEWEST_STEPS else None
    stage = _tenths(audit.difficulty.pairs) if trace is None else trace.entered
    curriculum = _curriculum(audit, stage, 10 if trace is None else int(trace.n_steps))
    curriculum["paced"] = trace is not None
    reasons = list(dict.fromkeys(pairs["why"]))
    reason_at = {reason: i for i, reason in enumerate(reasons)}
    in_detail = set(rows[detailed].tolist())
    shown = {int(row) for one in evidence for side in ("with", "without") for row, _ in one[side]}
    shown |= {
        row for sides in curriculum["examples"] for stages in sides for rows_at in stages for row in rows_at
    }
    return {
        "rows": len(Y),
        "estimated": _number(audit.expected_errors),
        "labels": _label_columns(audit),
        "pairs": {
            "row": rows.tolist(),
            "label": labels.tolist(),
            "given": [None if given < 0 else given for given in audit.given[rows, labels].tolist()],
            "suggested": pairs["suggested"].astype(int).tolist(),
            "suspicion": _numbers(pairs["suspicion"]),
            "difficulty": _numbers(audit.difficulty.pairs[rows, labels]),
            "entered": [None] * len(rows) if trace is None else stage[rows, labels].tolist(),
            "why": [reason_at[why] for why in pairs["why"]],
        },
        "reasons": reasons,
        "details": {
            int(pair): {
                key: [tuple(map(_number, entry)) for entry in entries] for key, entries in one.items()
            }
            for pair, one in zip(detailed, evidence, strict=True)
        },
        "items": _items(
            sorted({*rows.tolist(), *shown}), in_detail, in_detail | shown, Y, ids, texts, images
        ),
        "curriculum": curriculum,
    }


def _pairs(audit: Audit) -> pd.DataFrame:
    """The suspected pairs, then what unknown labels probably are, with how probably that is right."""
    proposed = audit.proposals
    present = proposed["suggested"] == 1
    proposed = proposed.assign(
        suspicion=np.where(present, proposed["probability"], 1 - proposed["probability"]),
        why="unknown so far; this is what it probably is",
    )
    columns = ["row_number", "label_number", "suggested", "suspicion", "why"]
    parts = [part[columns] for part in (audit.issues, proposed) if len(part)]
    return pd.concat(parts).head(_MOST_PAIRS) if parts else audit.issues[columns]


def _detailed(labels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Which pairs, strongest first, get their evidence: the first ones overall and of each label."""
    rank = pd.Series(labels).groupby(labels).cumcount().to_numpy()
    return np.flatnonzero((np.arange(len(labels)) < _MOST_DETAILS) | (rank < _DETAILS_A_LABEL))


def _label_columns(audit: Audit) -> dict[str, list]:
    table = audit.labels
    known = np.maximum((audit.given >= 0).sum(axis=0), 1)
    table = table.assign(noise=(table["expected_lost"] + table["expected_false"]) / known)
    columns = ("prevalence", "difficulty", "noise", "lost", "false", "auc")
    return {"name": list(audit.label_names), **{name: _numbers(table[name]) for name in columns}}


def _items(rows, in_detail, pictured, Y, ids, texts, images) -> dict[str, list | None]:
    """What is told about each row: its name, text, picture and labels."""

    def cut(row: int) -> str | None:
        text = None if texts is None or texts[row] is None else str(texts[row])
        most = _LONG_TEXT if row in in_detail else _SHORT_TEXT
        return text if text is None or len(text) <= most else text[: most - 1] + "…"

    def address(row: int) -> str | None:
        # What is linked costs nothing; what is embedded is for the rows that one looks at.
        if images is None or (row not in pictured and not isinstance(images[row], str)):
            return None
        return picture_address(images[row])

    return {
        "row": list(rows),
        "id": None if ids is None else [str(ids[row]) for row in rows],
        "text": None if texts is None else [cut(row) for row in rows],
        "image": None if images is None else [address(row) for row in rows],
        "labels": [np.flatnonzero(Y[row] == 1).tolist() for row in rows],
        "unknown": [np.flatnonzero(np.isnan(Y[row])).tolist() for row in rows],
    }


def _tenths(difficulty: NDArray) -> NDArray[np.intp]:
    """From 1, the easiest tenth of all pairs, to 10; 0 where nothing is known."""
    return np.where(np.isnan(difficulty), 0, np.minimum(np.nan_to_num(difficulty) * 10, 9).astype(int) + 1)


def _curriculum(audit: Audit, stage: NDArray, steps: int) -> dict[str, Any]:
    """How many pairs of each label, given 0 and given 1, are at each stage from 1 on, at 0 last; examples."""
    at = np.where(stage > 0, stage - 1, steps)
    n_labels = audit.given.shape[1]
    wanted = min(_EXAMPLES, _MOST_EXAMPLES // (2 * n_labels * (steps + 1)))
    counts, examples = [], []
    for j in range(n_labels):
        sides = [np.flatnonzero(audit.given[:, j] == given) for given in (0, 1)]
        counts.append([np.bincount(at[rows, j], minlength=steps + 1).tolist() for rows in sides])
        easy_first = [rows[np.argsort(audit.difficulty.pairs[rows, j], kind="stable")] for rows in sides]
        examples.append(
            [
                [rows[at[rows, j] == step][:wanted].tolist() for step in range(steps + 1)]
                for rows in easy_first
            ]
        )
    return {"steps": steps, "entered": counts, "examples": examples}


def _number(value: float) -> float | None:
    """Four digits of a number; None for what JSON has no number for."""
    value = float(value)
    return float(f"{value:.4g}") if np.isfinite(value) else None


def _numbers(values: Iterable[float]) -> list[float | None]:
    return [_number(value) for value in values]
