"""Which columns of a table are labels: named by an XML, a list, a pattern or a count."""

import re
from fnmatch import fnmatchcase
from os import PathLike
from pathlib import Path
from xml.sax import SAXException, SAXParseException
from xml.sax.handler import ContentHandler
from xml.sax.saxutils import quoteattr

import numpy as np
from defusedxml import DefusedXmlException, sax

from mlspl._names import split_names
from mlspl.datasets.compression import data_stem
from mlspl.datasets.source import read_text
from mlspl.errors import DataFormatError, UserError, guess_column

__all__ = ["Labels", "label_columns", "labels_xml", "read_labels_xml", "xml_beside"]

Labels = str | PathLike | list[str] | tuple[str, ...] | int | re.Pattern | None

# What the publishers of data sets put behind the name of a part of one.
_PART = re.compile(r"-(train|test|validation|sparse|dense|fold\d+|sample\d*|stratified\d*)$", re.IGNORECASE)
_NAMESPACE = "http://mulan.sourceforge.net/labels"


class _LabelHandler(ContentHandler):
    """Collects the names of all `label` elements, nested ones too, with their lines."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.lines: dict[str, int] = {}

    def setDocumentLocator(self, locator):
        self.locator = locator

    def startElement(self, tag, attributes):
        if tag.rpartition(":")[2] != "label":
            return
        line = self.locator.getLineNumber()
        name = attributes.get("name")
        if name is None:
            raise DataFormatError('a label without a name. Write <label name="…">.', self.path, line)
        if name in self.lines:
            message = f"label {name!r} is named twice, first on line {self.lines[name]}. Name it once."
            raise DataFormatError(message, self.path, line)
        self.lines[name] = line


def read_labels_xml(path: Path) -> dict[str, int]:
    """Names of the labels in a Mulan XML, flat or nested, each with its line."""
    handler = _LabelHandler(path)
    text = read_text(path)
    try:
        sax.parseString(text, handler, forbid_dtd=True)
    except DataFormatError:
        raise
    except SAXParseException as error:
        message = f"this is no well-formed XML ({error.getMessage()}). Repair or replace the file."
        raise DataFormatError(message, path, error.getLineNumber()) from None
    except DefusedXmlException:
        message = "the XML has a DOCTYPE, through which entities can blow up a parser. Remove it."
        raise DataFormatError(message, path, handler.locator.getLineNumber()) from None
    except (SAXException, LookupError, ValueError) as error:
        raise DataFormatError(f"this is no readable XML ({error}). Repair or replace it.", path, 1) from None
    if not handler.lines:
        raise DataFormatError('it names no labels. Write <label name="…"/> for each.', path)
    return handler.lines


def labels_xml(names: list[str]) -> str:
    """The Mulan XML that names these labels."""
    lines = (f"<label name={quoteattr(name)}></label>" for name in names)
    return "\n".join(
        ['<?xml version="1.0" encoding="utf-8"?>', f'<labels xmlns="{_NAMESPACE}">', *lines, "</labels>", ""]
    )


def xml_beside(path: Path) -> Path | None:
    """The XML that belongs to a data file: Corel5k.xml for Corel5k.arff and Corel5k-train-sparse.arff."""
    stem = data_stem(path)
    while True:
        if (xml := path.with_name(stem + ".xml")).is_file():
            return xml
        shorter = _PART.sub("", stem)
        if shorter == stem:
            return None
        stem = shorter


def label_columns(names: list[str], labels: Labels, path: Path, counted: int | None = None) -> np.ndarray:
    """Mask over the columns `names` of the file `path`: True where the column is a label.

    `counted` is the number of labels the file itself announces (MEKA's -C), used when `labels` is None and
    no XML lies beside the file.
    """
    if labels is None:
        labels = xml_beside(path) or counted
    if labels is None:
        message = (
            f"which columns are labels? Put {data_stem(path)}.xml beside the file, or name them by labels "
            "(--labels): the path of an XML, the label names, a pattern such as 'TAG_*', their number "
            "(negative: the last columns), or the column that holds the labels of each row, such as 'tags' "
            "with a|b."
        )
        raise DataFormatError(message, path)
    if isinstance(labels, bool) or not isinstance(labels, str | PathLike | list | tuple | int | re.Pattern):
        raise UserError(f"labels={labels!r}: pass an XML path, a list of names, a pattern or a number.")
    if isinstance(labels, int):
        mask = _counted(len(names), labels, path)
    elif isinstance(labels, re.Pattern):
        mask = np.array([labels.search(name) is not None for name in names])
    elif isinstance(labels, str) and labels in names:
        mask = np.array([name == labels for name in names])
    elif isinstance(labels, PathLike) or (isinstance(labels, str) and labels.lower().endswith(".xml")):
        xml = Path(labels)
        mask = _named(names, read_labels_xml(xml), xml, path)
    elif isinstance(labels, str):
        mask = np.array([fnmatchcase(name, labels) for name in names])
        if not mask.any() and "," in labels:
            mask = _named(names, dict.fromkeys(split_names(labels)), None, path)
    else:
        mask = _named(names, dict.fromkeys(labels), None, path)
    if not mask.any():
        message = f"labels={labels!r} matches none of the {len(names)} columns. Correct the pattern."
        raise DataFormatError(message, path)
    if mask.all():
        raise DataFormatError("every column is a label: no features are left to learn from.", path)
    return mask


def _counted(n_columns: int, count: int, path: Path) -> np.ndarray:
    if not 0 < abs(count) < n_columns:
        message = f"{abs(count)} labels are announced, but there are {n_columns} columns. Correct the number."
        raise DataFormatError(message, path)
    position = np.arange(n_columns)
    return position < count if count > 0 else position >= n_columns + count


def _named(names: list[str], wanted: dict, xml: Path | None, path: Path) -> np.ndarray:
    present = set(names)
    for label, line in wanted.items():
        if label not in present:
            hint = guess_column(label, names)
            message = (
                f"label {label!r} is no column of {path}.{hint} Correct the name, or name others (--labels)."
            )
            raise DataFormatError(message, xml or path, line)
    return np.array([name in wanted for name in names])
