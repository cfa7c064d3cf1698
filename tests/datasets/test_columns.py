"""Kinds of columns, files without header, separators, compression, JSON Lines and NumPy's arrays."""

import bz2
import gzip
import zipfile
from datetime import datetime

import numpy as np
import openpyxl
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from mlspl.datasets import (
    DataFormatError,
    days_since_1970,
    load_dataset,
    read_dataset,
    read_unlabelled,
    relabel_file,
    write_dataset,
)
from mlspl.errors import UserError
from tests.frames import codes_of, nominal_of

TEXT = "size,town,y\n1.5,Rome,0\n2,Oslo,1\n"


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_every_kind_is_recognised(tmp_path):
    n = 60
    frame = pd.DataFrame({
        "size": np.arange(n) / 2,
        "town": ["Rome", "Oslo"] * (n // 2),
        "code": [f"id-{i}" for i in range(n)],
        "review": [f"this is review number {i} of many" for i in range(n)],
        "day": pd.date_range("2020-02-27", periods=n).strftime("%Y-%m-%d"),
        "heard": pd.date_range("2020-02-27", periods=n).strftime("%d.%m.%Y"),
        "y": np.arange(n) % 2,
    })  # fmt: skip
    frame.to_csv(tmp_path / "a.csv", index=False)
    data = read_dataset(tmp_path / "a.csv", ["y"], encode=False)
    kinds = [data.kind(name) for name in data.feature_names]
    assert kinds == ["numeric", "categorical", "categorical", "text", "date", "date"]
    np.testing.assert_array_equal(days_since_1970(data.X.iloc[:, 4]), 18319 + np.arange(n))
    np.testing.assert_array_equal(data.X.iloc[:, 5], data.X.iloc[:, 4])
    assert data.X["review"].tolist() == data.texts("review") == frame["review"].tolist()
    with pytest.warns(UserWarning, match="'review'.*--text"):
        encoded = read_dataset(tmp_path / "a.csv", ["y"])
    assert "review" not in encoded.feature_names


def test_kinds_can_be_said(tmp_path):
    path = write(tmp_path / "a.csv", "zip,note,size,y\n01234,a,1,0\n1234,b,?,1\n")
    said = read_dataset(path, ["y"], encode=False, kinds={"zip": "categorical", "note": "text"})
    assert nominal_of(said) == {"zip": ("01234", "1234")}
    assert (said.kind("note"), said.texts("note")) == ("text", ["a", "b"])
    assert read_dataset(path, ["y"], encode=False).X.iloc[:, 0].tolist() == [1234, 1234]
    new = read_unlabelled(path, ["y"], kinds={"zip": "categorical", "elsewhere": "text"})
    assert nominal_of(new)["zip"] == ("01234", "1234")
    assert read_dataset(path, ["y"], drop=["note", "zip"]).feature_names == ["size"]
    with pytest.raises(DataFormatError, match=r"line 2: column 'note'"):
        read_dataset(path, ["y"], kinds={"note": "numeric"})
    with pytest.raises(DataFormatError, match=r"line 2: .*dates"):
        read_dataset(path, ["y"], kinds={"note": "date"})
    for options, sentence in (
        ({"kinds": {"zip": "words"}}, "'words'.*numeric, categorical, text, date"),
        ({"kinds": {"zap": "text"}}, "kinds.*'zap'"),
        ({"drop": ["zap"]}, "drop.*'zap'"),
    ):
        with pytest.raises(UserError, match=sentence):
            read_dataset(path, ["y"], **options)


JANUARY_7 = 19364
JULY_1 = 19539


def write_dates(folder, *dates):
    return write(folder / "a.csv", "when,y\n" + "".join(f"{date},{i % 2}\n" for i, date in enumerate(dates)))


@pytest.mark.parametrize("kinds", [{}, {"when": "date"}])
def test_dates_with_slashes_and_the_day_first_are_refused(tmp_path, kinds):
    path = write_dates(tmp_path, "", "07/01/2023", "25/12/2023")
    with pytest.raises(DataFormatError, match=r"line 4: column 'when'.*25/12/2023.*2024-12-31"):
        read_dataset(path, ["y"], kinds=kinds)
    assert (
        read_dataset(path, ["y"], encode=False, kinds={"when": "categorical"}).kind("when") == "categorical"
    )
    assert read_unlabelled(path, ["y"], needed=["elsewhere"]).kind("when") == "categorical"


@pytest.mark.parametrize(
    "dates", [("2023-01-07", "2023-07-01"), ("07.01.2023", "01.07.2023"), ("01/07/2023", "07/01/2023")]
)
def test_notations_of_dates(tmp_path, dates):
    data = read_dataset(write_dates(tmp_path, *dates), ["y"], encode=False)
    assert days_since_1970(data.X.iloc[:, 0]).tolist() == [JANUARY_7, JULY_1]


def test_dates_that_are_all_missing_are_dates_if_it_is_said(tmp_path):
    path = write_dates(tmp_path, "", "?")
    data = read_dataset(path, ["y"], encode=False, kinds={"when": "date"})
    assert data.kind("when") == "date"
    assert data.X.isna().all(axis=None)


def test_kinds_of_arff_can_be_said(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute b {3,5}\n@attribute y {0,1}\n@data\n1,5,0\n2,3,1\n"
    path = write(tmp_path / "a.arff", text)
    said = read_dataset(path, ["y"], encode=False, kinds={"a": "categorical", "b": "numeric"})
    assert nominal_of(said) == {"a": ("1", "2")}
    assert said.X.iloc[:, 1].tolist() == [5, 3]


def test_strings_of_arff_are_kept(tmp_path):
    header = "@relation r\n@attribute a numeric\n@attribute t string\n@attribute y {0,1}\n"
    text = header + "@data\n1,'b, c',0\n2,?,1\n"
    said = read_dataset(write(tmp_path / "a.arff", text), ["y"], encode=False)
    assert said.texts(said.feature_names[1]) == ["b, c", None]
    assert said.kind("t") == "text"


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_beside_other_separators(tmp_path, separator):
    text = 'size;town;y\n1,5;Rome, Italy;0\n-20;"Oslo;N";1\n'.replace(";N", "").replace(";", separator)
    data = read_dataset(write(tmp_path / "a.csv", text), ["y"], encode=False)
    assert data.X.iloc[:, 0].tolist() == [1.5, -20]
    assert nominal_of(data)["town"] == ("Oslo", "Rome, Italy")


@pytest.mark.parametrize("text", ["1,2.5,0\n3,4,1\n", "5;7\n1;0\n2;1\n", "1,,0\n2,3,1\n"])
def test_a_file_without_a_header_is_refused(tmp_path, text):
    with pytest.raises(DataFormatError, match=r"line 1: .*header"):
        read_dataset(write(tmp_path / "a.csv", text), -1)


@pytest.mark.parametrize(
    "text",
    [
        "s1,1.5,rock|pop\ns2,2.5,jazz|pop\ns3,1.25,rock|pop\n",
        "2024-12-31,7,a|b\n2025-01-01,8,b\n",
        "DE;1,5;0\nFR;2,5;1\nDE;3,5;1\n",
    ],
)
def test_a_row_where_the_header_should_be_is_refused(tmp_path, text):
    with pytest.raises(DataFormatError, match="line 1:"):
        read_dataset(write(tmp_path / "a.csv", text), -1)


@pytest.mark.parametrize("text", ["400.5,401.5,y\n1,2,0\n3,4,1\n", "2024-12-31,rock,y\n1,rock,0\n3,,1\n"])
def test_wavelengths_days_and_labels_may_be_names(tmp_path, text):
    assert read_dataset(write(tmp_path / "a.csv", text), -1, encode=False).label_names == ["y"]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_excel_s_line_says_the_separator(tmp_path, end):
    path = tmp_path / "excel.csv"
    lines = ["sep=;", 'name,of a;x;"y"', "1,5;1;0", "2,5;0;1"]
    path.write_bytes("".join(line + end for line in lines).encode())
    data = read_dataset(path, ["x", "y"])
    assert data.feature_names == ["name,of a"]
    np.testing.assert_array_equal(data.X.ravel(), [1.5, 2.5])
    copy = relabel_file(path, tmp_path / "copy.csv", data, [(1, 0, 1)])
    assert copy.read_bytes() == path.read_bytes().replace(b"2,5;0;1", b"2,5;1;1")
    path.write_bytes(b"sep=;" + end.encode())
    with pytest.raises(DataFormatError, match="no header follows"):
        read_dataset(path, ["x"])


def test_numbered_columns_of_pandas_are_a_header(tmp_path):
    data = read_dataset(write(tmp_path / "a.csv", "0,1,2\n0.5,3,1\n0.25,4,0\n"), -1)
    assert data.feature_names == ["0", "1"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
@pytest.mark.parametrize("name", ["t.csv", "t.arff", "t.svm", "t.jsonl"])
def test_compressed_text_is_unpacked(tmp_path, name, suffix):
    digits = load_dataset("digits-traits")
    if name == "t.jsonl":
        rows = pd.DataFrame(digits.X[:50]).rename(columns=str).assign(labels=[["a"], ["a", "b"]] * 25)
        rows.to_json(tmp_path / name, orient="records", lines=True)
    else:
        write_dataset(digits, tmp_path / name)
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard_compress}[suffix]
    packed = write(tmp_path / (name + suffix), compress((tmp_path / name).read_bytes()))
    plain = read_dataset(tmp_path / name)
    assert read_dataset(packed).fingerprint() == plain.fingerprint()
    assert read_dataset(packed).name == "t"
    for damaged in (packed.read_bytes()[:-20], b"no " + packed.read_bytes()):
        with pytest.raises(DataFormatError, match="decompressed"):
            read_dataset(write(packed, damaged))


def zstandard_compress(raw):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(raw)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_bomb_is_not_unfolded(tmp_path, suffix):
    """A gigabyte of zeros in a megabyte, or much less."""
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard_compress}[suffix]
    part = compress(b"0," * 2**24)
    path = write(tmp_path / f"t.csv{suffix}", part * 8)
    with pytest.raises(DataFormatError, match="MLSPL_MEMORY"):
        read_dataset(path, -1)


def test_binary_formats_are_not_compressed_once_more(tmp_path):
    with pytest.raises(UserError, match="no compressed files"):
        read_dataset(write(tmp_path / "t.parquet.gz", b"x"), -1)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('{"a": 1, "y": 0}\n{"a": 1, "y"\n', 2, "JSON"),
        ('{"a": 1, "y": 0}\n\n[1, 0]\n', 3, "object"),
        ('{"a": {"b": 1}, "y": 0}\n', 1, "lists of labels"),
        ('{"a": NaN, "y": 0}\n', 1, "'a' is nan"),
        ('{"a": 1e999, "y": 0}\n', 1, "'a' is inf"),
        ('{"a": 1, "y": 0}\n{"a": 2, "y": 3}\n', 2, "label 'y' is 3"),
        ('{"a": 1, "y": 0}\n{"a": "x", "y": 1}\n{"a": 2, "y": 1}\n', 2, "numeric, 'x'"),
    ],
)
def test_damaged_json_lines_are_refused_with_their_line(tmp_path, text, line, sentence):
    with pytest.raises(DataFormatError, match=sentence) as caught:
        read_dataset(write(tmp_path / "t.jsonl", text), ["y"])
    assert caught.value.line == line


