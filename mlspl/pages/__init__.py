"""Pages that need nothing but a browser: templates, tables, charts as SVG, one style sheet.

`render` turns a template and its data into one HTML file. The report of a run and the audit's explorer are of
one family: both extend ``base.html``, which has the style sheet, the policy and the scripts.
"""

from mlspl.pages._render import render
from mlspl.pages.audit import write_audit
from mlspl.pages.charts import Dot, Line, dot_chart, line_chart
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
    "line_chart",
    "number",
    "rank_diagram",
    "render",
    "write_audit",
]
