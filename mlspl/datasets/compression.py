"""Compressed text: gzip, bzip2 and Zstandard, unfolded no further than a data file plausibly is."""

import bz2
import gzip
import math
import zlib
from collections.abc import Iterator
from pathlib import Path

from mlspl.errors import DataFormatError, UserError

__all__ = ["COMPRESSIONS", "data_stem", "data_suffix", "read_bytes", "unfold"]

COMPRESSIONS = (".gz", ".bz2", ".zst")

# Tables of text shrink twenty- to fiftyfold, sparse ones a hundredfold; what unfolds further is a bomb.
_HARMLESS = 2**26
_MOST_UNFOLDED = 300
_CHUNK = 2**24


def data_suffix(path: Path) -> str:
    """The suffix that says the format, in small letters: ``.csv`` of songs.csv.gz."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix in COMPRESSIONS else suffix


def data_stem(path: Path) -> str:
    """The name without the suffixes of format and compression."""
    return Path(path.stem).stem if path.suffix.lower() in COMPRESSIONS else path.stem


def read_bytes(path: Path) -> bytes:
    """The content of a file, unfolded if its suffix says that it is compressed."""
    suffix = path.suffix.lower()
    if suffix not in COMPRESSIONS:
        return path.read_bytes()
    return unfold(path, suffix)


def unfold(path: Path, suffix: str, enough: float = math.inf) -> bytes:
    """What is in a file of this compression; once there is enough of it, no more is unfolded."""
    most = max(_HARMLESS, _MOST_UNFOLDED * path.stat().st_size)
    parts, size = [], 0
    try:
        for part in _unfold(path, suffix):
            parts.append(part)
            size += len(part)
            if size > most:
                message = f"it unfolds to more than {_MOST_UNFOLDED} times its size, as no data do."
                raise DataFormatError(message + " Unpack it yourself if you trust it.", path)
            if size >= enough:
                break
    except (OSError, EOFError, ValueError, zlib.error) as error:
        if isinstance(error, UserError):
            raise
        raise DataFormatError(f"it cannot be unpacked ({error}). Was it cut off?", path) from None
    return b"".join(parts)


def _unfold(path: Path, suffix: str) -> Iterator[bytes]:
    if suffix == ".zst":
        yield from _unfold_zstandard(path)
        return
    with gzip.open(path) if suffix == ".gz" else bz2.open(path) as stream:
        while part := stream.read(_CHUNK):
            yield part


def _unfold_zstandard(path: Path) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise UserError('.zst needs zstandard, which is not installed: pip install "mlspl[zst]"') from None
    raw = path.read_bytes()
    decompressor = zstandard.ZstdDecompressor(max_window_size=2**27)
    try:
        while raw:
            frame = decompressor.decompressobj()
            start = 0
            # A little at a time: four bytes can stand for a block of 128 KiB.
            while not frame.eof and start < len(raw):
                yield frame.decompress(raw[start : start + 2**11])
                start += 2**11
            if not frame.eof:
                raise EOFError("it ends within a frame")
            raw = frame.unused_data + raw[start:]
    except zstandard.ZstdError as error:
        raise ValueError(str(error)) from None
