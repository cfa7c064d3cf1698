"""Label Studio: suspected rows as tasks to import, and exported annotations as decisions."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
from scipy import sparse

from mlspl._files import OutputFolder
from mlspl.curriculum import Audit
from mlspl.datasets import DataFormatError, Dataset, check_memory
from mlspl.errors import UserError, guess, shorten
from mlspl.pages._images import Picture, picture_address

LABEL_STUDIO_FILES = ("label-studio.json", "label-studio.xml")
"""The files for Label Studio: tasks to import, and the project's labelling configuration."""

# Names of the tags in the configuration, to which predictions and annotations refer.
_CHOICES, _ITEM = "labels", "item"
_MOST_FEATURES = 50
# Characters that XML does not allow, and what Label Studio takes for a variable of the task.
_BAD_NAME = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|" + r"\$[\w\[\].{}]")


def write_label_studio(
    outputs: OutputFolder,
    audit: Audit,
    X,
    *,
    fingerprint: str,
    feature_names: Sequence[str],
    ids: Sequence[str] | None = None,
    texts: Sequence[str | None] | None = None,
    images: Sequence[Picture] | None = None,
) -> list[Path]:
    """Write the rows with suspected labels for Label Studio.

    Each row with an issue is a task. Its prediction is the more probable value of every label, its score the
    largest suspicion of the row. Pictures are embedded, so that Label Studio needs no access to files. Rows
    without text and picture show their features. The parameters are those of :func:`write_audit`.
    """
    if bad := [name for name in audit.label_names if _BAD_NAME.search(name)]:
        raise UserError(
            f"label {shorten(bad[0])!r} cannot be shown by Label Studio: it has a control character, or a $ "
            "before a word. Rename it."
        )
    names = np.array(audit.label_names, dtype=object)
    tasks = []
    for row, issues in audit.issues.groupby("row_number", sort=False):
        given = list(names[audit.given[row] == 1])
        doubts = [
            f"{'missing' if issue.suggested else 'wrong'}: {issue.label} ({issue.suspicion:.0%})"
            for issue in issues.itertuples()
        ]
        data = {"row": int(row), "name": str(ids[row] if ids is not None else audit.row_names[row])}
        data |= {"given": given, "fingerprint": fingerprint}
        data["note"] = f"{data['name']}. Given: {', '.join(given) or 'none'}. Perhaps {'; '.join(doubts)}"
        if images is not None:
            picture = images[row]
            data["image"] = (
                picture_address(outputs.folder / picture if isinstance(picture, str) else picture) or ""
            )
        else:
            text = None if texts is None else texts[row]
            data["text"] = _describe(X, row, feature_names) if text is None else str(text)
        probable = list(names[audit.truth[row] > 0.5])
        result = {"from_name": _CHOICES, "to_name": _ITEM, "type": "choices", "value": {"choices": probable}}
        prediction = {
            "model_version": f"mlspl {version('mlspl')}",
            "score": float(issues["suspicion"].max()),
            "result": [result] if probable else [],
        }
        tasks.append({"data": data, "predictions": [prediction]})
    tasks_name, configuration_name = LABEL_STUDIO_FILES
    return [
        outputs.write(tasks_name, json.dumps(tasks, ensure_ascii=False, indent=1)),
        outputs.write(configuration_name, _configure(audit.label_names, images is not None)),
    ]


def _configure(label_names: list[str], is_image: bool) -> str:
    """Return the labelling configuration: a box to tick for every label, above a row that may be long."""
    view = ElementTree.Element("View")
    ElementTree.SubElement(view, "Header", value="$note", size="4")
    choices = ElementTree.SubElement(view, "Choices", name=_CHOICES, toName=_ITEM, choice="multiple")
    for name in label_names:
        ElementTree.SubElement(choices, "Choice", value=name)
    kind = "Image" if is_image else "Text"
    ElementTree.SubElement(view, kind, name=_ITEM, value=f"${kind.lower()}")
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode") + "\n"


def _describe(X, row: int, feature_names: Sequence[str]) -> str:
    """Return the first features of a row, those that are not 0 if X is sparse, a line each."""
    part = sparse.csr_array(X[[row]]) if sparse.issparse(X) else None
    values = enumerate(X[row]) if part is None else zip(part.indices, part.data, strict=True)
    lines = [f"{feature_names[j]} = {value:.6g}" for j, value in values if value == value]
    return "\n".join(lines[:_MOST_FEATURES] + ["…"] * (len(lines) > _MOST_FEATURES))


