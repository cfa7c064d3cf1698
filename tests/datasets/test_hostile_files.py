"""Small forged files end in an error, within memory and time of the order of the file."""

import io
import struct
import tracemalloc
import warnings
import zipfile

import numpy as np
import pandas as pd
import pytest

from mlspl.datasets import DataFormatError, read_dataset, read_unlabelled, write_dataset
from mlspl.errors import UserError

MOST_BYTES = 4 * 2**26


@pytest.fixture
def bounded():
    """Fail if Python and NumPy allocate much more than the limit of a small file."""
    tracemalloc.start()
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < MOST_BYTES


def write_npz(path, compression=zipfile.ZIP_STORED, **arrays):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, array in arrays.items():
            stream = io.BytesIO()
            np.lib.format.write_array(stream, np.asanyarray(array))
            archive.writestr(name + ".npy", stream.getvalue())
    return path


def csr_members(n=4, n_columns=5, **changes):
    members = {
        "format": np.array(b"csr"),
        "shape": np.array([n, n_columns]),
        "data": np.ones(3 * n),
        "indices": np.tile([0, 1, 2], n).astype(np.int32),
        "indptr": np.arange(0, 3 * n + 1, 3).astype(np.int32),
    }
    return members | changes


@pytest.mark.parametrize("kind", [b"csr", b"csc", b"bsr"])
@pytest.mark.parametrize("part", ["indices", "indptr"])
@pytest.mark.parametrize("value", [2**31 - 1, -1])
def test_sparse_arrays_have_their_indices_checked(tmp_path, kind, part, value):
    members = csr_members(5, format=np.array(kind))
    members[part] = members[part].copy()
    members[part][2] = value
    if kind == b"bsr":
        members["data"] = members["data"].reshape(-1, 1, 1)
    with pytest.raises(UserError):
        read_unlabelled(write_npz(tmp_path / "t.npz", **members))


@pytest.mark.parametrize("indptr", [[0, 10**6, 9, 9, 0], [0, 2**31 - 1, -(2**31), -1, 3]])
def test_row_pointers_that_scipy_does_not_check(tmp_path, indptr):
    """`check_format` skips pointers if the last one is 0, and takes differences that wrap around."""
    members = csr_members(indptr=np.array(indptr, dtype=np.int32))
    with pytest.raises(UserError):
        read_unlabelled(write_npz(tmp_path / "t.npz", **members))


def test_sound_sparse_arrays_are_read(tmp_path):
    X = read_unlabelled(write_npz(tmp_path / "t.npz", **csr_members())).X
    np.testing.assert_array_equal(X.toarray(), np.tile([1.0, 1, 1, 0, 0], (4, 1)))


@pytest.mark.parametrize(
    "members",
    [
        csr_members(shape=np.array([4, 10**12])),
        {
            "format": np.array(b"coo"),
            "shape": np.array([10**9, 3]),
            "data": np.ones(1),
            "row": [0],
            "col": [0],
        },
        {
            "format": np.array(b"dia"),
            "shape": np.array([10**9, 10**9]),
            "data": np.ones((1, 3)),
            "offsets": [0],
        },
    ],
)
def test_sparse_arrays_take_no_more_memory_than_their_file_justifies(tmp_path, bounded, members):
    with pytest.raises(DataFormatError, match="MLSPL_MEMORY"):
        read_unlabelled(write_npz(tmp_path / "t.npz", **members))


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("claimed", [None, 1000])
def test_archives_are_counted_by_the_bytes_that_are_read(tmp_path, bounded, compression, claimed):
    path = tmp_path / "t.npz"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name in "XYZ":
            archive.writestr(f"{name}.npy", bytes(2**25))
    if claimed is not None:
        raw = bytearray(path.read_bytes())
        struct.pack_into("<I", raw, raw.rindex(b"Z.npy") - 46 + 24, claimed)
        path.write_bytes(raw)
    with pytest.raises(DataFormatError):
        read_unlabelled(path)


def test_members_that_numpy_and_mlspl_would_tell_apart(tmp_path, bounded):
    """NumPy prefers a member "shape" to "shape.npy", whose size was checked."""
    path = write_npz(tmp_path / "t.npz", **csr_members())
    stream = io.BytesIO()
    np.save(stream, np.array([4, 10**12]))
    for name in ("shape", "shape.npy"):
        changed = tmp_path / f"{name}.npz"
        changed.write_bytes(path.read_bytes())
        with zipfile.ZipFile(changed, "a") as archive, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a name for the second time
            archive.writestr(name, stream.getvalue())
        with pytest.raises(DataFormatError):
            read_unlabelled(changed)


