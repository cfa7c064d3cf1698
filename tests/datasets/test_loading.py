"""`load_dataset`: where it looks, and what a download leaves behind, against a server on this machine."""

import hashlib
import http.server
import socket
import threading
from typing import ClassVar

import numpy as np
import pytest

from mlspl.datasets import (
    DataFormatError,
    fetch_dataset,
    list_datasets,
    load_dataset,
    loading,
    locate_dataset,
)
from mlspl.errors import UserError
from tests.disks import cannot_be_written, files_limited_to

ARFF = b"@relation tiny\n@attribute x numeric\n@attribute y {0,1}\n@data\n" + b"0.5,1\n1.5,0\n" * 2000
XML = b'<labels><label name="y"/></labels>'


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves `files`; a value (length, content) announces that length and then sends the content."""

    files: ClassVar[dict] = {}

    def do_GET(self):
        content = self.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        length, content = content if isinstance(content, tuple) else (len(content), content)
        self.send_response(200)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    """A server on 127.0.0.1 that the registry's addresses point to, and a registered data set "tiny"."""
    httpd = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=httpd.serve_forever)
    thread.start()
    monkeypatch.setattr(Handler, "files", {"/tiny/tiny.arff": ARFF, "/tiny/tiny.xml": XML})
    monkeypatch.setattr(loading, "ADDRESS", f"http://127.0.0.1:{httpd.server_port}")
    monkeypatch.setitem(loading.REGISTRY, "tiny", TINY)
    yield Handler.files
    httpd.shutdown()
    httpd.server_close()
    thread.join()


