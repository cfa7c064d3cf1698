"""Pages that need nothing but a browser: the report of a run, and the review page of an audit."""

from mlspl.pages._images import find_pictures
from mlspl.pages._render import render
from mlspl.pages.audit import AUDIT_FILES, write_audit, write_audit_folder
from mlspl.pages.decisions import read_cells, read_decisions
from mlspl.pages.label_studio import LABEL_STUDIO_FILES, write_label_studio

__all__ = [
    "AUDIT_FILES",
    "LABEL_STUDIO_FILES",
    "find_pictures",
    "read_cells",
    "read_decisions",
    "render",
    "write_audit",
    "write_audit_folder",
    "write_label_studio",
]
