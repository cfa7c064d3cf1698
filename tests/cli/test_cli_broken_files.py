"""`mlspl fit` on broken files: exit code 2, one sentence, no file written."""

import pytest

ARFF = """@relation bad
@attribute size numeric
@attribute colour {red,green,blue}
@attribute sea {0,1}
@attribute sand {0,1}
@data
1.5,red,0,1
2,green,1,1
"""

XML = '<labels><label name="sea"/><label name="sand"/></labels>'

BROKEN = {
    "a short row": ("bad.arff", ARFF + "1,red,0\n"),
    "a long row": ("bad.arff", ARFF + "1,red,0,1,1\n"),
    "an empty value": ("bad.arff", ARFF + "1,,0,1\n"),
    "an unknown category": ("bad.arff", ARFF + "1,pink,0,1\n"),
    "an open quote": ("bad.arff", ARFF + "1,'red,0,1\n"),
    "text for a number": ("bad.arff", ARFF + "one,red,0,1\n"),
    "an infinite number": ("bad.arff", ARFF + "1e999,red,0,1\n"),
    "a label that is 2": ("bad.arff", ARFF.replace("sand {0,1}", "sand numeric") + "1,red,0,2\n"),
    "a label of text": ("bad.arff", ARFF.replace("sand {0,1}", "sand string").replace(",1\n", ",maybe\n")),
    "a name twice": ("bad.arff", ARFF.replace("sand", "sea")),
    "a bad header": ("bad.arff", ARFF.replace("@attribute sand", "@attrib sand")),
    "no data": ("bad.arff", ARFF[: ARFF.index("1.5")]),
    "a header cut off": ("bad.arff", ARFF[: ARFF.index("@data")]),
    "a sparse index out of range": ("bad.arff", ARFF + "{9 1}\n"),
    "a sparse index twice": ("bad.arff", ARFF + "{0 1,0 2}\n"),
    "a sparse row cut off": ("bad.arff", ARFF + "{0 1,2"),
    "nothing": ("bad.arff", ""),
    "a picture": ("bad.arff", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"),
    "UTF-16": ("bad.arff", ARFF.encode("utf-16")),
    "Latin-1": ("bad.arff", ARFF.replace("red", "grün").encode("latin-1")),
    "a ragged CSV": ("bad.csv", "a,b,sea,sand\n1,2,0,1\n1,2,0\n"),
    "an open quote in a CSV": ("bad.csv", 'a,b,sea,sand\n1,"2,0,1\n'),
    "a CSV without rows": ("bad.csv", "a,b,sea,sand\n"),
    "a CSV with a name twice": ("bad.csv", "a,a,sea,sand\n1,2,0,1\n"),
    "commas of two meanings": ("bad.csv", 'a,b,sea,sand\n"1,500",2,0,1\n"2,500",2,1,1\n'),
    "a slip in a CSV": ("bad.csv", "a,sea,sand\n1,0,1\n2,1,1\no,1,0\n"),
    "a CSV label that is 3": ("bad.csv", "a,sea,sand\n1,0,3\n2,1,1\n"),
    "a CSV of labels only": ("bad.csv", "sea,sand\n0,1\n"),
    "a CSV with unnamed columns": ("bad.csv", "a,,sea,sand\n1,2,0,1\n"),
    "an svmlight row without a value": ("bad.svm", "0 1:\n"),
    "svmlight indices out of order": ("bad.svm", "0 2:1 1:1\n"),
    "svmlight without features": ("bad.svm", "0\n"),
    "a Parquet file that is none": ("bad.parquet", b"PAR1 and nothing more"),
    "a format of others": ("bad.xlsx", b"PK\x03\x04"),
}

BROKEN_XML = {
    "a label that is no column": XML.replace("sand", "dune"),
    "a label twice": XML.replace("sand", "sea"),
    "an open tag": XML.replace("</labels>", ""),
    "no labels": "<labels/>",
    "a document type": f"<!DOCTYPE labels [<!ENTITY a 'sea'>]>{XML}",
    "no XML": "sea, sand",
    "nothing": "",
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_file_is_one_sentence_and_leaves_nothing(mlspl, tmp_path, kind):
    name, content = BROKEN[kind]
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "bad.xml").write_text(XML)
    assert_refused(mlspl, tmp_path, name)


@pytest.mark.parametrize("kind", BROKEN_XML)
def test_a_broken_xml_is_one_sentence_and_leaves_nothing(mlspl, tmp_path, kind):
    (tmp_path / "bad.arff").write_text(ARFF)
    (tmp_path / "bad.xml").write_text(BROKEN_XML[kind])
    assert_refused(mlspl, tmp_path, "bad.arff")


def assert_refused(mlspl, folder, name):
    before = sorted(folder.iterdir())
    code, out, errors = mlspl("fit", name, "-o", "model.skops")
    assert (code, out) == (2, "")
    assert errors.startswith("error: ")
    assert errors.count("\n") == 1
    assert "bad." in errors
    assert sorted(folder.iterdir()) == before


def test_errors_on_standard_input_are_called_that(mlspl):
    code, _, errors = mlspl("fit", "-", "--labels=-2", "-o", "m.skops", given="a,sea,sand\n1,0\n")
    assert code == 2
    assert errors.startswith("error: standard input, line 2: 2 values under 3 names.")
