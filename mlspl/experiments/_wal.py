"""Whether SQLite's write-ahead log is whole: SQLite drops what follows a damaged place without a word."""

import struct
import time
from pathlib import Path

__all__ = ["is_damaged"]

_HEADER, _FRAME_HEADER = 32, 24
_MAGIC = {0x377F0682: "<", 0x377F0683: ">"}  # and the byte order of the checksums
_LOOKS = 10


def is_damaged(path: Path) -> bool:
    """Whether the log beside this file holds pages behind a place that SQLite will not read past.

    A log that another process is writing may look torn: damage is what a second look finds unchanged.
    """
    before = None
    for _ in range(_LOOKS):
        try:
            log = path.with_name(f"{path.name}-wal").read_bytes()
        except OSError:
            return False
        if not _is_torn(log):
            return False
        if log == before:
            return True
        before = log
        time.sleep(0.2)
    return True


def _is_torn(log: bytes) -> bool:
    """Whether pages follow a damaged place.

    A process killed while it writes leaves an unfinished last page, which is no damage; nor are pages of an
    earlier use of the log, which have another salt. See "WAL-mode File Format" in SQLite's documents.
    """
    if len(log) <= _HEADER:
        return False
    magic, _, page, _ = struct.unpack_from(">4I", log)
    order = _MAGIC.get(magic, "<")
    checksum = _checksum(log[:24], order)
    if magic not in _MAGIC or page < 512 or checksum != struct.unpack_from(">2I", log, 24):
        return True
    length = _FRAME_HEADER + page
    frames = [log[start : start + length] for start in range(_HEADER, len(log), length)]
    is_current = [frame[8:16] == log[16:24] for frame in frames]
    for number, frame in enumerate(frames):
        if len(frame) < length:
            return False
        if is_current[number]:
            checksum = _checksum(frame[:8] + frame[_FRAME_HEADER:], order, checksum)
        if not is_current[number] or checksum != struct.unpack_from(">2I", frame, 16):
            is_last = is_current[number] and number == len(frames) - 1
            return is_last or any(is_current[number + 1 :])
    return False


def _checksum(data: bytes, order: str, start: tuple[int, int] = (0, 0)) -> tuple[int, int]:
    first, second = start
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return first, second
