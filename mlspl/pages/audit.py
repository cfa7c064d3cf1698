"""The page on which suspected labels are reviewed, and the tables beside it."""

import json
from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl._files import OutputFolder, check_output, write_file
from mlspl._json import plain
from mlspl._text import safe_csv
from mlspl.curriculum import LEAST_SUSPICION, Audit
from mlspl.datasets import Dataset
from mlspl.pages._evidence import find_evidence
from mlspl.pages._images import Picture, picture_address
from mlspl.pages._render import render

AUDIT_FILES = ("audit.html", "issues.csv", "labels.csv", "rows.csv")
"""The files that an audit writes to its folder."""

_MOST_PAIRS = 100_000
# Features and nearest rows are shown for so many of the strongest suspicions, and for so many of each label.
_MOST_DETAILS = 2000
_DETAILS_A_LABEL = 5
# Characters of a text: of a row whose details are shown, and of one that only stands in a list.
_LONG_TEXT, _SHORT_TEXT = 2000, 200


def write_audit(path: str | PathLike, audit: Audit, X, *, force: bool = False, **page: Any) -> Path:
    """Write the page of an audit: one HTML file with everything inside.

    Parameters
    ----------
    path, audit
        The file to write, and what :func:`mlspl.curriculum.audit` found.
    X : array, sparse matrix or DataFrame of shape (n, d)
        The features, in units that a reader knows; NaN where a value is missing.
    force : bool, default=False
        Replace an existing file; pictures of rows are never replaced.
    name, fingerprint, options
        What to call the data; by which `mlspl correct` knows the data again, by default taken of X and the
        labels; the options that say how the file is read, which `mlspl correct` compares with its own.
    feature_names : sequence of str, optional
        Names of the columns of X; by default those of a DataFrame.
    most : int, default=0
        List also this many of the most probable missing labels, however low their suspicion.
    ids, texts : sequences of str, optional
        What to call each row, by default as the audit does, and its text.
    images : sequence, optional
        A picture of each row: pixels or a `Path`, which are embedded; or a path relative to the page as text,
        which is linked.

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
    check_output(path, _pictures(path.parent, **page), force=force)
    return write_file(path, render_audit(audit, X, **page))


def write_audit_folder(
    folder: str | Path,
    audit: Audit,
    X,
    *,
    inputs: Iterable[str | Path] = (),
    force: bool = False,
    **page: Any,
) -> list[Path]:
    """Write what an audit found: audit.html, issues.csv, labels.csv and rows.csv.

    The folder is made if it does not exist. `inputs` are files that were read, which are never replaced; with
    `force`, other files of these names are. All else is as in :func:`write_audit`.
    """
    outputs = OutputFolder(folder, [*inputs, *_pictures(Path(folder), **page)], force=force)
    outputs.check(AUDIT_FILES)
    ids = page.get("ids")
    issues = audit.issues
    columns = ["label", "given", "suggested", "suspicion", "probability", "difficulty", "why"]
    # Columns for review in a spreadsheet, which `read_decisions` reads like an exported decisions.csv.
    how = {"fingerprint": page.get("fingerprint") or "", "options": json.dumps(page.get("options") or [])}
    review = issues[columns].assign(decision="", **how)
    tables = {
        "issues.csv": _with_rows(review, issues["row_number"], ids),
        "labels.csv": audit.labels.rename_axis("label").reset_index(),
        "rows.csv": _with_rows(audit.rows.reset_index(drop=True), range(len(audit.rows)), ids),
    }
    contents = {"audit.html": render_audit(audit, X, **page)}
    for name, table in tables.items():
        contents[name] = safe_csv(table, float_format="%.6g", lineterminator="\n")
    return [outputs.write(*content) for content in contents.items()]


def _pictures(folder: Path, images: Sequence[Picture] | None = None, **_: Any) -> list[Path]:
    """The picture files that a page in this folder embeds or links."""
    return [folder / image for image in (() if images is None else images) if isinstance(image, str | Path)]


def _with_rows(table: pd.DataFrame, rows, ids: Sequence[str] | None) -> pd.DataFrame:
    """The table with the numbers of its rows before it, and their names if they have any."""
    named = {} if ids is None else {"id": [ids[row] for row in rows]}
    return pd.concat([pd.DataFrame({"row": list(rows)} | named), table.reset_index(drop=True)], axis=1)


def render_audit(
    audit: Audit,
    X,
    *,
    name: str = "data",
    fingerprint: str | None = None,
    options: Sequence[str] = (),
    feature_names: Sequence[str] | None = None,
    most: int = 0,
    ids: Sequence[str] | None = None,
    texts: Sequence[str | None] | None = None,
    images: Sequence[Picture] | None = None,
) -> str:
    """Return the HTML of the page; the parameters are those of `write_audit`."""
    names = getattr(X, "columns", None) if feature_names is None else feature_names
    names = [f"feature {j}" for j in range(X.shape[1])] if names is None else list(map(str, names))
    X = sparse.csr_array(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    Y = np.where(audit.given < 0, np.nan, audit.given)
    if fingerprint is None:
        fingerprint = Dataset(X, Y, names, audit.label_names).fingerprint()
    if ids is None and not isinstance(audit.row_names, pd.RangeIndex):
        ids = audit.row_names.map(str).tolist()
    document = {"name": name, "fingerprint": fingerprint, "options": list(options), "features": names}
    document |= plain(_describe(audit, X, Y, most, ids, texts, images), digits=4)
    is_linked = images is not None and any(isinstance(image, str) for image in images)
    return render("audit.html", name=name, document=document, local_images=is_linked)


def _describe(audit: Audit, X, Y, most, ids, texts, images) -> dict[str, Any]:
    """Return what the page shows as columns of numbers and texts; `templates/audit/model.js` reads it."""
    pairs, informative = _pairs(audit)
    first_low = len(pairs)
    pairs = pd.concat([pairs, _most_probable(audit, most, pairs)]) if most else pairs
    rows, labels = (pairs[name].to_numpy(dtype=np.intp) for name in ("row_number", "label_number"))
    # Evidence is shown on the first pairs, which are the most suspected, and on the first of each label.
    rank = pairs.groupby("label_number").cumcount().to_numpy()
    detailed = np.flatnonzero((np.arange(len(labels)) < _MOST_DETAILS) | (rank < _DETAILS_A_LABEL))
    evidence = find_evidence(X, Y, rows[detailed], labels[detailed])
    why, reasons = pd.factorize(pairs["why"])
    in_detail = set(rows[detailed].tolist())
    shown = {int(row) for one in evidence for side in ("with", "without") for row, _ in one[side]}
    listed = sorted({*rows.tolist(), *shown})
    expected = audit.labels["expected_lost"] + audit.labels["expected_false"]
    of_labels = audit.labels.assign(noise=expected / np.maximum((audit.given >= 0).sum(axis=0), 1))
    of_labels = of_labels[["prevalence", "difficulty", "noise", "lost", "false", "auc"]]
    people = None
    if audit.annotators is not None:
        people = audit.annotators.annotators
        rates = [f"{rate}{end}" for rate in ("sensitivity", "specificity") for end in ("", "_low", "_high")]
        people = {"name": people.index.map(str), **people[["rows", *rates]].to_dict("list")}
    return {
        "rows": len(Y),
        "low": first_low,
        "informative": informative,
        "annotators": people,
        "estimated": audit.expected_errors,
        "labels": {"name": list(audit.label_names), **of_labels.to_dict("list")},
        "pairs": {
            "row": rows,
            "label": labels,
            "given": [None if given < 0 else given for given in audit.given[rows, labels].tolist()],
            "suggested": pairs["suggested"].astype(int),
            "suspicion": pairs["suspicion"],
            "difficulty": audit.difficulty.pairs[rows, labels],
            "why": why,
        },
        "reasons": reasons,
        "details": dict(zip(detailed.tolist(), evidence, strict=True)),
        "items": _items(listed, in_detail, in_detail | shown, Y, ids, texts, images),
        "votes": None if audit.votes is None else _votes(audit.votes, set(rows.tolist())),
    }


def _pairs(audit: Audit) -> tuple[pd.DataFrame, list[int]]:
    """Return pairs to list: suspected, unknown, informative; and the positions of the informative ones."""
    probability = audit.proposals["probability"]
    proposed = audit.proposals.assign(
        suspicion=np.where(audit.proposals["suggested"] == 1, probability, 1 - probability),
        why="unknown so far; this is what it probably is",
    )
    columns = ["row_number", "label_number", "suggested", "suspicion", "why"]
    telling = audit.most_informative
    parts = [part[columns] for part in (audit.issues.head(_MOST_PAIRS), proposed, telling) if len(part)]
    keys = columns[:2]
    pairs = pd.concat(parts).drop_duplicates(keys).head(_MOST_PAIRS) if parts else audit.issues[columns]
    place = pd.MultiIndex.from_frame(pairs[keys]).get_indexer(pd.MultiIndex.from_frame(telling[keys]))
    return pairs, place[place >= 0].tolist()


def _most_probable(audit: Audit, most: int, listed: pd.DataFrame) -> pd.DataFrame:
    """Return the labels that are absent and most probable among those that are not listed."""
    absent = (audit.given == 0) & (np.nan_to_num(audit.suspicion) < LEAST_SUSPICION)
    absent[listed["row_number"], listed["label_number"]] = False
    at = np.flatnonzero(absent)
    order = at[np.argsort(-audit.truth.ravel()[at], kind="stable")][:most]
    rows, labels = np.unravel_index(order, audit.given.shape)
    pairs = pd.DataFrame({"row_number": rows, "label_number": labels, "suspicion": audit.truth[rows, labels]})
    return pairs.assign(suggested=1, why="among the most probable of the labels that are not given")


def _votes(votes: Iterable, rows: set[int]) -> dict[int, list]:
    """Return, for each row, its annotators with the labels they gave and those they did not judge."""
    found: dict[int, list] = {}
    for row, who, said in votes:
        if row in rows:
            found.setdefault(int(row), []).append([who, *(np.flatnonzero(said == code) for code in (1, -1))])
    return found


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
        "row": rows,
        "id": None if ids is None else [str(ids[row]) for row in rows],
        "text": None if texts is None else [cut(row) for row in rows],
        "image": None if images is None else [address(row) for row in rows],
        "labels": [np.flatnonzero(Y[row] == 1) for row in rows],
        "unknown": [np.flatnonzero(np.isnan(Y[row])) for row in rows],
    }