def read_annotations(path: str | PathLike, dataset: Dataset) -> pd.DataFrame:
    """Read what Label Studio exported as JSON or JSON-MIN from tasks of :func:`write_label_studio`.

    Of several annotations of a row more than half decide on each label; as many votes for as against are
    "unsure". Skipped tasks decide nothing. See :func:`read_decisions`.
    """
    path = Path(path)
    try:
        tasks = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise DataFormatError(f"this is no JSON ({shorten(str(error))}).", path) from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise DataFormatError("this is no export of Label Studio: it is not a list of tasks.", path)
    n_rows = dataset.Y.shape[0]
    # JSON-MIN has an entry per annotation, and the data beside its choices.
    data_of_tasks = [task if "annotation_id" in task else task.get("data") for task in tasks]
    fingerprints = [data.get("fingerprint") for data in data_of_tasks if isinstance(data, dict)]
    check_fingerprint(fingerprints, dataset, path)
    sets: dict[int, list[set[str]]] = {}
    for number, (task, data) in enumerate(zip(tasks, data_of_tasks, strict=True), 1):
        annotations = [task] if data is task else task.get("annotations")
        if not isinstance(data, dict) or not isinstance(annotations, list):
            raise DataFormatError(f"task {number} is no task with annotations of Label Studio.", path)
        row = data.get("row")
        if type(row) is not int or not 0 <= row < n_rows:
            raise DataFormatError(f"task {number}: {dataset.name} has no row {shorten(str(row))!r}.", path)
        given = np.array(dataset.label_names, dtype=object)[_labels_of(dataset, row) == 1]
        if data.get("given") != given.tolist():
            raise DataFormatError(
                f"task {number}: the labels of row {row} are not those that it was exported with. Were label "
                "columns renamed or exchanged? Audit the file again.",
                path,
            )
        try:
            chosen = [_choices(one) for one in annotations if not one.get("was_cancelled")]
        except (AttributeError, KeyError, TypeError):
            raise DataFormatError(f"task {number} has an annotation without choices.", path) from None
        if unknown := set().union(*chosen) - set(dataset.label_names):
            name = min(unknown)
            hint = guess(name, dataset.label_names)
            raise DataFormatError(f"task {number}: there is no label {shorten(name)!r}.{hint}", path)
        sets.setdefault(row, []).extend(chosen)
    sets = {row: chosen for row, chosen in sets.items() if chosen}
    check_memory(100.0 * len(sets) * len(dataset.label_names), path, "a decision on every label of its rows")
    if not sets:
        raise DataFormatError("it holds no annotations. Export a project with submitted tasks.", path)
    return pd.concat([_decide(dataset, row, chosen) for row, chosen in sets.items()], ignore_index=True)


def check_fingerprint(found: Iterable[object], dataset: Dataset, path: Path) -> None:
    """Refuse decisions on other data."""
    fingerprint = dataset.fingerprint()
    if any(one != fingerprint for one in found):
        raise UserError(
            f"{path}: these decisions were made for other data than {dataset.name}, or for other labels of "
            "it. Name the file that was audited, with the same --labels and other options of reading."
        )


def _choices(annotation: dict[str, Any]) -> set[str]:
    """Return the labels that an annotation chose."""
    if "result" in annotation:
        parts = [one["value"]["choices"] for one in annotation["result"] if one["type"] == "choices"]
        return {str(name) for names in parts for name in names}
    chosen = annotation.get(_CHOICES, [])
    chosen = chosen["choices"] if isinstance(chosen, dict) else chosen
    return {chosen} if isinstance(chosen, str) else set(map(str, chosen))


def _labels_of(dataset: Dataset, row: int) -> np.ndarray:
    labels: Any = dataset.Y[[row]]
    return np.asarray(labels.toarray() if sparse.issparse(labels) else labels, dtype=float)[0]


def _decide(dataset: Dataset, row: int, chosen: list[set[str]]) -> pd.DataFrame:
    """Return the decisions on all labels of a row from the sets that annotators chose."""
    given = _labels_of(dataset, row)
    votes = Counter(name for names in chosen for name in names)
    share = np.array([votes[name] for name in dataset.label_names]) / len(chosen)
    value = np.where(share == 0.5, np.nan, share > 0.5)
    decision = np.select([share == 0.5, value == given], ["unsure", "rejected"], "accepted")
    columns = {"row": row, "label": range(len(given)), "decision": decision, "given": given, "value": value}
    return pd.DataFrame(columns)
