"""`relabel_file`: the labels of a copy are the new ones, and nothing else of the file is another."""

import gzip

import numpy as np
import pandas as pd
import pytest

from mlspl.datasets import Dataset, read_dataset, relabel_file, write_dataset
from mlspl.errors import UserError

NAN = float("nan")


def relabel(tmp_path, name, text, labels, changes):
    source = tmp_path / name
    source.write_bytes(text.encode())
    dataset = read_dataset(source, labels, encode=False)
    target = tmp_path / f"copy-{name}"
    assert relabel_file(source, target, dataset, changes) == target
    again = read_dataset(target, list(dataset.label_names), encode=False)
    np.testing.assert_array_equal(again.Y, dataset.with_labels(changes).Y)
    np.testing.assert_array_equal(again.X, dataset.X)
    assert source.read_bytes() == text.encode(), "the file itself is not touched"
    return target.read_bytes().decode()


def test_a_csv_changes_in_its_cells_alone(tmp_path):
    text = '\ufeffid;happy;note;calm\r\n1;Yes;"a; ""b""";0\r\n\r\n2;No;x;1\r\n003;;"two\r\nlines";1.0\r\n'
    changes = [(0, 0, 0.0), (2, 0, 1.0), (2, 1, NAN)]
    found = relabel(tmp_path, "songs.csv", text, ["happy", "calm"], changes)
    assert (
        found
        == '\ufeffid;happy;note;calm\r\n1;No;"a; ""b""";0\r\n\r\n2;No;x;1\r\n003;Yes;"two\r\nlines";\r\n'
    )


@pytest.mark.parametrize(
    ("given", "turned"),
    [
        ("true", "false"),
        ("True", "False"),
        ("NO", "YES"),
        ("1", "0"),
        ("0.0", "1"),
        ("yes", "no"),
        ("-1", "1"),
    ],
)
def test_where_all_rows_say_the_same_the_opposite_is_spelled_alike(tmp_path, given, turned):
    text = f"tempo,happy\n1,{given}\n2,{given}\n"
    assert relabel(
        tmp_path, "songs.csv", text, ["happy"], [(1, 0, 1 - float(given.lower() in "yes true 1"))]
    ) == (f"tempo,happy\n1,{given}\n2,{turned}\n")


def test_a_dense_arff_changes_in_its_cells_alone(tmp_path):
    text = (
        "% songs, by hand\n@relation songs\n@attribute 'a, b' numeric\n@attribute happy {0,1}\n"
        "@attribute key {C,'F, sharp'}\n@attribute calm {no,yes}\n@data\n"
        "1.50 , 0 ,'F, sharp',no\n% a remark\n2,1,C,yes\n\n3,?,C,yes\n"
    )
    found = relabel(
        tmp_path, "songs.arff", text, ["happy", "calm"], [(0, 0, 1.0), (0, 1, 1.0), (1, 1, NAN), (2, 0, 0.0)]
    )
    expected = text.replace("1.50 , 0 ,'F, sharp',no", "1.50 , 1 ,'F, sharp',yes").replace(
        "2,1,C,yes", "2,1,C,?"
    )
    assert found == expected.replace("3,?,C,yes", "3,0,C,yes")


def test_a_sparse_arff_keeps_its_pairs_and_their_order(tmp_path):
    text = (
        "@relation songs\n@attribute a numeric\n@attribute b numeric\n@attribute happy {0,1}\n"
        "@attribute calm {0,1}\n@data\n{0 1.50,2 1}\n{}\n{ 1 2, 3 1 }\n"
    )
    changes = [(0, 0, 0.0), (0, 1, 1.0), (1, 0, 1.0), (2, 0, NAN), (2, 1, 0.0)]
    source = tmp_path / "songs.arff"
    source.write_text(text)
    dataset = read_dataset(source, ["happy", "calm"], encode=False)
    copy = relabel_file(source, tmp_path / "copy.arff", dataset, changes)
    assert copy.read_text().splitlines()[-3:] == ["{0 1.50,2 0,3 1}", "{2 1}", "{ 1 2,2 ?, 3 0 }"]
    again = read_dataset(copy, ["happy", "calm"], encode=False)
    np.testing.assert_array_equal(again.Y, [[0, 1], [1, 0], [NAN, 0]])


@pytest.mark.parametrize("row", ["{}", "{ }", "{0 1}", "{0 1,4 1}", "{4 1}", "{1 1, 2 1}"])
def test_pairs_are_put_in_their_order(tmp_path, row):
    header = "".join(f"@attribute {name} {{0,1}}\n" for name in "abcde")
    source = tmp_path / "songs.arff"
    source.write_text(f"@relation songs\n{header}@data\n{row}\n{{3 1}}\n")
    dataset = read_dataset(source, list("abcd"))
    copy = relabel_file(source, tmp_path / "copy.arff", dataset, [(0, label, 1.0) for label in (2, 0, 1, 3)])
    assert read_dataset(copy, list("abcd")).Y[0].tolist() == [1, 1, 1, 1]
    assert [int(pair.split()[0]) for pair in copy.read_text().splitlines()[-2].strip("{}").split(",")] == [
        *range(4 + ("4" in row))
    ]


