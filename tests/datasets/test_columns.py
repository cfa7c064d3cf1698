"""Kinds of columns, files without header, separators, compression, JSON Lines and NumPy's arrays."""

import bz2
import gzip

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier

from mlspl.datasets import (
    DataFormatError,
    load_dataset,
    read_dataset,
    read_unlabelled,
    relabel_file,
    write_dataset,
)
from mlspl.datasets.csv_rows import find_fields, scan_csv
from mlspl.errors import UserError

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
    np.testing.assert_array_equal(data.X[:, 4], 18319 + np.arange(n))
    np.testing.assert_array_equal(data.X[:, 5], data.X[:, 4])
    position = data.feature_names.index("review")
    words = [data.nominal["review"][int(code)] for code in data.X[:, position]]
    assert words == frame["review"].tolist()
    with pytest.warns(UserWarning, match="text is left out of the features: 'review'.*--text"):
        encoded = read_dataset(tmp_path / "a.csv", ["y"])
    assert "review" not in encoded.feature_names
    assert encoded.kinds == {}


def test_kinds_can_be_said(tmp_path):
    path = write(tmp_path / "a.csv", "zip,note,size,y\n01234,a,1,0\n1234,b,?,1\n")
    said = read_dataset(path, ["y"], encode=False, kinds={"zip": "categorical", "note": "text"})
    assert said.nominal == {"zip": ("01234", "1234"), "note": ("a", "b")}
    assert said.kinds == {"note": "text"}
    assert read_dataset(path, ["y"], encode=False).X[:, 0].tolist() == [1234, 1234]
    new = read_unlabelled(path, ["y"], kinds={"zip": "categorical", "elsewhere": "text"})
    assert new.nominal["zip"] == ("01234", "1234")
    assert read_dataset(path, ["y"], drop=["note", "zip"]).feature_names == ["size"]
    with pytest.raises(DataFormatError, match=r"line 2: column 'note' is numeric, 'a' is no finite number"):
        read_dataset(path, ["y"], kinds={"note": "numeric"})
    with pytest.raises(DataFormatError, match=r"line 2: column 'note' holds dates, and 'a' is none"):
        read_dataset(path, ["y"], kinds={"note": "date"})
    for options, sentence in (
        ({"kinds": {"zip": "words"}}, "cannot be 'words': it is one of numeric, categorical, text, date"),
        ({"kinds": {"zap": "text"}}, r"kinds \(--text\) names what is no column: 'zap'"),
        ({"drop": ["zap"]}, r"drop \(--drop\) names what is no column: 'zap'"),
    ):
        with pytest.raises(UserError, match=sentence):
            read_dataset(path, ["y"], **options)


SLASHED = {
    "a.csv": "when,y\n{},0\n{},1\n",
    "a.jsonl": '{{"when": "{}", "y": 0}}\n{{"when": "{}", "y": 1}}\n',
    "a.arff": "@relation r\n@attribute when date\n@attribute y {{0,1}}\n@data\n{},0\n{},1\n",
}
JANUARY_7 = 19364
JULY_1 = 19539


def write_slashed(folder, name, *dates):
    if name != "a.parquet":
        return write(folder / name, SLASHED[name].format(*dates))
    pytest.importorskip("pyarrow")
    pd.DataFrame({"when": dates, "y": [0, 1]}).to_parquet(folder / name)
    return folder / name


@pytest.mark.parametrize("name", [*SLASHED, "a.parquet"])
def test_one_date_tells_the_order_of_all(tmp_path, name):
    path = write_slashed(tmp_path, name, "07/01/2023", "25/12/2023")
    data = read_dataset(path, ["y"], encode=False)
    assert (data.kind("when"), data.day_first) == ("date", {"when": True})
    assert data.X[0, 0] == JANUARY_7
    data = read_dataset(write_slashed(tmp_path, name, "07/01/2023", "12/25/2023"), ["y"], encode=False)
    assert data.day_first == {"when": False}
    assert data.X[0, 0] == JULY_1


