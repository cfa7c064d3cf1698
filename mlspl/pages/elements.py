"""SVG that cannot be broken by data: whatever is not markup already is escaped."""

from collections.abc import Iterable
from typing import TypeAlias

from markupsafe import Markup, escape

__all__ = ["Content", "tag"]

Content: TypeAlias = str | Iterable["Content"]


def tag(name: str, /, *content: Content, **attributes: object) -> Markup:
    """Return an element; text in it and the values of its attributes are escaped.

    An underscore in an attribute's name stands for a hyphen, one at the end is dropped; None leaves it out.

    Examples
    --------
    >>> tag("text", tag("tspan", "1 < 2"), class_="name", text_anchor="end", x=None)
    Markup('<text class="name" text-anchor="end"><tspan>1 &lt; 2</tspan></text>')
    """
    words = [name]
    words += [
        f'{key.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for key, value in attributes.items()
        if value is not None
    ]
    return Markup(f"<{' '.join(words)}>{_inside(content)}</{name}>")


def _inside(content: Content) -> str:
    return escape(content) if isinstance(content, str) else "".join(map(_inside, content))