def test_json_lines_have_columns_of_every_kind(tmp_path):
    text = '{"a": 1, "b": "x", "c": true, "y": 1}\n{"b": null, "a": 2.5, "y": 0}\n'
    text += '{"a": null, "b": "w", "c": false}\n'
    data = read_dataset(write(tmp_path / "t.jsonl", text), ["y"], encode=False)
    assert data.feature_names == ["a", "b", "c"]
    nan = np.nan
    np.testing.assert_array_equal(codes_of(data.X), [[1, 1, 1], [2.5, nan, nan], [nan, 0, 0]])
    np.testing.assert_array_equal(data.Y[:, 0], [1, 0, nan])


def test_arrays_are_used_as_they_are(tmp_path):
    """Memory-mapped and float32, with labels in any kind of file beside them."""
    X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    np.save(tmp_path / "e.npy", X)
    np.save(tmp_path / "other.npy", Y)
    write(tmp_path / "e.labels.csv", "a,b\n1,0\n0,1\n1,1\n0,0\n")
    write(tmp_path / "sets.csv", 'tags\na\nb\na|b\n""\n')
    write(tmp_path / "sets.jsonl", '{"t":["a"]}\n{"t":["b"]}\n{"t":["a","b"]}\n{"t":[]}\n')
    np.savez(tmp_path / "both.npz", X=X, Y=Y, label_names=["a", "b"])
    for labels in (None, "sets.csv", "sets.jsonl", "other.npy"):
        data = read_dataset(tmp_path / "e.npy", labels and tmp_path / labels)
        assert isinstance(data.X, np.memmap)
        assert data.X.dtype == np.float32
        np.testing.assert_array_equal(data.Y, Y)
        assert data.label_names == (["0", "1"] if labels == "other.npy" else ["a", "b"])
    data = read_dataset(tmp_path / "both.npz")
    assert (data.X.dtype, data.label_names, data.Y.tolist()) == (np.float32, ["a", "b"], Y.tolist())
    assert read_unlabelled(tmp_path / "e.npy").X.shape == (4, 6)
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(X))
    data = read_dataset(tmp_path / "s.npz", tmp_path / "sets.csv")
    np.testing.assert_array_equal(data.X.toarray(), X)


