"""Labels as people keep them: one column of label sets, in every format and spelling."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mlspl.datasets import DataFormatError, read_dataset
from mlspl.errors import UserError

ROWS = [["happy", "calm"], [], None, ["calm"], ["sad song"]]
NAMES = ["calm", "happy", "sad song"]
Y = np.array([[1, 1, 0], [0, 0, 0], [np.nan] * 3, [1, 0, 0], [0, 0, 1]])

SPELLED = {
    "bars": [" happy|calm", "", "?", "calm", "sad song|"],
    "semicolons": ["happy;calm", "", "NA", "calm", " sad song "],
    "commas": ["happy, calm", "", "?", "calm", "sad song"],
    "JSON": ['["happy", "calm"]', "[]", "null", '["calm"]', '["sad song"]'],
    "Python": ["['happy', 'calm']", "[]", "?", "['calm']", "['sad song']"],
}


JOINTS = {"bars": "|", "semicolons": ";", "commas": ", ", "JSON": "[", "Python": "["}


def test_one_broken_list_is_named_and_not_taken_apart(tmp_path):
    cells = ['["a", "b"]', '["b"]', '["a", ', '["a"]']
    pd.DataFrame({"tempo": np.arange(4.0), "tags": cells}).to_csv(tmp_path / "songs.csv", index=False)
    with pytest.raises(DataFormatError, match=r"line 4: .*list"):
        read_dataset(tmp_path / "songs.csv")
    rows = [{"tempo": 1, "tags": ["a", "b"]}, {"tempo": 2, "tags": "a"}]
    (tmp_path / "songs.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    with pytest.raises(DataFormatError, match=r"line 2: .*list"):
        read_dataset(tmp_path / "songs.jsonl")


@pytest.mark.parametrize("case", SPELLED)
@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_label_sets_of_every_spelling_are_recognised(tmp_path, case, separator):
    path = tmp_path / "songs.csv"
    frame = pd.DataFrame({"tempo": np.arange(5.0), "mood": SPELLED[case]})
    frame.to_csv(path, index=False, sep=separator)
    songs = read_dataset(path, labels="mood")
    assert songs.label_names == NAMES
    assert (songs.label_column, songs.label_joint) == ("mood", JOINTS[case])
    assert songs.feature_names == ["tempo"]
    np.testing.assert_array_equal(songs.Y, Y)


def write_json_lines(path, name="mood"):
    rows = [{"tempo": i, name: row} for i, row in enumerate(ROWS)]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    return path


def test_lists_in_json_lines_and_parquet(tmp_path):
    """The one column of lists is taken for the labels without being told."""
    paths = [write_json_lines(tmp_path / "songs.jsonl")]
    pytest.importorskip("pyarrow")
    pd.DataFrame({"tempo": np.arange(5.0), "mood": ROWS}).to_parquet(tmp_path / "songs.parquet")
    for path in (*paths, tmp_path / "songs.parquet"):
        for labels in (None, "mood", ["mood"]):
            songs = read_dataset(path, labels)
            assert songs.label_names == NAMES
            np.testing.assert_array_equal(songs.Y, Y)


def test_a_column_called_tags_needs_no_naming(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_text("tempo,Tags\n1,a|b\n2,\n3,b\n")
    np.testing.assert_array_equal(read_dataset(path).Y, [[1, 1], [0, 0], [0, 1]])


def test_one_label_a_row_takes_a_separator_that_never_comes(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_text("tempo,mood\n1,sad\n2,happy\n3,\n")
    assert read_dataset(path, "mood", label_sep="|").label_names == ["happy", "sad"]
    with pytest.raises(DataFormatError, match=r"mood.*label_sep") as caught:
        read_dataset(path, "mood")
    assert caught.value.line == 2


def test_numbers_are_labels_too(tmp_path):
    path = tmp_path / "songs.csv"
    path.write_text("tempo,mood\n1,3 7\n2,7\n3,\n4,?\n")
    songs = read_dataset(path, "mood", label_sep=" ")
    assert songs.label_names == ["3", "7"]
    np.testing.assert_array_equal(songs.Y[:3], [[1, 1], [0, 1], [0, 0]])
    path.write_text("tempo,mood\n1,3\n2,7\n")
    assert read_dataset(path, "mood", label_sep="|").label_names == ["3", "7"]


def test_words_for_missing_can_be_others(tmp_path):
    """NA may be Namibia."""
    path = tmp_path / "trips.csv"
    path.write_text("days,land\n1,NA|DE\n-,NA\n3,unknown\n")
    trips = read_dataset(path, "land", na_values=["unknown", "-"])
    assert trips.label_names == ["DE", "NA"]
    np.testing.assert_array_equal(np.isnan(trips.Y), [[0, 0], [0, 0], [1, 1]])
    np.testing.assert_array_equal(trips.X[:, 0], [1, np.nan, 3])


@pytest.mark.parametrize("cells", [["a|None", "None", "b"], ['["a", "None"]', "None", '["b"]']])
def test_a_word_for_missing_is_a_label_beside_others(tmp_path, cells):
    path = tmp_path / "songs.csv"
    pd.DataFrame({"tempo": [1, 2, 3], "tags": cells}).to_csv(path, index=False)
    songs = read_dataset(path)
    assert songs.label_names == ["None", "a", "b"]
    np.testing.assert_array_equal(np.isnan(songs.Y[:, 0]), [False, True, False])
    if "|" in cells[0]:
        np.testing.assert_array_equal(read_dataset(path, na_values=["?"]).Y[:, 0], [1, 1, 0])


def test_many_label_sets_stay_sparse(tmp_path):
    path = tmp_path / "many.csv"
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5000, (4000, 3))
    with path.open("w") as stream:
        stream.write("x,tags\n")
        stream.writelines(f"{i},{'|'.join(map(str, row))}\n" for i, row in enumerate(labels))
    many = read_dataset(path)
    assert sparse.issparse(many.Y)
    expected = [sorted(set(row)) for row in labels.astype(str).tolist()]
    found = [sorted(many.label_names[j] for j in many.Y[[i]].indices) for i in range(4000)]
    assert found == expected
    assert many.describe().cardinality == pytest.approx(np.mean([len(row) for row in expected]))


@pytest.mark.parametrize(
    ("text", "labels", "options", "sentence"),
    [
        ('x,tags\n1,"[""a""]"\n2,"[""b"",]"\n3,[c]\n', None, {}, "list"),
        ("x,a,b\n1,0,1\n2,1,0\n", ["a", "b"], {"label_sep": "|"}, "label_sep"),
        ("x,tags\n1,?\n2,?\n3,|\n", "tags", {"label_sep": "|"}, "no label"),
        ("x,tags\n1,a|b\n2,b\n", "tags", {"drop": ["tags"]}, "'tags' cannot be"),
    ],
)
def test_mistakes_are_answered_with_a_sentence(tmp_path, text, labels, options, sentence):
    path = tmp_path / "songs.csv"
    path.write_text(text)
    with pytest.raises(UserError, match=sentence):
        read_dataset(path, labels, **options)


def test_two_columns_of_lists_are_not_guessed_at(tmp_path):
    path = tmp_path / "songs.jsonl"
    path.write_text('{"x": 1, "a": ["p"], "b": ["q"]}\n')
    with pytest.raises(DataFormatError, match="which columns are labels"):
        read_dataset(path)
    with pytest.raises(DataFormatError, match="'b' holds lists"):
        read_dataset(path, "a")
    assert read_dataset(path, "a", drop=["b"]).feature_names == ["x"]
