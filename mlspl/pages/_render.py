"""From a template and what it shows to a page that needs nothing but a browser."""

import base64
import hashlib
import json
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

__all__ = ["embed_json", "render"]


def _sha256(text: str) -> str:
    """The hash under which the page's policy lets this very script run, and no other."""
    return base64.b64encode(hashlib.sha256(str(text).encode()).digest()).decode()


def _inline(name: str) -> Markup:
    """A style sheet or script of ours, as it is."""
    source, _, _ = _PAGES.loader.get_source(_PAGES, name)
    return Markup(source)


_PAGES = Environment(loader=PackageLoader("mlspl.pages"), autoescape=True, undefined=StrictUndefined)
_PAGES.filters["sha256"] = _sha256
_PAGES.globals["inline"] = _inline


def render(template: str, **data: Any) -> str:
    """Fill a template; whatever is not markup already is escaped.

    Parameters
    ----------
    template : str
        Name of a file in `templates/`.
    **data
        What it shows.

    Examples
    --------
    >>> page = render("audit.html", name="a<b", document="{}", local_images=False)
    >>> "<title>Label audit of a&lt;b</title>" in page
    True
    """
    return _PAGES.get_template(template).render(**data)


def embed_json(document: dict[str, Any]) -> Markup:
    """JSON that no text in it can end: a page's script element may hold it."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))