@pytest.mark.parametrize("name", ["songs.jsonl", "songs.parquet"])
def test_decisions_on_other_formats_fit_the_converted_file(tmp_path, name):
    frame = pd.DataFrame({"key": ["C", "F", "C"], "note": ["x y", "z", None], "happy": [0, 1, 1]})
    if name == "songs.parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / name)
    else:
        frame.to_json(tmp_path / name, orient="records", lines=True)
    dataset = read_dataset(tmp_path / name, ["happy"], encode=False)
    with pytest.raises(UserError, match="datasets convert"):
        relabel_file(tmp_path / name, (tmp_path / "copy").with_suffix(f".{name[6:]}"), dataset, [(0, 0, 1.0)])
    converted = write_dataset(dataset, tmp_path / "songs.arff")
    assert read_dataset(converted, encode=False).fingerprint() == dataset.fingerprint()


@pytest.mark.parametrize(
    ("name", "text", "changed"),
    [
        ("a.csv", "t,tags\n1,calm|slow\n2,calm\n3,\n", "t,tags\n1,slow\n2,calm|slow\n3,calm\n"),
        (
            "a.csv",
            't,tags\n1,"calm, slow"\n2,calm\n3,\n',
            't,tags\n1,slow\n2,"calm, slow"\n3,calm\n',
        ),
        (
            "a.csv",
            't;tags\n1;["calm", "slow"]\n2;["calm"]\n3;[]\n',
            't;tags\n1;"[""slow""]"\n2;"[""calm"", ""slow""]"\n3;"[""calm""]"\n',
        ),
    ],
)
def test_label_sets_are_added_to_and_taken_from(tmp_path, name, text, changed):
    source = tmp_path / name
    source.write_text(text)
    dataset = read_dataset(source, ["tags"], encode=False)
    calm, slow = (dataset.label_names.index(label) for label in ("calm", "slow"))
    changes = [(0, calm, 0.0), (1, slow, 1.0), (2, calm, 1.0)]
    assert relabel_file(source, tmp_path / f"copy-{name}", dataset, changes).read_text() == changed
    with pytest.raises(UserError, match="unknown"):
        relabel_file(source, tmp_path / f"other-{name}", dataset, [(0, calm, NAN)])


def test_what_is_compressed_is_written_plainly(tmp_path):
    source = tmp_path / "songs.csv.gz"
    source.write_bytes(gzip.compress(b"tempo,happy\n1,0\n2,1\n"))
    dataset = read_dataset(source, ["happy"], encode=False)
    copy = relabel_file(source, tmp_path / "copy.csv", dataset, [(0, 0, 1.0)])
    assert copy.read_text() == "tempo,happy\n1,1\n2,1\n"


def test_svmlight_is_written_anew(tmp_path):
    songs = Dataset(np.eye(3), np.eye(3, 2, dtype=int), list("abc"), ["happy", "calm"])
    source = write_dataset(songs, tmp_path / "songs.svm")
    dataset = read_dataset(source)
    copy = relabel_file(source, tmp_path / "copy.svm", dataset, [(2, 1, 1.0)])
    again = read_dataset(copy)
    assert again.Y.tolist() == [[1, 0], [0, 1], [0, 1]]
    with pytest.raises(UserError, match="unknown label"):
        relabel_file(source, tmp_path / "other.svm", dataset, [(2, 1, NAN)])


def test_the_xml_that_names_the_labels_goes_along(tmp_path):
    songs = Dataset(np.eye(3), np.eye(3, 2, dtype=int), list("abc"), ["happy", "calm"])
    source = write_dataset(songs, tmp_path / "songs.arff")
    relabel_file(source, tmp_path / "copy.arff", read_dataset(source, encode=False), [(0, 0, 0.0)])
    assert read_dataset(tmp_path / "copy.arff").Y.tolist() == [[0, 0], [0, 1], [0, 0]]


def test_what_cannot_be_changed_is_refused_and_nothing_written(tmp_path):
    source = tmp_path / "songs.csv"
    source.write_text("tempo,happy\n1,0\n2,1\n")
    dataset = read_dataset(source, ["happy"])
    with pytest.raises(UserError, match=r"written as \.csv"):
        relabel_file(source, tmp_path / "copy.arff", dataset, [(0, 0, 1.0)])
    # The file has been changed since it was read.
    source.write_text("tempo,happy\n1,0\n5,0\n")
    with pytest.raises(UserError, match="cell by cell"):
        relabel_file(source, tmp_path / "copy.csv", dataset, [(0, 0, 1.0)])
    assert not (tmp_path / "copy.csv").exists()


def test_long_cells_and_marks_stay(tmp_path):
    text = '\ufeffid,note,happy\r\n1,"' + "w " * 70_000 + '",0\r\n2,x,1\r\n'
    assert relabel(tmp_path, "songs.csv", text, ["happy"], [(0, 0, 1.0)]) == text.replace('",0', '",1')
    arff = "\ufeff@relation r\r\n@attribute a numeric\r\n@attribute b {0,1}\r\n@data\r\n1,0\r\n2, 1 \r\n"
    assert relabel(tmp_path, "songs.arff", arff, ["b"], [(1, 0, 0.0)]) == arff.replace("2, 1 ", "2, 0 ")