@pytest.mark.parametrize("name", [*SLASHED, "a.parquet"])
def test_an_order_that_is_open_is_warned_of_unless_it_is_said(tmp_path, name):
    path = write_slashed(tmp_path, name, "05/05/2023", "07/01/2023")
    with pytest.warns(UserWarning, match="month first, and could have the day first: 'when', such as 07/01"):
        data = read_dataset(path, ["y"], encode=False)
    assert (data.day_first, data.X[1, 0]) == ({"when": False}, JULY_1)
    for day_first, days in ((True, JANUARY_7), (False, JULY_1)):
        for said in (
            read_dataset(path, ["y"], encode=False, day_first={"when": day_first}),
            read_unlabelled(path, ["y"], day_first={"when": day_first, "elsewhere": True}),
        ):
            assert (said.day_first, said.X[1, 0]) == ({"when": day_first}, days)


def test_dates_that_are_the_same_in_both_orders_leave_nothing_open(tmp_path):
    data = read_dataset(write_slashed(tmp_path, "a.csv", "05/05/2023", "06/06/2023"), ["y"], encode=False)
    assert data.kind("when") == "date"


def test_a_date_in_another_order_than_is_said_is_refused(tmp_path):
    path = write_slashed(tmp_path, "a.csv", "07/01/2023", "25/12/2023")
    with pytest.raises(DataFormatError, match=r"line 3: .* with the month first, and '25/12/2023' is none"):
        read_dataset(path, ["y"], day_first={"when": False})
    for options, sentence in (
        ({"day_first": {"then": True}}, "day_first names what is no column: 'then'"),
        ({"day_first": {"when": "yes"}}, "day_first of column 'when' is True or False; it is 'yes'"),
    ):
        with pytest.raises(UserError, match=sentence):
            read_dataset(path, ["y"], **options)


def test_other_notations_need_no_order(tmp_path):
    for dates in (("2023-01-07", "2023-07-01"), ("07.01.2023", "01.07.2023")):
        path = write_slashed(tmp_path, "a.csv", *dates)
        for options in ({}, {"day_first": {"when": False}}):
            data = read_dataset(path, ["y"], encode=False, **options)
            assert (data.X[:, 0].tolist(), data.day_first) == ([JANUARY_7, JULY_1], {})


def test_dates_that_are_all_missing_are_dates_if_it_is_said(tmp_path):
    path = write_slashed(tmp_path, "a.csv", "", "?")
    data = read_dataset(path, ["y"], encode=False, kinds={"when": "date"})
    assert data.kind("when") == "date"
    assert np.isnan(data.X).all()


def test_kinds_of_arff_can_be_said(tmp_path):
    text = "@relation r\n@attribute a numeric\n@attribute b {3,5}\n@attribute y {0,1}\n@data\n1,5,0\n2,3,1\n"
    path = write(tmp_path / "a.arff", text)
    said = read_dataset(path, ["y"], encode=False, kinds={"a": "categorical", "b": "numeric"})
    assert said.nominal == {"a": ("1", "2")}
    assert said.X[:, 1].tolist() == [5, 3]


def test_strings_of_arff_are_kept(tmp_path):
    header = "@relation r\n@attribute a numeric\n@attribute t string\n@attribute y {0,1}\n"
    text = header + "@data\n1,'b, c',0\n2,?,1\n"
    said = read_dataset(write(tmp_path / "a.arff", text), ["y"], encode=False)
    assert said.nominal == {"t": ("b, c",)}
    np.testing.assert_array_equal(said.X[:, 1], [0, np.nan])
    assert said.kind("t") == "text"


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_decimal_commas_beside_other_separators(tmp_path, separator):
    text = 'size;town;y\n1,5;Rome, Italy;0\n-20;"Oslo;N";1\n'.replace(";N", "").replace(";", separator)
    data = read_dataset(write(tmp_path / "a.csv", text), ["y"], encode=False)
    assert data.X[:, 0].tolist() == [1.5, -20]
    assert data.nominal["town"] == ("Oslo", "Rome, Italy")


