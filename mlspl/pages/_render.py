"""From a template and what it shows to a page that needs nothing but a browser."""

import base64
import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment


_DIRECTIONS = re.compile("[\u202a-\u202e\u2066-\u2069]")


def render(template: str, **data: Any) -> str:
    """Fill a template, which extends ``base.html``; the page's policy names its own scripts by checksums."""
    return _environment().get_template(template).render(**data)


@cache
def _environment() -> "Environment":
    """The templates; Jinja2 is imported late, for worker processes never write a page."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    pages = Environment(
        loader=PackageLoader("mlspl.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_isolate,
        trim_blocks=True,
        lstrip_blocks=True,
    )

    # tojson escapes what would end the script element that holds the JSON.
    pages.policies["json.dumps_kwargs"] = {"separators": (",", ":"), "allow_nan": False}

    def inline(name: str) -> str:
        """A style sheet or script of ours, as it is."""
        return pages.filters["safe"](pages.loader.get_source(pages, name)[0])  # type: ignore[union-attr]

    def checksum(text: str) -> str:
        """What the page's policy knows a style sheet or script by."""
        return base64.b64encode(hashlib.sha256(str(text).encode()).digest()).decode()

    pages.globals["inline"] = inline
    pages.filters["sha256"] = checksum
    return pages


def _isolate(value: Any) -> Any:
    """Show controls of the direction of text as one sign each: names from data would reverse what follows."""
    return _DIRECTIONS.sub("\ufffd", value) if type(value) is str else value
