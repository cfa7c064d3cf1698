"""Pages that need nothing but a browser: Jinja2 templates, one style sheet, charts as inline SVG."""

from mlspl.pages._render import render
from mlspl.pages.audit import write_audit

__all__ = ["render", "write_audit"]