@pytest.mark.parametrize("text", ["1,2.5,0\n3,4,1\n", "5;7\n1;0\n2;1\n", "1,,0\n2,3,1\n"])
def test_a_file_without_a_header_is_refused(tmp_path, text):
    with pytest.raises(DataFormatError, match=r"line 1: the first line holds numbers.*Write a header"):
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
    with pytest.raises(DataFormatError, match="line 1: the first line holds values like those below it"):
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
        with pytest.raises(DataFormatError, match="it cannot be unpacked"):
            read_dataset(write(packed, damaged))


def zstandard_compress(raw):
    return pytest.importorskip("zstandard").ZstdCompressor().compress(raw)


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".zst"])
def test_a_bomb_is_not_unfolded(tmp_path, suffix):
    """A gigabyte of zeros in a megabyte, or much less."""
    compress = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstandard_compress}[suffix]
    part = compress(b"0," * 2**24)
    path = write(tmp_path / f"t.csv{suffix}", part * 8)
    with pytest.raises(DataFormatError, match="unfolds to more than 300 times its size"):
        read_dataset(path, -1)


def test_binary_formats_are_not_compressed_once_more(tmp_path):
    with pytest.raises(UserError, match="no compressed files"):
        read_dataset(write(tmp_path / "t.parquet.gz", b"x"), -1)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('{"a": 1, "y": 0}\n{"a": 1, "y"\n', 2, "this is no JSON"),
        ('{"a": 1, "y": 0}\n\n[1, 0]\n', 3, "is no object with columns"),
        ('{"a": {"b": 1}, "y": 0}\n', 1, "a value is a number, a text, or a list of labels"),
        ('{"a": NaN, "y": 0}\n', 1, "NaN is no finite number; null"),
        ('{"a": 1e999, "y": 0}\n', 1, "'a' is inf, no finite number"),
        ('{"a": 1, "y": 0}\n{"a": 2, "y": 3}\n', 2, "label 'y' is 3"),
        ('{"a": 1, "y": 0}\n{"a": "x", "y": 1}\n{"a": 2, "y": 1}\n', 2, "column 'a' is numeric, 'x'"),
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
    np.testing.assert_array_equal(data.X, [[1, 1, 1], [2.5, nan, nan], [nan, 0, 0]])
    np.testing.assert_array_equal(data.Y[:, 0], [1, 0, nan])


def test_arrays_are_used_as_they_are(tmp_path):
    """Memory-mapped and float32, with labels in any kind of file beside them."""
    X = np.random.default_rng(0).normal(size=(4, 6)).astype(np.float32)
    Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    np.save(tmp_path / "e.npy", X)
    np.save(tmp_path / "other.npy", Y)
    write(tmp_path / "e.labels.csv", "a,b\n1,0\n0,1\n1,1\n0,0\n")
    write(tmp_path / "sets.csv", 'tags\na\nb\na|b\n""\n')
    write(tmp_path / "sets.txt", "a\nb\na|b\n\n")
    write(tmp_path / "sets.jsonl", '{"t":["a"]}\n{"t":["b"]}\n{"t":["a","b"]}\n{"t":[]}\n')
    np.savez(tmp_path / "both.npz", X=X, Y=Y, label_names=["a", "b"])
    for labels in (None, "sets.csv", "sets.txt", "sets.jsonl", "other.npy"):
        data = read_dataset(tmp_path / "e.npy", labels and tmp_path / labels)
        assert isinstance(data.X, np.memmap)
        assert data.X.dtype == np.float32
        np.testing.assert_array_equal(data.Y, Y)
        assert data.label_names == (["0", "1"] if labels == "other.npy" else ["a", "b"])
    data = read_dataset(tmp_path / "both.npz")
    assert (data.X.dtype, data.label_names, data.Y.tolist()) == (np.float32, ["a", "b"], Y.tolist())
    assert read_unlabelled(tmp_path / "e.npy").X.shape == (4, 6)
    sparse.save_npz(tmp_path / "s.npz", sparse.csr_array(X))
    data = read_dataset(tmp_path / "s.npz", tmp_path / "sets.txt")
    np.testing.assert_array_equal(data.X.toarray(), X)


