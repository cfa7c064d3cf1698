"""ARFF: the dialects, cell by cell; against the slow twin, and against liac-arff on plain files."""

import math

import arff as liac
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from mlspl.datasets import DataFormatError, read_dataset
from mlspl.datasets.arff import quote, read_arff, unquote
from tests.frames import codes_of
from tests.naive import datasets as naive

HEADER = """@relation 'test: -C 1'
@attribute label {0,1}
@attribute size numeric
@attribute colour {red,'dark blue',green}
@data
"""


def read_cells(tmp_path, text, name="test.arff"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    cells = codes_of(read_arff(path).table)
    return cells.toarray() if sparse.issparse(cells) else cells


@pytest.mark.parametrize(
    "row",
    [
        "1,2.5,green",
        "1, 2.5, green",
        " 1 , 2.5 ,\tgreen ",
        "1\t2.5\tgreen",
        "1 2.5 green",
        "'1',\"2.5\",'green'",
        "1,+2.5e0,green % a comment",
        "1,.25E+1,green",
        "{0 1,1 2.5,2 green}",
        "{2 green, 0 1, 1 2.5}",
        "{ 0 1 , 1 2.5 , 2 'green' } % sparse",
        "{0\t1,1\t2.5,2\tgreen}",
    ],
)
def test_a_row_can_be_spelled_in_many_ways(tmp_path, row):
    assert read_cells(tmp_path, HEADER + row + "\n").tolist() == [[1, 2.5, 2]]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_marks_do_not_matter(tmp_path, end, mark):
    text = "% first\n" + HEADER + "\n% second\n1,2,red\n\n  % third\n0,3,'dark blue'"
    cells = read_cells(tmp_path, mark + text.replace("\n", end).encode())
    assert cells.tolist() == [[1, 2, 0], [0, 3, 1]]


def test_unknown_values_are_nan_dense_and_sparse(tmp_path):
    cells = read_cells(tmp_path, HEADER + "?,?,?\n{0 ?,2 ?}\n")
    np.testing.assert_array_equal(cells, [[np.nan] * 3, [np.nan, 0, np.nan]])


def test_what_a_sparse_row_omits_is_zero_or_the_first_declared_value(tmp_path):
    cells = read_cells(tmp_path, HEADER + "{}\n{1 7}\n")
    assert cells.tolist() == [[0, 0, 0], [0, 7, 0]]


def test_an_omitted_label_declared_as_1_0_is_relevant(tmp_path):
    text = "@relation r\n@attribute x numeric\n@attribute y {1,0}\n@data\n{0 3}\n{0 3,1 0}\n{0 3,1 ?}\n"
    (tmp_path / "r.arff").write_text(text)
    np.testing.assert_array_equal(read_dataset(tmp_path / "r.arff", labels=-1).Y, [[1], [0], [np.nan]])


@pytest.mark.parametrize(
    ("declaration", "name", "values"),
    [
        ("@attribute plain {a,b}", "plain", ("a", "b")),
        ("@ATTRIBUTE 'with blank' { a , b }", "with blank", ("a", "b")),
        ('@attribute "it\'s" {a b}', "it's", ("a", "b")),
        (r"@attribute 'it\'s' {'x\'y','%'} % comment", "it's", ("x'y", "%")),
        (r"@attribute back\'slash {'a,b','{c}'}", r"back\'slash", ("a,b", "{c}")),
        ("\t@attribute\ttab\t{\ta,\tb\t}", "tab", ("a", "b")),
        ("@attribute x{a,b}", "x", ("a", "b")),
        ("@attribute größe {groß,klein}", "größe", ("groß", "klein")),
        ("@attribute 5% {5%,10%}", "5%", ("5%", "10%")),
        ("@attribute '' {'',b}", "", ("", "b")),
    ],
)
def test_names_and_values_may_be_odd(tmp_path, declaration, name, values):
    path = tmp_path / "odd.arff"
    rows = "".join(f"{quote(value)},1\n" for value in values)
    path.write_text(f"@relation odd\n{declaration}\n@attribute y {{0,1}}\n@data\n{rows}", encoding="utf-8")
    table = read_arff(path)
    assert (table.names[0], tuple(table.table.iloc[:, 0].cat.categories)) == (name, values)
    assert codes_of(table.table)[:, 0].tolist() == [*range(len(values))]


@pytest.mark.parametrize("kind", ["numeric", "REAL", "Integer", "numeric % in cm"])
def test_numeric_types(tmp_path, kind):
    text = f"@relation r\n@attribute x {kind}\n@attribute y {{0,1}}\n@data\n-1e-3,1\n"
    assert read_cells(tmp_path, text).tolist() == [[-0.001, 1]]


@pytest.mark.parametrize("kind", ["string", "date 'yyyy-MM-dd'", "DATE yyyy-MM-dd"])
def test_text_is_left_out_and_said_so(tmp_path, kind):
    path = tmp_path / "text.arff"
    rows = "1,'a, b % c',0\n2,plain,1\n"
    path.write_text(
        f"@relation r\n@attribute x numeric\n@attribute t {kind}\n@attribute y {{0,1}}\n@data\n{rows}"
    )
    with pytest.warns(UserWarning, match="'t'"):
        dataset = read_dataset(path, labels=["y"])
    assert dataset.feature_names == ["x"]
    assert dataset.X.tolist() == [[1], [2]]


@settings(deadline=None)
@given(st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0")))
def test_a_quoted_word_stands_for_itself(word):
    spelled = quote(word)
    assert unquote(spelled) == word
    assert "\n" not in spelled
    assert "\r" not in spelled


finite = st.floats(allow_nan=False, allow_infinity=False)
spelled_numbers = st.one_of(
    finite.map(repr),
    st.builds(format, finite, st.sampled_from([".3f", ".17g", "e", ".6g", ".20f", "+.16e"])),
    st.builds(
        "{}{}e{}".format, st.sampled_from(["", "-", "+"]), st.integers(0, 10**19), st.integers(-70, 70)
    ),
    st.builds("{}.{:016d}".format, st.integers(0, 99), st.integers(0, 10**16 - 1)),
    # Next to the middle of two doubles, where a careless reader rounds to the wrong one.
    st.builds(
        lambda odd, shift: str((2**53 + odd) * 2**shift + shift % 3 - 1),
        st.integers(0, 2**53),
        st.integers(0, 6),
    ),
)


@settings(deadline=None, max_examples=500)
@given(spelled_numbers)
def test_numbers_are_read_as_python_reads_them(tmp_path_factory, spelled):
    path = tmp_path_factory.getbasetemp() / "numbers.arff"
    path.write_text(f"@relation r\n@attribute x numeric\n@attribute y {{0,1}}\n@data\n{spelled},1\n")
    read = codes_of(read_arff(path).table)[0, 0]
    assert read == float(spelled)
    assert math.copysign(1, read) == math.copysign(1, float(spelled))


words = st.sampled_from(
    ["0", "1", "7", "-2.5", "1e400", "inf", "nan", "1_0", "x", "?", "red", "'a b'", '"q"', "'"]
)
pieces = st.one_of(
    words, st.sampled_from([",", ", ", " ", "\t", "{", "}", "\n", "%", "\\", "{0 1}", "{2 red}"])
)
COLUMNS = [("0", "1"), None, ("red", "a b", "q"), "text"]


@settings(deadline=None)
@given(st.one_of(
    st.lists(pieces, max_size=25).map("".join),
    st.lists(st.tuples(*[words] * 4).map(",".join), max_size=4).map("\n".join),
    st.lists(st.lists(st.tuples(st.integers(0, 4).map(str), words).map(" ".join), max_size=4)
             .map(lambda pairs: "{" + ",".join(pairs) + "}"), max_size=4).map("\n".join),
))  # fmt: skip
def test_rows_are_read_or_refused_as_the_slow_twin_does(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "rows.arff"
    declared = ("b {0,1}", "n numeric", "c {red,'a b',q}", "t string")
    path.write_text("".join(f"@attribute {column}\n" for column in declared) + "@data\n" + rows)
    try:
        expected = naive.arff_rows(rows, COLUMNS)
    except (ValueError, IndexError):
        expected = []
    try:
        cells = codes_of(read_arff(path).table)
    except DataFormatError:
        cells = np.empty((0, 4))
    cells = cells.toarray() if sparse.issparse(cells) else cells
    # Codes of text are compared as words elsewhere.
    dense = [[row.get(column, 0) for column in range(3)] for row in expected]
    np.testing.assert_array_equal(cells[:, :3], np.array(dense).reshape(-1, 3))


cell_values = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False, width=32), st.integers(-(10**6), 10**6), st.none()
)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(cell_values, st.sampled_from(["a", "b c", "d'e", None]), st.sampled_from("01")), min_size=1
    )
)
def test_what_liac_arff_writes_is_read_as_liac_arff_reads_it(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "liac.arff"
    attributes = [("x", "REAL"), ("c", ["a", "b c", "d'e"]), ("y", ["0", "1"])]
    text = liac.dumps({"relation": "r", "attributes": attributes, "data": [list(row) for row in rows]})
    path.write_text(text)
    expected = [
        [np.nan if x is None else x, np.nan if c is None else attributes[1][1].index(c), float(y)]
        for x, c, y in liac.loads(text)["data"]
    ]
    np.testing.assert_array_equal(codes_of(read_arff(path).table), expected)
