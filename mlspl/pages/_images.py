"""Pictures of rows, as addresses that a page without a network can show."""

import base64
import io
from collections.abc import Sequence
from os import path
from pathlib import Path
from urllib.parse import quote

import numpy as np

from mlspl.errors import UserError

Picture = np.ndarray | Path | str | None
"""Pixels or a file, which the page embeds; a path relative to the page, which it links; or none."""

_SUFFIXES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp")
_KINDS = {b"\x89PNG": "png", b"\xff\xd8\xff": "jpeg", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp"}


def find_pictures(
    names: Sequence[str | None], folder: Path, page_folder: Path | None
) -> tuple[list[Picture] | None, list[str]]:
    """Return the pictures that a column names, or None if it names none; and the names of those left out.

    A picture outside `folder` is left out: a data file must not choose which of the user's files are shown.
    The page in `page_folder` links to the pictures; None means to embed them.
    """
    known = [name for name in names if name]
    if not known or not all(name.lower().endswith(_SUFFIXES) for name in known):
        return None, []
    folder = folder.resolve()
    pictures: list[Picture] = []
    left_out = []
    for name in names:
        file = (folder / name).resolve() if name and "\0" not in name else None
        if file is None or not file.is_relative_to(folder) or not file.is_file():
            pictures.append(None)
            left_out += [name] if name else []
        else:
            pictures.append(file if page_folder is None else path.relpath(file, page_folder.resolve()))
    return pictures, left_out


def picture_address(picture: Picture) -> str | None:
    """Return the `src` of an image."""
    if picture is None:
        return None
    if isinstance(picture, str):
        return quote(Path(picture).as_posix())
    content = picture.read_bytes() if isinstance(picture, Path) else _png(np.asarray(picture))
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    if kind is None:
        raise UserError(f"{picture} is no PNG, JPEG, GIF, WebP or BMP picture.")
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"


def _png(pixels: np.ndarray) -> bytes:
    """Encode grey levels (h, w), the highest black, or red, green and blue (h, w, 3), bytes or 0 to 1."""
    from matplotlib.image import imsave

    if pixels.ndim not in (2, 3) or pixels.shape[2:] not in ((), (3,)) or not pixels.size:
        raise UserError(f"a picture of shape {pixels.shape} is neither grey (h, w) nor coloured (h, w, 3).")
    scale = {"cmap": "gray", "vmin": 0, "vmax": 255} if pixels.dtype == np.uint8 else {"cmap": "gray_r"}
    imsave(stream := io.BytesIO(), pixels, format="png", **scale)
    return stream.getvalue()
