"""Values that JSON can hold."""

import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any, digits: int | None = None) -> Any:
    """Return plain dicts and lists, with None for NaN and infinity, and numbers of so many digits."""
    if isinstance(value, Mapping):
        return {str(name): plain(part, digits) for name, part in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(part, digits) for part in value]
    if not isinstance(value, float) or (digits is None and math.isfinite(value)):
        return value
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None
