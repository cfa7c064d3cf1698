"""Pictures of rows, as addresses that a page without a network can show."""

import base64
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

import numpy as np

from mlspl.errors import UserError

__all__ = ["Picture", "are_local", "picture_address"]

Picture = np.ndarray | Path | str | None
"""Pixels or a file, which the page embeds; a path relative to the page, which it links; or none."""

_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp"}


def picture_address(picture: Picture) -> str | None:
    """Return what the `src` of an image takes."""
    if picture is None:
        return None
    if isinstance(picture, str):
        return quote(Path(picture).as_posix())
    if isinstance(picture, Path):
        content = picture.read_bytes()
        kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
        if kind is None:
            raise UserError(f"{picture} is no PNG, JPEG, GIF, WebP or BMP picture.")
        return _embed(content, kind)
    return _embed(_png(np.asarray(picture)), "png")


def _embed(content: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _png(pixels: np.ndarray) -> bytes:
    """Grey levels (h, w), the highest black; or red, green and blue (h, w, 3), the highest bright."""
    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)) or not pixels.size:
        raise UserError(f"a picture of shape {pixels.shape} is neither grey (h, w) nor coloured (h, w, 3).")
    grey = pixels.ndim == 2
    if pixels.dtype != np.uint8:
        low, high = np.nanmin(pixels), np.nanmax(pixels)
        share = (np.nan_to_num(pixels, nan=low) - low) / (high - low if high > low else 1)
        pixels = np.rint(255 * (1 - share if grey else share)).astype(np.uint8)
    height, width = pixels.shape[:2]
    # Every line begins with the number of its filter: none.
    lines = np.zeros((height, 1 + pixels[0].size), dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes())), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, content) for name, content in parts)


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def are_local(pictures: Sequence[Picture] | None) -> bool:
    """Whether the page has to show files beside it."""
    return pictures is not None and any(isinstance(picture, str) for picture in pictures)
