"""`write_audit_folder`: the page of an audit and its tables."""

from collections.abc import Sequence
from os import PathLike, path
from pathlib import Path
from typing import Any

import pandas as pd

from mlspl._files import write_file
from mlspl._text import safe_csv
from mlspl.curriculum import Audit
from mlspl.pages._images import Picture
from mlspl.pages.audit import write_audit

__all__ = ["find_pictures", "write_audit_folder"]

_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")


def write_audit_folder(folder: str | PathLike, audit: Audit, X, **page: Any) -> list[Path]:
    """Write what an audit found: audit.html, issues.csv, labels.csv and rows.csv.

    Parameters
    ----------
    folder : path
        Where; made if it is not there.
    audit : Audit
        From :func:`mlspl.curriculum.audit`.
    X : array or CSR array of shape (n, d)
        The features, in units that a reader knows.
    **page
        Further arguments of :func:`write_audit`: name and fingerprint of the data, names of features and
        rows, texts, pictures.

    Returns
    -------
    list of Path
        The files.

    Examples
    --------
    >>> import tempfile
    >>> from mlspl import BSVMClassifier, curriculum, datasets
    >>> digits = datasets.load_dataset("digits-traits")
    >>> X, (Y, planted) = digits.X[:200], datasets.corrupt(digits.Y[:200], "flip", 0.05, random_state=0)
    >>> found = curriculum.audit(X, Y, BSVMClassifier(gamma="scale"), random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     paths = write_audit_folder(folder, found, X, name="digits", fingerprint="of these rows")
    >>> [path.name for path in paths]
    ['audit.html', 'issues.csv', 'labels.csv', 'rows.csv']
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    ids = page.get("ids")
    issues = audit.issues
    columns = ["label", "given", "suggested", "suspicion", "probability", "difficulty", "why"]
    tables = {
        "issues.csv": _with_rows(issues[columns], issues["row_number"], ids),
        "labels.csv": audit.labels.rename_axis("label").reset_index(),
        "rows.csv": _with_rows(audit.rows.reset_index(drop=True), range(len(audit.rows)), ids),
    }
    for name, table in tables.items():
        write_file(folder / name, safe_csv(table, float_format="%.6g", lineterminator="\n"))
    return [write_audit(folder / "audit.html", audit, X, **page), *(folder / name for name in tables)]


def _with_rows(table: pd.DataFrame, rows, ids: Sequence[str] | None) -> pd.DataFrame:
    """The table with the numbers of its rows before it, and their names if they have any."""
    named = {} if ids is None else {"id": [ids[row] for row in rows]}
    return pd.concat([pd.DataFrame({"row": list(rows)} | named), table.reset_index(drop=True)], axis=1)


def find_pictures(
    names: Sequence[str | None], folder: Path, page_folder: Path | None
) -> tuple[list[Picture] | None, list[str]]:
    """Return the pictures that a column names, or None if it names none; and the names of those not found.

    Parameters
    ----------
    names : sequence of str or None
        File names, relative to `folder`.
    folder : Path
        Of the data.
    page_folder : Path or None
        Of the page that will link to the pictures; None to embed them.

    Examples
    --------
    >>> find_pictures(["a calm song", None], Path(), None)
    (None, [])
    """
    known = [name for name in names if name]
    if not known or not all(name.lower().endswith(_PICTURES) for name in known):
        return None, []
    pictures: list[Picture] = []
    missing = []
    for name in names:
        file = folder / name if name else None
        if file is None or not file.is_file():
            pictures.append(None)
            missing += [name] if name else []
        else:
            pictures.append(
                file if page_folder is None else path.relpath(file.resolve(), page_folder.resolve())
            )
    return pictures, missing