def test_arrays_that_cannot_be_data_are_refused(tmp_path):
    np.save(tmp_path / "e.npy", np.ones((3, 2)))
    for name, array, sentence in (
        ("flat.npy", np.ones(3), r"X has shape \(3,\)"),
        ("words.npy", np.array([["a"]]), "type <U1"),
        ("infinite.npy", np.array([[1.0, np.inf]]), "infinite in row 1"),
        ("objects.npy", np.array([[{}]], dtype=object), "NumPy arrays"),
    ):
        np.save(tmp_path / name, array, allow_pickle=True)
        with pytest.raises(DataFormatError, match=sentence):
            read_dataset(tmp_path / name, tmp_path / "e.npy")
    with pytest.raises(DataFormatError, match=r"e.labels.csv"):
        read_dataset(tmp_path / "e.npy")
    with pytest.raises(DataFormatError, match=r"3 rows.*2 rows"):
        read_dataset(tmp_path / "e.npy", write(tmp_path / "few.csv", "tags\na|b\nb\n"))
    with pytest.raises(UserError, match="file of the labels"):
        read_dataset(tmp_path / "e.npy", ["a"])
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((2**12, 2**12)))
    with pytest.raises(DataFormatError, match="MLSPL_MEMORY"):
        read_dataset(tmp_path / "bomb.npz", tmp_path / "few.csv")
    with pytest.raises(DataFormatError, match="NumPy arrays"):
        read_dataset(write(tmp_path / "e.npz", b"PK no"), tmp_path / "few.csv")