TINY = loading.Entry(
    *("tiny", "tests", 4000, 1, 1, 0.5, "tiny.arff", "tiny.xml", ""),
    hashlib.sha256(ARFF).hexdigest(),
    hashlib.sha256(XML).hexdigest(),
)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty user cache, and no other place to look."""
    monkeypatch.delenv("MLSPL_DATA", raising=False)
    monkeypatch.setattr("mlspl.datasets.loading.pooch.os_cache", lambda project: tmp_path / "cache" / project)
    return tmp_path / "cache" / "mlspl"


def left_behind(cache):
    return sorted(str(path.relative_to(cache)) for path in cache.rglob("*"))


def put(home, arff=ARFF):
    (home / "tiny").mkdir(parents=True)
    (home / "tiny" / "tiny.arff").write_bytes(arff)
    (home / "tiny" / "tiny.xml").write_bytes(XML)


def test_a_download_is_kept_and_not_repeated(server, cache):
    dataset = load_dataset("tiny")
    assert (dataset.name, dataset.X.shape, int(dataset.Y.sum())) == ("tiny", (4000, 1), 2000)
    assert left_behind(cache) == ["tiny", "tiny/tiny.arff", "tiny/tiny.xml"]
    server.clear()
    assert load_dataset("tiny").fingerprint() == dataset.fingerprint()


def test_data_home_goes_before_the_environment_the_cache_and_the_network(
    server, cache, tmp_path, monkeypatch
):
    places = [tmp_path / "home", tmp_path / "environment", cache]
    monkeypatch.setenv("MLSPL_DATA", str(places[1]))
    for number, place in enumerate(places):
        put(place, ARFF.replace(b"0.5,1", f"{number},1".encode()))
    for number, place in enumerate(places):
        assert locate_dataset("tiny", places[0]) == place / "tiny" / "tiny.arff"
        assert load_dataset("tiny", data_home=places[0]).X[0, 0] == number
        (place / "tiny" / "tiny.xml").unlink()
    assert locate_dataset("tiny", places[0]) is None
    assert load_dataset("tiny", data_home=places[0]).X[0, 0] == 0.5


@pytest.mark.parametrize("damaged", ["/tiny/tiny.arff", "/tiny/tiny.xml"])
def test_a_wrong_checksum_leaves_nothing_behind(server, cache, damaged):
    server[damaged] += b" "
    with pytest.raises(UserError, match="SHA-256"):
        load_dataset("tiny")
    assert left_behind(cache) == []


@pytest.mark.parametrize("damaged", ["/tiny/tiny.arff", "/tiny/tiny.xml"])
def test_a_download_cut_short_leaves_nothing_behind(server, cache, damaged):
    server[damaged] = (len(server[damaged]), server[damaged][:-10])
    with pytest.raises(UserError, match="not be downloaded"):
        load_dataset("tiny")
    assert left_behind(cache) == []


def test_a_file_the_server_does_not_have_leaves_nothing_behind(server, cache):
    del server["/tiny/tiny.xml"]
    with pytest.raises(UserError, match="404"):
        fetch_dataset("tiny")
    assert left_behind(cache) == []


def test_a_full_or_read_only_disk_is_a_sentence_and_leaves_nothing_behind(server, cache):
    cache.mkdir(parents=True)
    with files_limited_to(100), pytest.raises(UserError, match=r"cannot be written.*large"):
        fetch_dataset("tiny")
    with cannot_be_written(cache), pytest.raises(UserError, match="cannot be written"):
        fetch_dataset("tiny")
    assert left_behind(cache) == []


def test_offline_the_sentence_says_how_to_get_the_files(server, cache, monkeypatch):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        monkeypatch.setattr(loading, "ADDRESS", f"http://127.0.0.1:{closed.getsockname()[1]}")
        with pytest.raises(UserError) as caught:
            load_dataset("tiny")
    for what in (
        "could not be downloaded ([Errno",
        "/tiny/tiny.arff",
        "/tiny/tiny.xml",
        str(cache / "tiny"),
        "MLSPL_DATA",
    ):
        assert what in str(caught.value)
    assert left_behind(cache) == []


def test_a_file_of_another_size_is_not_taken_for_the_published_one(server, cache, tmp_path):
    put(tmp_path, ARFF[: -len(b"1.5,0\n")])
    with pytest.raises(DataFormatError, match="3999 rows"):
        load_dataset("tiny", data_home=tmp_path)


def test_an_unknown_name_gets_a_hint():
    with pytest.raises(UserError, match="Did you mean 'emotions'"):
        load_dataset("emotion")


def test_the_embedded_data_need_neither_network_nor_cache(cache, monkeypatch):
    monkeypatch.setattr(socket.socket, "connect", None)
    digits = load_dataset("digits-traits")
    assert digits.X.shape[0] == len(digits.Y) == 1797
    assert not cache.exists()


def test_traits_are_many_distinct_and_correlated():
    digits = load_dataset("digits-traits")
    assert len(digits.label_names) >= 6
    assert set(np.unique(digits.Y)) == {0, 1}
    assert digits.Y.any(axis=1).all()
    assert digits.describe().label_sets == 10
    correlation = np.corrcoef(digits.Y.T) - np.eye(len(digits.label_names))
    assert (np.abs(correlation).max(axis=1) > 0.2).all()


def test_the_registry_is_complete():
    paper, others = (
        ["flags", "emotions", "scene"],
        ["yeast", "medical", "enron", "bibtex", "delicious", "tmc2007-500"],
    )
    names = list_datasets()
    assert names[: 1 + len(paper) + len(others)] == ["digits-traits", *paper, *others]
    assert {"birds", "cal500", "corel5k", "genbase", "mediamill", "slashdot"} < set(names)
    for entry in loading.REGISTRY.values():
        pinned = entry.name in paper + others
        assert all(len(checksum) == 64 * pinned for checksum in entry.files.values())
        assert entry.address(entry.arff).startswith("https://")
        assert entry.arff in entry.address(entry.arff)


def test_without_a_known_checksum_what_arrived_is_shown(server, cache, monkeypatch):
    plain = loading.Entry("tiny", "tests", 4001, 1, 1, 0.5, "tiny.arff", "tiny.xml")
    monkeypatch.setitem(loading.REGISTRY, "tiny", plain)
    with pytest.warns(UserWarning, match="no checksum") as caught:
        fetch_dataset("tiny")
    assert hashlib.sha256(ARFF).hexdigest() in str(caught[0].message)
    with pytest.warns(UserWarning, match="4001"):
        dataset = load_dataset("tiny")
    assert dataset.X.shape == (4000, 1)


def test_files_of_other_names_and_of_meka(cache, tmp_path, monkeypatch):
    """Labels counted by the file itself, or named by an XML of another name."""
    monkeypatch.setenv("MLSPL_DATA", str(tmp_path))
    (tmp_path / "slashdot").mkdir()
    rows = "@relation 'S: -C 1'\n@attribute y {0,1}\n@attribute x numeric\n@data\n1,2\n0,3\n"
    (tmp_path / "slashdot" / "SLASHDOT-F.arff").write_text(rows)
    with pytest.warns(UserWarning, match="slashdot"):
        assert load_dataset("slashdot").label_names == ["y"]
    (tmp_path / "corel5k").mkdir()
    (tmp_path / "corel5k" / "Corel5k-sparse.arff").write_text(rows)
    (tmp_path / "corel5k" / "Corel5k.xml").write_text('<labels><label name="y"/></labels>')
    with pytest.warns(UserWarning, match="corel5k"):
        assert load_dataset("corel5k").feature_names == ["x"]
