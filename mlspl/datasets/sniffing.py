"""Which format a file without a name is in, such as one that came through a pipe."""

import re
from pathlib import Path

from mlspl.datasets.compression import unfold

__all__ = ["guess_suffix"]

_SVMLIGHT_ROW = re.compile(rb"# mlspl |\s*(\d+\s+\d+\s+\d+\s*$|(-?\d+(,-?\d+)*)?\s*\d+:\S)", re.MULTILINE)
_COMPRESSED = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\x28\xb5\x2f\xfd": ".zst"}
_ENOUGH = 2**16


def guess_suffix(path: Path) -> str:
    """Return the suffix that a file would have, by its first bytes: ``.csv``, ``.arff.gz`` and the like.

    Parameters
    ----------
    path : Path
        The file.

    Examples
    --------
    >>> import gzip, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(gzip.compress(b"@relation songs"))
    ...     file.flush()
    ...     guess_suffix(Path(file.name))
    '.arff.gz'
    """
    with path.open("rb") as stream:
        start = stream.read(_ENOUGH)
    for sign, compression in _COMPRESSED.items():
        if start.startswith(sign):
            return _format(unfold(path, compression, _ENOUGH)) + compression
    return _format(start)


def _format(start: bytes) -> str:
    if start.startswith(b"PAR1"):
        return ".parquet"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text[:1] in (b"@", b"%"):
        return ".arff"
    if text[:1] == b"{":
        return ".jsonl"
    return ".svm" if _SVMLIGHT_ROW.match(text) else ".csv"
