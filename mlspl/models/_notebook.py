"""Estimators in notebooks: scikit-learn's diagram with links to our pages, and below it what was fitted."""

import os
from html import escape
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from mlspl._text import printable

__all__ = ["NotebookMixin", "describe_fit"]

_MOST_NAMES = 8
_TABLE = """<details open style="font: 0.85em sans-serif; margin: 0.3em 0 0.6em 0.6em">
<summary>Fitted</summary>
<table style="border-collapse: collapse; margin-top: 0.3em">{rows}</table></details>"""
_ROW = """<tr style="vertical-align: top; text-align: left">
<th style="font-weight: normal; opacity: 0.7; padding: 0.1em 1em 0.1em 0; text-align: left">{}</th>
<td style="padding: 0.1em 0; text-align: left">{}</td></tr>
"""


class NotebookMixin:
    """HTML for notebooks, by IPython's protocol; scikit-learn's `display="text"` turns it off, as usual."""

    @property
    def _doc_link_module(self) -> str:
        # With another module than its own, scikit-learn draws no link.
        return "mlspl" if docs_address() else ""

    @property
    def _doc_link_template(self) -> str:
        return docs_address() + "/generated/mlspl.{estimator_name}.html"

    @property
    def _repr_html_(self):
        diagram = super()._repr_html_  # type: ignore[misc]
        return lambda: diagram() + _summary(self)

    def _repr_mimebundle_(self, **kwargs) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] += _summary(self)
        return bundle


def docs_address() -> str:
    """Where the pages are: `MLSPL_DOCS`, else what the package's metadata say, else those built here."""
    if address := os.environ.get("MLSPL_DOCS"):
        return address.rstrip("/")
    try:
        addresses = metadata("mlspl").get_all("Project-URL") or []
    except PackageNotFoundError:
        addresses = []
    for entry in addresses:
        name, _, address = entry.partition(", ")
        if name.lower() == "documentation":
            return address.rstrip("/")
    built = Path(__file__).parents[2] / "docs" / "_build" / "html"
    return built.as_uri() if built.is_dir() else ""


def describe_fit(estimator: Any) -> dict[str, str]:
    """What there is to say of a fitted estimator, in a line each."""
    names = [printable(str(name)) for name in estimator.label_names_]
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    said = {
        "features": f"{estimator.n_features_in_:,}",
        "labels": f"{len(names):,}: {', '.join(names[:_MOST_NAMES])}{more}",
    }
    if getattr(estimator, "space_", None):
        said["space"] = estimator.space_
    if hasattr(estimator, "C_"):
        said["C"] = f"{estimator.C_:.3g}"
    if hasattr(estimator, "members_"):
        best = estimator.members_[0]
        families = ", ".join(dict.fromkeys(member["family"] for member in estimator.members_))
        said["members"] = f"{len(estimator.members_)} ({families})"
        said["held out"] = f"{estimator.criterion_.replace('_', ' ')} {best['mean']:.4f} (best member)"
    if hasattr(estimator, "stop_reason_"):
        said["steps"] = f"{len(estimator.history_)} ({estimator.stop_reason_.replace('_', ' ')})"
    if (weights := getattr(estimator, "label_weights_", None)) is not None:
        in_play = np.mean(np.asarray(weights) >= 0.5)
        said["pairs"] = f"mean weight {np.mean(weights):.3f}; {in_play:.1%} with a weight of ½ or more"
    if hasattr(estimator, "decisions_"):
        decision = estimator.decisions_[0]
        said["decision"] = f"calibration {decision['calibration']}, threshold {decision['threshold']}"
    return said


def _summary(estimator: Any) -> str:
    try:
        check_is_fitted(estimator)
    except Exception:
        return ""
    said = describe_fit(estimator)
    if not docs_address():
        said["help"] = f"help({type(estimator).__name__})"
    rows = (_ROW.format(escape(name), escape(text)) for name, text in said.items())
    return _TABLE.format(rows="".join(rows))
