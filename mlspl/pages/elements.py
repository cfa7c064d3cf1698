"""SVG that cannot be broken by data: whatever is not markup already is escaped."""

from collections.abc import Iterable
from typing import TypeAlias

from markupsafe import Markup, escape

__all__ = ["Content", "tag"]

Content: TypeAlias = str | Iterable["Content"]


def tag(name: str, /, *content: Content, **attributes: object) -> Markup:
    """Return an element; text in it and the values of its attributes are escaped.

    An underscore in an attribute's name stands for a hyphen, one at the end is dropped; None leaves it out.
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