def test_more_than_127_labels_are_right_in_scikit_learn():
    """OneVsRestClassifier adds up Y in its own type; of int8 it would overflow."""
    digits = load_dataset("digits-traits")
    assert digits.Y.dtype == np.int64
    Y = np.hstack([digits.Y[:300]] * 20)
    model = OneVsRestClassifier(LogisticRegression(max_iter=50)).fit(digits.X[:300] / 16, Y[:, :136])
    assert (model.predict(digits.X[:50] / 16) == Y[:50, :136]).mean() > 0.9


@pytest.mark.parametrize(
    ("cells", "options", "numbers"),
    [
        (["53.102,49", "1.234"], {}, [53102.49, 1234]),
        (["1,234.5", "2,000"], {}, [1234.5, 2000]),
        (["1,234,567", "-12"], {}, [1234567, -12]),
        (["1,5", "-2,25"], {}, [1.5, -2.25]),
        (["1,234.5", "2,000"], {"thousands": ","}, [1234.5, 2000]),
        (["1,5", "-2,25"], {"decimal": ","}, [1.5, -2.25]),
        (["1,234", "2,000"], {"thousands": ","}, [1234, 2000]),
        (["1,234", "2,000"], {"decimal": ","}, [1.234, 2]),
        (["1'234.5", "2'000"], {"thousands": "'"}, [1234.5, 2000]),
        (["53.102,49", "1.234"], {"decimal": ",", "thousands": "."}, [53102.49, 1234]),
        (["1.234", "500"], {"decimal": ",", "thousands": "."}, [1234, 500]),
    ],
)
@pytest.mark.filterwarnings("ignore:.*points between thousands")
def test_numbers_are_recognised_by_column(tmp_path, cells, options, numbers):
    path = tmp_path / "sales.csv"
    pd.DataFrame({"price": cells, "size": ["0.5", "1.5"], "y": [0, 1]}).to_csv(path, index=False)
    if "decimal" in options:
        path.write_text(path.read_text().replace("0.5", "1").replace("1.5", "2"))
    assert read_dataset(path, ["y"], **options).X[:, 0].tolist() == numbers


