"""Pages of an audit, opened."""

from itertools import count

import pytest

from tests.pages.documents import make_document, write_page

FRESH = count(1)


@pytest.fixture
def document():
    """Of data that no test has decided anything about yet."""
    return make_document(fingerprint=f"f{next(FRESH)}")


@pytest.fixture
def page(document, tmp_path):
    return write_page(tmp_path / "audit.html", document)


@pytest.fixture
def opened(show, page):
    browser = show(page)
    yield browser
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
