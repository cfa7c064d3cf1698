"""Mutated files of every format: a `Dataset` or a `DataFormatError`, in little memory and time.

``MLSPL_FUZZ_EXAMPLES=20000 pytest tests/datasets/test_fuzz_readers.py`` searches longer than the usual run.
"""

import os
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mlspl.datasets import DataFormatError, Dataset, load_dataset, read_dataset, write_dataset
from tests.watched import fuzzing, little_memory

XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sea"><label name="sand"></label></label>
</labels>
"""
HEADER = """% a comment
@relation 'seeds: -C -2'
@attribute size numeric
@attribute 'the colour' {red,'dark green',"blu\\'e"}
@attribute note string
@attribute sea {0,1}
@attribute sand {1,0}
@data
"""
SEEDS = {
    "dense.arff": HEADER
    + "1.5,red,'a, b',0,1\n-2e-3,'dark green',x,1,1 % c\n?,?,?,?,0\n12345678901234567890,red,x,1,1\n",
    "sparse.arff": HEADER + "{0 1.5,3 1}\n{}\n{1 'dark green',4 0}\r\n{0 ?, 2 'y', 3 ?}\n",
    "rows.svm": "# comment\n1,3 1:0.5 4:-2e3 # more\n 2:1\n7 1:0.1234567890123456789 3:nan\n",
    "xmc.svm": "3 4 3\n0,2 0:0.5 3:-2\n1 1:1\n 2:4\n",
    "named.svm": '# mlspl {"features": ["a", "b"], "labels": ["c"]}\n0 1:0.5\n 2:1\n',
    "table.csv": 'size,"a, b",note,sea,sand\n1.5,red,"x ""y"" z",0,1\n,"dark\ngreen",,1,1\nNA,red,,1,0\n',
}
INTERESTING = [
    *(char.encode() for char in "{},\n\r\t%'\"\\?:#]<"),
    b"@data\n", b"@attribute x {0,1}\n", b"@relation 'x: -C 99999999999'\n", b"-C -1", b"{}\n", b"{0 1}\n",
    b"1e999", b"nan", b"-inf", b"1000000000000", b"99999999999999999999", b"-0", b"1_0", b"7" * 400,
    b"\0", b"\xff\xfe", b"\xef\xbb\xbf", "ü٣\u2028".encode(), b"<!ENTITY a 'b'>", b"<label name='x'>", b"&a;",
    b'"features": 3,', b"[[[[", b"0:1", b" " * 50,
]  # fmt: skip


@st.composite
def mutations(draw, content: bytes):
    for _ in range(draw(st.integers(1, 6))):
        start = draw(st.integers(0, len(content)))
        stop = min(len(content), start + draw(st.sampled_from([0, 0, 1, 2, 5, 20, 1000])))
        piece = draw(st.one_of(
            st.sampled_from(INTERESTING),
            st.binary(max_size=6),
            st.just(content[start:stop] * 2),
            st.just(content[stop : stop + 30]),
            st.just(b""),
        ))  # fmt: skip
        content = content[:start] + piece + content[stop:]
    return content


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


def read_or_refuse(path, labels):
    """Read; anything but a sound Dataset or a DataFormatError is a failure, and so is a great hunger."""
    dataset = refusal = None
    try:
        with little_memory(300e6), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            dataset = read_dataset(path, labels)
    except DataFormatError as error:
        refusal = error
    if dataset is None:
        assert refusal.file.parent == path.parent
        assert str(refusal).endswith((".", "?", "…"))
    else:
        check(dataset)


def check(dataset: Dataset):
    assert dataset.X.shape == (len(dataset.Y), len(dataset.feature_names))
    assert dataset.X.dtype == np.float64
    cells = dataset.X if isinstance(dataset.X, np.ndarray) else dataset.X.data
    assert not np.isinf(cells).any()
    assert dataset.Y.shape[1] == len(dataset.label_names) > 0
    assert np.isin(dataset.Y[~np.isnan(dataset.Y)], (0, 1)).all()
    assert dataset.describe().n_rows > 0


@pytest.mark.timeout(0)
@pytest.mark.parametrize("name", SEEDS)
def test_mutated_text(folder, name):
    content = SEEDS[name].encode()
    labels = ["sea", "sand"] if name.endswith(".csv") else None

    @fuzzing()
    @given(mutations(content))
    def run(mutated):
        (folder / name).write_bytes(mutated)
        read_or_refuse(folder / name, labels)

    (folder / name).write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert isinstance(read_dataset(folder / name, labels), Dataset)
    run()


@pytest.mark.timeout(0)
def test_mutated_xml(folder):
    (folder / "beside.arff").write_text(SEEDS["dense.arff"])

    @fuzzing()
    @given(mutations(XML.encode()))
    def run(mutated):
        (folder / "beside.xml").write_bytes(mutated)
        read_or_refuse(folder / "beside.arff", None)

    run()


@pytest.mark.timeout(0)
def test_mutated_parquet(folder):
    pytest.importorskip("pyarrow")
    digits = load_dataset("digits-traits")
    few = Dataset(digits.X[:20, :3], digits.Y[:20], digits.feature_names[:3], digits.label_names)
    content = write_dataset(few, folder / "seed.parquet").read_bytes()

    @fuzzing()
    @given(mutations(content))
    def run(mutated):
        (folder / "mutated.parquet").write_bytes(mutated)
        read_or_refuse(folder / "mutated.parquet", few.label_names)

    run()


def test_no_scanner_looks_beyond_the_text(folder):
    """Every seed cut off at every byte, uncompiled, where an index out of bounds is an error."""
    script = """
import sys, warnings
from pathlib import Path
from mlspl.datasets import DataFormatError, read_dataset

warnings.simplefilter("ignore")
for name in sys.argv[1:]:
    path = Path(name)
    content = path.read_bytes()
    for stop in range(len(content)):
        path.write_bytes(content[:stop])
        try:
            read_dataset(path)
        except DataFormatError:
            pass
"""
    names = [name for name in SEEDS if not name.endswith(".csv")]
    for name in names:
        (folder / name).write_text(SEEDS[name], newline="")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    paths = [str(folder / name) for name in names]
    run = subprocess.run(
        [sys.executable, "-c", script, *paths], env=environment, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
