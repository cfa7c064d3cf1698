"""Formulas as MathML, which browsers draw by themselves: no page needs a script from elsewhere."""

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

_LOGGER = logging.getLogger(__name__)


def _draw(translator, node, display: str) -> None:
    formula = convert(node.astext(), display=display)
    # Commands that it does not know are left as they are.
    if "\\" in formula:
        _LOGGER.warning("a formula is not understood: %s", node.astext(), location=node)
    translator.body.append(formula)
    raise nodes.SkipNode


def _draw_inline(translator, node) -> None:
    _draw(translator, node, "inline")


def _draw_block(translator, node) -> None:
    _draw(translator, node, "block")


def setup(app) -> dict[str, bool]:
    """Add the renderer, for `html_math_renderer = "mathml"`."""
    app.add_html_math_renderer("mathml", (_draw_inline, None), (_draw_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