def test_arrays_that_cannot_be_data_are_refused(tmp_path):
    np.save(tmp_path / "e.npy", np.ones((3, 2)))
    for name, array, sentence in (
        ("flat.npy", np.ones(3), r"X has shape \(3,\)"),
        ("words.npy", np.array([["a"]]), "type <U1"),
        ("infinite.npy", np.array([[1.0, np.inf]]), "infinite in row 1"),
        ("objects.npy", np.array([[{}]], dtype=object), "no file of NumPy arrays"),
    ):
        np.save(tmp_path / name, array, allow_pickle=True)
        with pytest.raises(DataFormatError, match=sentence):
            read_dataset(tmp_path / name, tmp_path / "e.npy")
    with pytest.raises(DataFormatError, match=r"where are the labels\? Put e.labels.csv"):
        read_dataset(tmp_path / "e.npy")
    with pytest.raises(DataFormatError, match="3 rows of features, but 2 of labels"):
        read_dataset(tmp_path / "e.npy", write(tmp_path / "few.txt", "a|b\nb\n"))
    with pytest.raises(UserError, match="labels is the file of the labels"):
        read_dataset(tmp_path / "e.npy", ["a"])
    np.savez_compressed(tmp_path / "bomb.npz", X=np.zeros((2**12, 2**12)))
    with pytest.raises(DataFormatError, match="unfolds to more than 300 times"):
        read_dataset(tmp_path / "bomb.npz", tmp_path / "few.txt")
    with pytest.raises(DataFormatError, match="no file of NumPy arrays"):
        read_dataset(write(tmp_path / "e.npz", b"PK no"), tmp_path / "few.txt")


def test_more_than_127_labels_are_right_in_scikit_learn():
    """OneVsRestClassifier adds up Y in its own type; of int8 it would overflow."""
    digits = load_dataset("digits-traits")
    assert digits.Y.dtype == np.int64
    Y = np.hstack([digits.Y[:300]] * 20)
    model = OneVsRestClassifier(LogisticRegression(max_iter=50)).fit(digits.X[:300] / 16, Y[:, :136])
    assert (model.predict(digits.X[:50] / 16) == Y[:50, :136]).mean() > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_the_scanner_agrees_with_pandas(tmp_path, seed):
    """Fields quoted at random, with blanks, line ends and separators in them."""
    rng = np.random.default_rng(seed)
    cells = np.array(['a"b', "x,y", "two\nlines", " pad ", "1.25", "-3e-7", "", "?", "007", "1e400"], object)
    frame = pd.DataFrame(rng.choice(cells, (40, 4)), columns=list("abcd"))
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, quoting=seed % 2)
    text = path.read_bytes()
    body = np.frombuffer(text, np.uint8)[text.index(b"\n") + 1 :]
    fault, _, _, numbers, n_words, row_start = scan_csv(body, ord(","), ord("."), 4)
    assert fault == 0
    expected = pd.read_csv(path, dtype=str, keep_default_na=False)
    raw = body.tobytes()
    for j, places in enumerate(find_fields(body, ord(","), row_start, np.arange(4))):
        words = [raw[a:b].decode() for a, b in places.tolist()]
        words = [w[1:-1].replace('""', '"') if w[:1] == '"' else w for w in words]
        assert words == expected.iloc[:, j].tolist()
        plain = expected.iloc[:, j].isin(["1.25", "-3e-7", "007"])
        np.testing.assert_array_equal(~np.isnan(numbers[:, j]), plain)
        np.testing.assert_array_equal(numbers[plain, j], expected.iloc[:, j][plain].astype(float))
        assert n_words[j] == (~plain & (expected.iloc[:, j].str.strip() != "")).sum()
