"""Formulas as MathML, which browsers draw by themselves: no page needs a script from elsewhere.

A font with the measures of formulas comes with the pages, for machines that have none.
"""

import shutil
from importlib.util import find_spec
from pathlib import Path

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def _draw(translator, node, display: str) -> None:
    formula = convert(node.astext(), display=display)
    # Commands that it does not know are left as they are.
    if "\\" in formula:
        _LOGGER.warning("a formula is not understood: %s", node.astext(), location=node)
    translator.body.append(f'<div class="formula">{formula}</div>' if display == "block" else formula)
    raise nodes.SkipNode


def _draw_inline(translator, node) -> None:
    _draw(translator, node, "inline")


def _draw_block(translator, node) -> None:
    _draw(translator, node, "block")


def _copy_font(app, error) -> None:
    if error is None and app.builder.format == "html":
        package = Path(find_spec("ziamath").origin).parent
        shutil.copy(package / "fonts" / "STIXTwoMath-Regular.ttf", Path(app.outdir) / "_static")


def setup(app) -> dict[str, bool]:
    """Add the renderer, for `html_math_renderer = "mathml"`."""
    app.connect("build-finished", _copy_font)
    app.add_html_math_renderer("mathml", (_draw_inline, None), (_draw_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
