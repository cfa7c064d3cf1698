"""Every way a file can be wrong: a `DataFormatError` that says the file, the line and what to do."""

import pickle
import re

import numpy as np
import pytest
from scipy import sparse

from mlspl.datasets import DataFormatError, read_dataset
from mlspl.errors import UserError
from tests.watched import little_memory

DENSE = """@relation bad
@attribute size numeric
@attribute colour {red,green}
@attribute sea {0,1}
@attribute sand {0,1}
@data
1.5,red,0,1
2,green,1,1
"""
SPARSE = DENSE[: DENSE.index("1.5")] + "{0 1.5,3 1}\n{0 2,1 green,2 1,3 1}\n"
XML = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
<label name="sea"></label>
<label name="sand"></label>
</labels>
"""
BOMB = """<?xml version="1.0"?>
<!DOCTYPE labels [
<!ENTITY a "sea"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">
]>
<labels><label name="&c;"/></labels>
"""


def error_of(folder, arff, xml=XML):
    path = folder / "bad.arff"
    path.write_bytes(arff if isinstance(arff, bytes) else arff.encode())
    (folder / "bad.xml").write_bytes(xml if isinstance(xml, bytes) else xml.encode())
    with pytest.raises(DataFormatError) as caught:
        read_dataset(path)
    error = caught.value
    assert str(error.file) in str(error)
    assert error.line is None or f"line {error.line}:" in str(error)
    return error


def test_the_files_are_fine_before_they_are_damaged(tmp_path):
    (tmp_path / "bad.xml").write_text(XML)
    for text in (DENSE, SPARSE):
        (tmp_path / "bad.arff").write_text(text)
        assert read_dataset(tmp_path / "bad.arff").Y.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("2,green,1,1", "2,green,1", 8, "3 values for 4 attributes"),
        ("2,green,1,1", "2,green,1,1,1", 8, "5 values for 4 attributes"),
        ("2,green,1,1", "2,green,,1", 8, "Write ? for an unknown value"),
        ("2,green,1,1", "2,green,1,1,", 8, "Write ? for an unknown value"),
        ("2,green,1,1", ",green,1,1", 8, "Write ? for an unknown value"),
        ("2,green,1,1", "2,blue,1,1", 8, "'colour' has no value 'blue'; declared are {red,green}"),
        ("2,green,1,1", "2,'green,1,1", 8, "not closed on its line"),
        ("2,green,1,1", "2,'gre'en,1,1", 8, "text follows a closing quote"),
        ("2,green,1,1", "two,green,1,1", 8, "'two'"),
        ("2,green,1,1", "1e999,green,1,1", 8, "finite number"),
        ("2,green,1,1", "1_0,green,1,1", 8, "finite number"),
        ("2,green,1,1", "2,green,1,2", 8, "'sand' has no value '2'"),
        ("2,green,1,1", "{0 2,1 green", 8, "not closed with }"),
        ("sand {0,1}", "sand numeric\n%", 9, "label 'sand' is 2"),
        ("sand {0,1}", "sand {0,0}", 5, "declared twice"),
        ("sand {0,1}", "sand {0,1", 5, "not readable"),
        ("sand {0,1}", "sand {0,1} x", 5, "not readable"),
        ("sand {0,1}", "sand {0,,1}", 5, "not readable"),
        ("sand {0,1}", "sand", 5, "has the type ''"),
        ("sand {0,1}", "sand relational", 5, "has the type 'relational'"),
        ("sand {0,1}", "sea {0,1}", 5, "called 'sea'"),
        ("@attribute sand {0,1}", "@attribute", 5, "without a readable name"),
        ("@attribute sand {0,1}", "@attribute 'sand {0,1}", 5, "without a readable name"),
        (
            "@attribute sand {0,1}",
            "@attrib sand {0,1}",
            5,
            "where @relation, @attribute or @data is expected",
        ),
        ("@data", "", 7, "where @relation, @attribute or @data is expected"),
    ],
)
def test_damaged_dense_arff(tmp_path, old, new, line, message):
    text = (
        DENSE.replace(old, new).replace("1,1\n", "1,2\n") if "numeric\n" in new else DENSE.replace(old, new)
    )
    error = error_of(tmp_path, text)
    assert error.line == line
    assert message in str(error)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{4 1}", "out of range: 4 attributes are declared, so 0 … 3"),
        ("{1000000000000 1}", "out of range"),
        ("{99999999999999999999999999999 1}", "out of range"),
        ("{-1 1}", "index"),
        ("{0 1,0 2}", "index 0"),
        ("{0}", "index"),
        ("{0 }", "pairs"),
        ("{0 1,}", "Write ? for an unknown value"),
        ("{a 1}", "index"),
        ("{0.5 1}", "index"),
        ("{0 1", "not closed with }"),
        ("{0 1,2", "not closed with }"),
        ("{", "not closed with }"),
        ("{0 1} 2", "text follows the closing }"),
        ("{0 1}{1 red}", "text follows the closing }"),
        ("{1 blue}", "'colour' has no value 'blue'"),
    ],
)
def test_damaged_sparse_rows(tmp_path, row, message):
    error = error_of(tmp_path, SPARSE + "% a comment\n" + row + "\n")
    assert error.line == 10
    assert message in str(error)


@pytest.mark.parametrize("cut", range(1, len(DENSE) - 12, 7))
def test_a_dense_file_cut_off_anywhere_is_refused_or_ends_with_a_whole_row(tmp_path, cut):
    whole_rows = [DENSE.index("\n2,green") + shift for shift in (-1, 0, 1)]
    if cut not in whole_rows:
        error_of(tmp_path, DENSE[:cut])


@pytest.mark.parametrize("cut", range(SPARSE.index("{0 2") + 1, len(SPARSE) - 2))
def test_a_sparse_file_cut_off_within_a_row_is_refused(tmp_path, cut):
    assert error_of(tmp_path, SPARSE[:cut]).line == 8


@pytest.mark.parametrize(
    ("content", "line", "message"),
    [
        (b"", None, "empty"),
        (b" \r\n\t ", None, "empty"),
        (b"\xef\xbb\xbf", None, "empty"),
        (bytes(range(256)) * 3, 1, "zero byte"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 3, "zero byte"),
        (DENSE.encode("utf-16"), 1, "UTF-16"),
        (DENSE.replace("red", "grün").encode("latin-1"), 3, "0xfc is not UTF-8"),
        (b"PK\x03\x04junk", 1, "where @relation, @attribute or @data is expected"),
        (b"@relation only\n", 1, "no ARFF file"),
        (b"@relation a\n@data\n1,2\n", 2, "no @attribute"),
        (DENSE[: DENSE.index("1.5")].encode(), 6, "no rows follow @data"),
        (DENSE[: DENSE.index("@data")].encode(), 5, "ends before @data"),
    ],
)
def test_files_that_are_no_arff(tmp_path, content, line, message):
    error = error_of(tmp_path, content)
    assert error.line == line
    assert message in str(error)


@pytest.mark.parametrize(
    ("xml", "line", "message"),
    [
        (XML.replace("sand", "dune"), None, "'dune'"),
        (XML.replace("sand", "sea"), None, "'sea' is named twice"),
        (XML.replace(' name="sand"', ""), None, "names no labels"),
        (XML.replace("</labels>", ""), 6, "no well-formed XML"),
        (XML.replace("label ", "tag ").replace("/label>", "/tag>"), None, "names no labels"),
        (BOMB, None, "DOCTYPE"),
        (
            '<!DOCTYPE labels SYSTEM "http://127.0.0.1:1/x.dtd"><labels><label name="sea"/></labels>',
            None,
            "DOCTYPE",
        ),
        ("", None, "empty"),
        ("not xml at all", 1, "no well-formed XML"),
        (XML.replace("utf-8", "klingon"), 1, "XML"),
        (XML.encode() + b"\xff", 6, "not UTF-8"),
    ],
)
def test_damaged_xml(tmp_path, xml, line, message):
    error = error_of(tmp_path, DENSE, xml)
    assert error.file.name == "bad.xml"
    assert error.line == line
    assert message in str(error)


def test_deep_nesting_is_no_danger(tmp_path):
    depth = 20_000
    xml = (
        "<labels>" + "".join(f'<label name="n{i}">' for i in range(depth)) + "</label>" * depth + "</labels>"
    )
    assert "'n0'" in str(error_of(tmp_path, DENSE, xml))


def test_a_small_file_cannot_ask_for_a_large_memory(tmp_path):
    header = "".join(f"@attribute f{j} {{1,0}}\n" for j in range(30_000))
    names = "".join(f'<label name="f{j}"/>' for j in range(29_000))
    with little_memory(500e6):
        error = error_of(tmp_path, f"{header}@data\n" + "{}\n" * 100_000, f"<labels>{names}</labels>")
    assert "MLSPL_MEMORY" in str(error)


def test_very_many_labels_stay_sparse(tmp_path):
    """100,000 × 29,000 labels would take 23 gigabytes."""
    header = "".join(f"@attribute f{j} {{0,1}}\n" for j in range(30_000))
    path = tmp_path / "wide.arff"
    path.write_text(f"@relation r\n{header}@data\n" + "{7 1,29999 1}\n" * 100_000)
    dataset = read_dataset(path, labels=29_000)
    assert sparse.issparse(dataset.Y)
    assert dataset.Y.dtype == np.int64
    assert dataset.Y.sum() == dataset.describe_labels().loc["f7", "positives"] == 100_000
    assert repr(dataset).endswith("29000 labels, 1.00 labels a row")


def test_hostile_headers_take_no_time(tmp_path):
    error_of(tmp_path, "@attribute '" + "\\a" * 100_000 + "\n@data\n1\n")
    error_of(tmp_path, "@attribute x {" + "a " * 100_000 + "\n@data\n1\n")
    error_of(tmp_path, "@relation " + "-C " * 100_000 + "\n@data\n1\n")


@pytest.mark.parametrize(
    "name", ["nowhere.arff", "nowhere.csv", "nowhere.svm", "nowhere.parquet", "folder.arff"]
)
def test_a_path_without_a_file_is_the_users_mistake(tmp_path, name):
    (tmp_path / "folder.arff").mkdir()
    with pytest.raises(UserError, match="is not a file"):
        read_dataset(tmp_path / name)


@pytest.mark.parametrize("name", ["labels.xml", "table.ods", "noend"])
def test_a_suffix_we_do_not_read_is_named(tmp_path, name):
    (tmp_path / name).write_text("x")
    with pytest.raises(UserError, match=re.escape("mlspl reads .arff")):
        read_dataset(tmp_path / name)


def test_errors_survive_the_way_back_from_a_worker():
    error = pickle.loads(pickle.dumps(DataFormatError("what to do.", "bad.arff", 3)))
    assert (str(error), error.line) == ("bad.arff, line 3: what to do.", 3)