def test_dates_stay_dates_beside_points_between_thousands(tmp_path):
    path = tmp_path / "sales.csv"
    path.write_text("day;price;y\n31.12.2024;1.234;0\n01.02.2025;53.102,49;1\n")
    table = read_dataset(path, ["y"], encode=False, thousands=".").X
    assert table["day"].dt.year.tolist() == [2024, 2025]
    assert table["price"].tolist() == [1234, 53102.49]


@pytest.mark.parametrize("cell", ["1,234", "1 234", "12.5%", "$1,200"])
def test_numbers_with_signs_are_refused(tmp_path, cell):
    (tmp_path / "sales.csv").write_text(f'price,y\n"{cell}",0\n"2,000",1\n7,1\n')
    with pytest.raises(DataFormatError, match=r"line 2: column 'price'.*--(decimal|thousands)"):
        read_dataset(tmp_path / "sales.csv", ["y"])


@pytest.mark.parametrize(
    ("options", "word"),
    [({"thousands": "ab"}, "thousands"), ({"decimal": ",", "thousands": ","}, "different")],
)
def test_signs_that_cannot_be_are_refused(tmp_path, options, word):
    (tmp_path / "sales.csv").write_text("price,y\n1,0\n2,1\n")
    with pytest.raises(UserError, match=word):
        read_dataset(tmp_path / "sales.csv", ["y"], **options)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16"])
def test_encodings_are_suggested_read_and_written(tmp_path, encoding):
    path = tmp_path / "towns.csv"
    path.write_text("town,y\nKöln,0\nUlm,1\n", encoding=encoding)
    with pytest.raises(DataFormatError, match="encoding="):
        read_dataset(path, ["y"])
    towns = read_dataset(path, ["y"], encode=False, encoding=encoding)
    assert towns.texts("town") == ["Köln", "Ulm"]
    copy = relabel_file(path, tmp_path / "copy.csv", towns, [(0, 0, 1.0)], encoding=encoding)
    assert copy.read_bytes().decode(encoding) == "town,y\nKöln,1\nUlm,1\n"
    for wrong in ("zap", "base64", "ascii"):
        with pytest.raises(UserError, match="encoding"):
            read_dataset(path, ["y"], encoding=wrong)


def write_excel(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_excel_files_are_read_as_csv_files_are(tmp_path):
    rows = [
        ["size", "town", "when", "tags"],
        [1.5, "Rome", datetime(2024, 1, 2), "a|b"],
        [None, "Oslo", datetime(2024, 1, 3), "b"],
        [3, None, None, "a"],
    ]
    excel = read_dataset(write_excel(tmp_path / "towns.xlsx", rows), encode=False)
    cells = [["" if cell is None else str(cell) for cell in row] for row in rows]
    (tmp_path / "towns.csv").write_text("\n".join(map(",".join, cells)) + "\n")
    text = read_dataset(tmp_path / "towns.csv", encode=False)
    assert excel.fingerprint() == text.fingerprint()
    assert (excel.label_names, nominal_of(excel)) == (text.label_names, nominal_of(text))


@pytest.mark.parametrize(
    ("rows", "word"),
    [
        ([["a", "y"]], "no rows"),
        ([["a", "a", "y"], [1, 2, 0]], "two columns"),
        ([["a", None, "y"], [1, 2, 0]], "no name"),
        ([["a", "y"], [1, 0], [2, 0], ["x", 1]], "line 4.*'x'"),
    ],
)
def test_excel_files_with_mistakes_are_refused(tmp_path, rows, word):
    with pytest.raises(DataFormatError, match=word):
        read_dataset(write_excel(tmp_path / "d.xlsx", rows), ["y"])


def test_excel_files_that_announce_more_than_they_hold_are_refused(tmp_path):
    path = write_excel(tmp_path / "d.xlsx", [["a", "y"], [1, 0]])
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    far = b'<row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>'
    members[sheet] = members[sheet].replace(b"</sheetData>", far).replace(b"A1:B2", b"A1:XFD1048576")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    with pytest.raises(DataFormatError, match="memory"):
        read_dataset(path, ["y"])
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(DataFormatError, match="Excel"):
        read_dataset(path, ["y"])
