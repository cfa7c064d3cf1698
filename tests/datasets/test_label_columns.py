"""Which columns are labels: XML, names, pattern, number; and which of them wins."""

import re

import numpy as np
import pytest

from mlspl.datasets import DataFormatError, read_dataset
from mlspl.datasets.labels import labels_xml, read_labels_xml
from mlspl.errors import UserError

CSV = "a,TAG_x,b,TAG_y,c\n1,0,2,1,1\n3,1,4,0,0\n"
ATTRIBUTES = "".join(f"@attribute {name} {{0,1}}\n" for name in "abcde")
XML = '<labels xmlns="http://mulan.sourceforge.net/labels">{}</labels>'


def write_arff(path, relation):
    path.write_text(f"@relation '{relation}'\n{ATTRIBUTES}@data\n0,1,0,1,1\n")
    return path


def label_names(path, labels=None):
    return read_dataset(path, labels).label_names


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(CSV)
    return path


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["c", "TAG_x"], ["TAG_x", "c"]),
        (("c",), ["c"]),
        ("TAG_*", ["TAG_x", "TAG_y"]),
        ("c", ["c"]),
        (re.compile("^(TAG_x|c)$"), ["TAG_x", "c"]),
        (2, ["a", "TAG_x"]),
        (-2, ["TAG_y", "c"]),
    ],
)
def test_labels_by_name_pattern_and_number_stay_in_the_order_of_the_file(table, labels, expected):
    if labels == 2:
        table.write_text(CSV.replace("3,1", "0,1"))
    assert label_names(table, labels) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("Größe, groß", ["Größe, groß"]),
        ('"Größe, groß",other', ["Größe, groß", "other"]),
        ('other, "Größe, groß"', ["Größe, groß", "other"]),
        ("other,a[1]", ["a[1]", "other"]),
        ("a[1]", ["a[1]"]),
        ("Größe,*", ["Größe, groß"]),
    ],
)
def test_labels_in_a_text_are_a_name_or_a_line_of_csv(tmp_path, labels, expected):
    path = tmp_path / "sizes.csv"
    path.write_text('x,"Größe, groß",a[1],other\n1,0,1,1\n2,1,0,0\n', encoding="utf-8")
    assert label_names(path, labels) == expected


def test_a_part_of_a_name_with_commas_is_told_how_to_write_it(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text('x,"Size, in metres",other\n1,0,1\n2,1,0\n')
    with pytest.raises(DataFormatError, match=r"'Size, in metres'\? .*quotes"):
        read_dataset(path, "Size, in metres,other")
    with pytest.raises(UserError, match=r"'Size, in metres'\? .*quotes"):
        read_dataset(path, "other", drop=["Size"])


def test_an_xml_names_labels_flat_or_nested_with_or_without_namespace(table, tmp_path):
    nested = '<label name="c"><label name="TAG_y"><label name="TAG_x"/></label></label>'
    for position, text in enumerate([XML.format(nested), f"<labels>{nested}</labels>"]):
        xml = tmp_path / f"names{position}.xml"
        xml.write_text(text)
        assert label_names(table, xml) == label_names(table, str(xml)) == ["TAG_x", "TAG_y", "c"]


def test_the_xml_beside_the_file_is_found_also_for_train_and_test_parts(tmp_path):
    (tmp_path / "birds.xml").write_text(XML.format('<label name="c"/>'))
    for name in ("birds.csv", "birds-train.csv", "birds-test.csv"):
        (tmp_path / name).write_text(CSV)
        assert label_names(tmp_path / name) == ["c"]


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ("Music: -C 2", ["a", "b"]),
        ("Music: -C -2", ["d", "e"]),
        ("Music -C 3 -split-percentage 67", ["a", "b", "c"]),
        ("Music:\t-C\t1", ["a"]),
        ("-C 4", ["a", "b", "c", "d"]),
    ],
)
def test_meka_counts_labels_in_the_relation(tmp_path, relation, expected):
    path = write_arff(tmp_path / "music.arff", relation)
    assert label_names(path) == expected


def test_an_xml_beside_the_file_beats_a_stale_count(tmp_path):
    path = write_arff(tmp_path / "medical.arff", "MEDC: -C 2")
    (tmp_path / "medical.xml").write_text(XML.format('<label name="e"/>'))
    assert label_names(path) == ["e"]
    assert label_names(path, 2) == ["a", "b"]


@pytest.mark.parametrize("relation", ["Music", "A-C 2", "Music: -C two", "Music: -Cx 2"])
def test_without_any_of_them_the_error_says_what_to_do(tmp_path, relation):
    path = write_arff(tmp_path / "music.arff", relation)
    with pytest.raises(DataFormatError, match=r"music\.xml"):
        read_dataset(path)


@pytest.mark.parametrize("labels", [0, 5, -5, 99, "nothing*", ["a", "zzz"], re.compile("zzz"), "*"])
def test_labels_that_cannot_be_are_refused(table, labels):
    with pytest.raises(DataFormatError):
        read_dataset(table, labels)


@pytest.mark.parametrize("labels", [True, 1.5, {"a"}])
def test_labels_of_another_type_are_refused(table, labels):
    with pytest.raises(UserError, match="labels="):
        read_dataset(table, labels)


def test_a_written_xml_is_read_back(tmp_path):
    names = ["plain", "a<b>&\"c'", "größe", "two words", "tab\tand\nline"]
    (tmp_path / "names.xml").write_text(labels_xml(names), encoding="utf-8")
    assert [*read_labels_xml(tmp_path / "names.xml")] == names


@pytest.mark.parametrize(
    "text", ["f,x,y\n0.5,1,-1\n1.5,-1,\n2,1,-1\n", "f;x;y\n0.5;1;-1\n1.5;-1;?\n2;1;-1\n"]
)
def test_signs_are_labels(tmp_path, text):
    path = tmp_path / "signs.csv"
    path.write_text(text)
    Y = read_dataset(path, ["x", "y"]).Y
    np.testing.assert_array_equal(Y, [[1, 0], [0, np.nan], [1, 0]])


def test_signs_of_arff_are_labels(tmp_path):
    path = tmp_path / "signs.arff"
    path.write_text(
        "@relation signs\n@attribute f numeric\n@attribute x {-1,1}\n@attribute y numeric\n"
        "@data\n0,1,-1\n0,-1,1\n"
    )
    np.testing.assert_array_equal(read_dataset(path, ["x", "y"]).Y, [[1, 0], [0, 1]])


@pytest.mark.parametrize("value", ["-1,0,1", "-1,1,2"])
def test_what_is_neither_signs_nor_zeros_and_ones_is_refused(tmp_path, value):
    path = tmp_path / "odd.csv"
    path.write_text("f,x\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(value.split(","))))
    with pytest.raises(DataFormatError, match="0 or 1"):
        read_dataset(path, ["x"])
    nominal = tmp_path / "odd.arff"
    rows = "".join(f"0,{cell}\n" for cell in value.split(","))
    nominal.write_text(f"@relation odd\n@attribute f numeric\n@attribute x {{{value}}}\n@data\n{rows}")
    with pytest.raises(DataFormatError, match="must be 0 or 1"):
        read_dataset(nominal, ["x"])
