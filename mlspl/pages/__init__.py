"""Pages that need nothing but a browser: templates, tables, charts as SVG, one style sheet.

`render` turns a template and its data into one HTML file. The report of a run and the audit's explorer are of
one family: both extend ``base.html``, which has the style sheet, the policy and the scripts.
"""

from mlspl.pages._render import render
from mlspl.pages.audit import write_audit
from mlspl.pages.audit_folder import find_pictures, write_audit_folder
from mlspl.pages.charts import Dot, Line, dot_chart, line_chart
from mlspl.pages.decisions import read_decisions
from mlspl.pages.rank_diagram import Drawing, draw_ranks, rank_diagram
from mlspl.pages.tables import Cell, Head, Table, number

__all__ = [
    "Cell",
    "Dot",
    "Drawing",
    "Head",
    "Line",
    "Table",
    "dot_chart",
    "draw_ranks",
    "find_pictures",
    "line_chart",
    "number",
    "rank_diagram",
    "read_decisions",
    "render",
    "write_audit",
    "write_audit_folder",
]