def test_a_workbook_has_the_sizes_it_announces(tmp_path, bounded):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in (["x", "a"], [1, 0], [2, 1]):
        book.active.append(row)
    book.save(tmp_path / "book.xlsx")
    assert read_dataset(tmp_path / "book.xlsx", ["a"]).X.shape == (2, 1)
    bomb = tmp_path / "bomb.xlsx"
    with (
        zipfile.ZipFile(tmp_path / "book.xlsx") as old,
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for name in old.namelist():
            new.writestr(name, old.read(name) + b" " * 2**29 * name.startswith("[Content"))
    raw = bytearray(bomb.read_bytes())
    struct.pack_into("<I", raw, raw.rindex(b"[Content_Types]") - 46 + 24, 1000)
    bomb.write_bytes(raw)
    tracemalloc.reset_peak()
    with pytest.raises(DataFormatError):
        read_dataset(bomb, ["a"])


def test_an_array_must_have_the_size_it_announces(tmp_path):
    path = write_npz(tmp_path / "t.npz", X=np.ones((3, 2)))
    path.write_bytes(path.read_bytes().replace(b"(3, 2)", b"(9, 2)"))
    with pytest.raises(DataFormatError):
        read_unlabelled(path)


def test_parquet_types_without_use_are_refused_before_they_are_read(tmp_path, bounded):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for cells in ([{"q": "x" * 10**6}] * 400, [b"x" * 10**6] * 400):
        table = pyarrow.table({"t": pyarrow.array(cells), "a": [0, 1] * 200})
        parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
        before = pyarrow.total_allocated_bytes()
        with pytest.raises(DataFormatError):
            read_dataset(tmp_path / "t.parquet", ["a"])
        assert pyarrow.total_allocated_bytes() - before < MOST_BYTES


def test_lists_of_a_long_word_are_labels_that_are_held_once(tmp_path, bounded):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pyarrow.table({"tags": [["x" * 10**6], [], None] * 400, "a": [0.0] * 1200})
    parquet.write_table(table, tmp_path / "t.parquet", compression="zstd")
    dataset = read_dataset(tmp_path / "t.parquet", ["tags"])
    np.testing.assert_array_equal(dataset.Y[:3, 0], [1, 0, np.nan])


def test_a_new_key_in_every_row_is_refused(tmp_path, bounded, monkeypatch):
    path = tmp_path / "t.jsonl"
    path.write_text("".join(f'{{"k{i}":1}}\n' for i in range(3000)))
    with pytest.raises(DataFormatError, match="MLSPL_MEMORY"):
        read_dataset(path, ["k0"])
    monkeypatch.setenv("MLSPL_MEMORY", "8e9")
    assert read_dataset(path, ["k0"]).X.shape == (3000, 2999)


def test_statistics_of_many_labels_are_counted_without_a_dense_table(tmp_path, bounded):
    path = tmp_path / "t.csv"
    path.write_text("x,labels\n" + "".join(f"{i},l{i}|m{i}\n" for i in range(20_000)))
    assert read_dataset(path).describe().label_sets == 20_000


def test_dates_beyond_the_range_of_nanoseconds_are_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("d,a\n0001-01-01,0\n9999-12-31,1\n2024-01-01,0\n")
    dataset = read_dataset(path, ["a"])
    assert dataset.X.ravel().tolist() == [-719162.0, 2932896.0, 19723.0]


def test_errors_do_not_quote_a_long_name_whole(tmp_path):
    name = "x" * 10**6
    path = tmp_path / "t.csv"
    path.write_text(f"{name},a\n1,0\nb,1\n3,1\n")
    for labels in (["a"], [name], [name[:-1]], name[:-1]):
        with pytest.raises(ValueError, match=r".") as caught:
            read_dataset(path, labels)
        assert len(str(caught.value)) < 5000


def test_csv_files_hold_no_formulas(tmp_path):
    path = tmp_path / "t.jsonl"
    frame = pd.DataFrame({"=k": ["=1+1", "@a", "-2", "b"] * 2, "n": [-1.5] * 8, "+L": [0, 1] * 4})
    frame.to_json(path, orient="records", lines=True)
    write_dataset(read_dataset(path, ["+L"], encode=False), tmp_path / "t.csv")
    lines = (tmp_path / "t.csv").read_text().splitlines()
    assert lines[0] == "'=k,n,'+L"
    assert [line.split(",")[0] for line in lines[1:5]] == ["'=1+1", "'@a", "-2", "b"]
    assert read_dataset(tmp_path / "t.csv", encode=False).label_names == ["'+L"]
