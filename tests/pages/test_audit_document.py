"""What an audit says on its page and in its tables, in numbers that are easy to check."""

import base64
import csv
import io
import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mlspl import BSVMClassifier, curriculum
from mlspl.datasets import Dataset, load_dataset
from mlspl.errors import UserError
from mlspl.pages import find_pictures, write_audit, write_audit_folder
from mlspl.pages._images import picture_address

NAMES = ["=1+1", "</script><b>", "calm"]


@pytest.fixture(scope="module")
def data():
    digits = load_dataset("digits-traits")
    X, Y = digits.X[:150], digits.Y[:150, :3].astype(float)
    Y[::10, 0] = 1 - Y[::10, 0]
    Y[7, 2] = np.nan
    return X, Y


@pytest.fixture(scope="module")
def audit(data):
    X, Y = data
    estimator = BSVMClassifier(gamma="scale")
    return curriculum.audit(X, pd.DataFrame(Y, columns=NAMES), estimator, random_state=0)


def document_of(path):
    (text,) = re.findall(
        r'<script type="application/json" id="audit">(.*?)</script>', path.read_text("utf-8"), re.S
    )
    return json.loads(text)


@pytest.fixture(scope="module")
def document(audit, data, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "audit.html"
    X, _ = data
    ids = [f"digit {row}" for row in range(len(X))]
    texts = [None if row == 7 else "word " * 500 for row in range(len(X))]
    write_audit(
        path, audit, X, name="digits", fingerprint="f", ids=ids, texts=texts, images=list(X.reshape(-1, 8, 8))
    )
    return document_of(path)


def test_the_pairs_are_the_issues_and_then_what_is_unknown(audit, data, document):
    _, Y = data
    pairs = document["pairs"]
    n = len(audit.issues)
    assert pairs["row"][:n] == audit.issues["row_number"].tolist()
    assert pairs["label"][:n] == audit.issues["label_number"].tolist()
    np.testing.assert_allclose(pairs["suspicion"][:n], audit.issues["suspicion"], rtol=1e-3)
    assert pairs["given"][:n] == [
        int(Y[i, j]) for i, j in zip(pairs["row"][:n], pairs["label"][:n], strict=True)
    ]
    assert pairs["suggested"][:n] == [1 - given for given in pairs["given"][:n]]
    assert [document["reasons"][why] for why in pairs["why"][:n]] == audit.issues["why"].tolist()
    assert (pairs["row"][n], pairs["label"][n], pairs["given"][n]) == (7, 2, None)
    truth = audit.truth[7, 2]
    assert pairs["suspicion"][n] == pytest.approx(max(truth, 1 - truth), rel=1e-3)
    telling = audit.most_informative
    assert [pairs["row"][at] for at in document["informative"]] == telling["row_number"].tolist()
    assert [pairs["label"][at] for at in document["informative"]] == telling["label_number"].tolist()
    assert document["estimated"] == pytest.approx(audit.expected_errors, rel=1e-3)


def test_labels_and_rows_are_told_as_they_are(audit, data, document):
    _, Y = data
    labels = document["labels"]
    assert labels["name"] == NAMES
    wrong = np.nansum(audit.suspicion, axis=0) / np.sum(~np.isnan(Y), axis=0)
    np.testing.assert_allclose(labels["noise"], wrong, rtol=1e-3)
    np.testing.assert_allclose(labels["prevalence"], np.nanmean(Y, axis=0), rtol=1e-3)
    items = document["items"]
    for i, row in enumerate(items["row"]):
        assert items["id"][i] == f"digit {row}"
        assert items["labels"][i] == np.flatnonzero(Y[row] == 1).tolist()
        assert items["unknown"][i] == ([2] if row == 7 else [])
        assert (items["text"][i] is None) == (row == 7)
        assert row == 7 or len(items["text"][i]) in (200, 2000)
    shown = {
        row for one in document["details"].values() for side in ("with", "without") for row, _ in one[side]
    }
    assert shown | set(document["pairs"]["row"]) <= set(items["row"])


def test_the_most_probable_missing_labels_follow_what_is_suspected(audit, data, tmp_path):
    X, Y = data
    found = document_of(write_audit(tmp_path / "audit.html", audit, X, most=5))
    pairs, low = found["pairs"], found["low"]
    assert low >= len(audit.issues) + 1
    assert len(pairs["row"]) == low + 5
    assert pairs["given"][low:] == [0] * 5
    assert pairs["suggested"][low:] == [1] * 5
    others = np.where((Y == 0) & (np.nan_to_num(audit.suspicion) < 0.1), audit.truth, 0.0)
    others[pairs["row"][:low], pairs["label"][:low]] = 0.0
    np.testing.assert_allclose(pairs["suspicion"][low:], np.sort(others.ravel())[::-1][:5], rtol=1e-3)


def test_no_text_ends_the_script_it_is_in(audit, data, tmp_path):
    X, _ = data
    evil = "</script><script>alert(1)</script><!--"
    page = write_audit(tmp_path / "audit.html", audit, X, name=evil, fingerprint="f", texts=[evil] * len(X))
    text = page.read_text("utf-8")
    assert text.count("</script>") == text.count("<script") == 2
    assert document_of(page)["items"]["text"][0] == evil


def test_an_audit_writes_its_own_page(audit, data, tmp_path):
    """With the names it knows, and the fingerprint that the same data have in a file."""
    X, Y = data
    named = replace(audit, row_names=pd.Index([f"digit {row}" for row in range(len(X))]))
    page = named.to_html(tmp_path / "audit.html", pd.DataFrame(X).add_prefix("pixel "), name="digits")
    document = document_of(page)
    assert document["name"] == "digits"
    assert document["features"][:2] == ["pixel 0", "pixel 1"]
    assert document["items"]["id"][0] == f"digit {document['items']['row'][0]}"
    assert document["fingerprint"] == Dataset(X, Y, document["features"], NAMES).fingerprint()


def test_the_tables_open_safely_and_tell_the_same(audit, data, tmp_path):
    X, _ = data
    ids = [f"@{row}" for row in range(len(X))]
    paths = write_audit_folder(tmp_path / "new", audit, X, name="digits", fingerprint="f", ids=ids)
    assert [path.name for path in paths] == ["audit.html", "issues.csv", "labels.csv", "rows.csv"]
    tables = {path.stem: list(csv.DictReader(io.StringIO(path.read_text("utf-8")))) for path in paths[1:]}
    assert len(tables["issues"]) == len(audit.issues)
    first, expected = tables["issues"][0], audit.issues.iloc[0]
    assert (first["row"], first["id"]) == (str(expected["row_number"]), f"'@{expected['row_number']}")
    assert float(first["suspicion"]) == pytest.approx(expected["suspicion"], rel=1e-5)
    assert [row["label"] for row in tables["labels"]] == ["'=1+1", *NAMES[1:]]
    assert len(tables["rows"]) == 150
    cells = [cell for table in tables.values() for row in table for cell in row.values()]
    assert not any(cell.startswith(("=", "@", "+")) for cell in cells)


def test_pixels_become_a_png_that_shows_them():
    address = picture_address(np.array([[0.0, 16.0], [8.0, 4.0]]))
    content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    matplotlib = pytest.importorskip("matplotlib.image")
    shown = matplotlib.imread(io.BytesIO(content), format="png")
    np.testing.assert_allclose(shown[..., 0], [[1, 0], [0.5, 0.75]], atol=0.5 / 255 + 1e-6)
    colours = np.arange(12, dtype=np.uint8).reshape(2, 2, 3) * 20
    content = base64.b64decode(picture_address(colours).removeprefix("data:image/png;base64,"))
    np.testing.assert_array_equal(np.rint(matplotlib.imread(io.BytesIO(content))[..., :3] * 255), colours)
    with pytest.raises(UserError, match="neither grey"):
        picture_address(np.zeros(4))


def test_pictures_are_linked_beside_the_page_or_embedded(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "a b.png").write_bytes(b"\x89PNG\r\n\x1a\n rest")
    (tmp_path / "data" / "no.png").write_bytes(b"<svg onload=alert(1)>")
    (tmp_path / "private.png").write_bytes(b"\x89PNG\r\n\x1a\n private")
    (tmp_path / "data" / "link.png").symlink_to(tmp_path / "private.png")
    outside = ["../private.png", str(tmp_path / "private.png"), "link.png", "a\0.png"]
    names = ["a b.png", None, "gone.png", *outside]
    linked, missing = find_pictures(names, tmp_path / "data", tmp_path / "page")
    assert (linked, missing) == (["../data/a b.png", *[None] * 6], ["gone.png", *outside])
    assert picture_address(linked[0]) == "../data/a%20b.png"
    embedded, _ = find_pictures(names, tmp_path / "data", None)
    assert picture_address(embedded[0]).startswith("data:image/png;base64,")
    with pytest.raises(UserError, match="is no PNG"):
        picture_address(tmp_path / "data" / "no.png")
    assert find_pictures(["a.png", "some text"], tmp_path, None) == (None, [])
