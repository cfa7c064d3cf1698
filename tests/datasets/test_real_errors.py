"""`load_noisy_labels` on small files in the formats that are published, made here."""

import http.server
import json
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat

from mlspl.datasets import load_noisy_labels, real
from mlspl.errors import DataFormatError, UserError

FINDINGS = ["Cardiomegaly", "Edema", "Consolidation", "Atelectasis", "Pleural Effusion"]


@pytest.fixture(autouse=True)
def alone(tmp_path, monkeypatch):
    """Neither the user's cache nor a folder of his."""
    monkeypatch.setattr("mlspl.datasets.loading.pooch.os_cache", lambda project: tmp_path / "cache")
    monkeypatch.delenv("MLSPL_REAL", raising=False)


def write_chexpert(folder, n=6):
    rng = np.random.default_rng(0)
    studies = [f"CheXpert-v1.0/test/patient{k}/study1" for k in range(n)]
    for path in real.ADDRESSES["chexpert"]:
        values = rng.random((n, 5))
        if "predictions" not in path:
            values = (values > 0.5).astype(float)
        if "labeler" in path:
            values[0], values[1] = np.nan, -1
        table = pd.DataFrame(values, columns=FINDINGS)
        table.insert(0, "Study", studies)
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        # Files list the studies in different orders.
        table.sample(frac=1, random_state=len(path)).to_csv(folder / path, index=False)


def write_policies(folder):
    (folder / "OPP-115" / "annotations").mkdir(parents=True)
    (folder / "OPP-115" / "sanitized_policies").mkdir()
    (folder / "OPP-115" / "sanitized_policies" / "1_a.com.html").write_text(
        "We <b>share</b>.|||We keep.|||Bye"
    )
    rows = [(121, 0, "Sharing"), (122, 0, "Sharing"), (123, 0, "Other"), (121, 1, "Retention"),
            (122, 1, "Retention"), (123, 1, "Retention"), (123, 1, "Other")]  # fmt: skip
    lines = [f'1,b,{who},1,{segment},{label},"{{""a"": 1}}",2016,a.com' for who, segment, label in rows]
    (folder / "OPP-115" / "annotations" / "1_a.com.csv").write_text("\n".join(lines))


def test_chexpert_as_published_and_as_prepared(tmp_path):
    write_chexpert(tmp_path)
    published = load_noisy_labels("chexpert", folder=tmp_path)
    assert published.X.shape == (6, 50)
    assert published.label_names == FINDINGS
    truth = pd.read_csv(tmp_path / "groundtruth.csv")
    assert np.array_equal(published.truth, truth[FINDINGS])
    first = truth["Study"].str.contains("patient[01]/").to_numpy()
    assert (published.given[first] == 0).all(), "not mentioned, or uncertain"
    assert np.array_equal(published.wrong, published.given != published.truth)
    parts = {f"network_{k}: {f}": np.full(6, 0.5) for k in range(1, 11) for f in FINDINGS}
    parts |= {f"radiologist_1: {f}": np.ones(6) for f in FINDINGS} | {
        f"truth: {f}": np.ones(6) for f in FINDINGS
    }
    (tmp_path / "other").mkdir()
    pd.DataFrame(parts).to_csv(tmp_path / "other" / "chexpert.csv")
    prepared = load_noisy_labels("chexpert", "radiologist_1", tmp_path / "other")
    assert (np.abs(prepared.X) < 1e-9).all()
    assert not prepared.wrong.any()


@pytest.mark.parametrize("packed", [True, False])
def test_policies_are_settled_where_two_others_agree(tmp_path, packed):
    write_policies(tmp_path)
    if packed:
        with zipfile.ZipFile(tmp_path / "OPP-115_v1_0.zip", "w") as archive:
            for path in (tmp_path / "OPP-115").rglob("*.*"):
                archive.write(path, path.relative_to(tmp_path))
    found = load_noisy_labels("opp115", "3", tmp_path)
    assert found.label_names == ["Other", "Retention", "Sharing"]
    assert found.X[0].split() == ["We", "share", "."]
    assert found.given.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 0]]
    assert found.truth.tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert np.isnan(load_noisy_labels("opp115", "1", tmp_path).truth[0]).tolist() == [True, False, True]
    with pytest.raises(UserError, match="annotator"):
        load_noisy_labels("opp115", "4", tmp_path)


@pytest.mark.parametrize("suffix", [".mat", ".npz"])
def test_partial_labels_with_rows_either_way(tmp_path, suffix, monkeypatch):
    rng = np.random.default_rng(0)
    X, truth = rng.random((8, 3)), rng.random((8, 2)) < 0.5
    given = truth | (rng.random((8, 2)) < 0.5)
    if suffix == ".mat":
        arrays = {"data": X, "target": 2.0 * truth.T - 1, "partial_labels": given.T.astype(float)}
        savemat(tmp_path / "birds.mat", arrays)
    else:
        np.savez(tmp_path / "birds.npz", X=X, given=given, truth=truth)
    monkeypatch.setenv("MLSPL_REAL", str(tmp_path))
    found = load_noisy_labels("birds")
    np.testing.assert_allclose(found.X, X)
    assert np.array_equal(found.given, given)
    assert np.array_equal(found.wrong, given & ~truth)


def test_varierr_is_downloaded_once(tmp_path, monkeypatch):
    rows = [
        {"context": "a", "statement": "b", "label_set_round_1": ["n", "e"], "label_set_round_2": ["n"]},
        {"context": "c", "statement": "d", "label_set_round_1": ["c"], "label_set_round_2": ["c"]},
    ]
    asked = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write("\n".join(map(json.dumps, rows)).encode())

        def log_message(self, *args):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    address = {"varierr.json": f"http://127.0.0.1:{server.server_port}/varierr.json"}
    monkeypatch.setitem(real.ADDRESSES, "varierr", address)
    with pytest.warns(UserWarning, match="SHA-256"):
        found = load_noisy_labels("varierr")
    again = load_noisy_labels("varierr")
    server.shutdown()
    server.server_close()
    assert asked == ["/varierr.json"]
    assert found.label_names == ["c", "e", "n"]
    assert found.given.tolist() == again.given.tolist() == [[0, 1, 1], [1, 0, 0]]
    assert found.wrong.tolist() == [[False, True, False], [False, False, False]]
    assert np.isnan(found.truth[0, 0])


def test_what_is_missing_or_something_else_is_explained(tmp_path):
    with pytest.raises(UserError, match="folder"):
        load_noisy_labels("nothing")
    with pytest.raises(UserError, match="name"):
        load_noisy_labels("../secret")
    np.savez(tmp_path / "odd.npz", X=np.ones((2, 2)))
    with pytest.raises(DataFormatError, match="published"):
        load_noisy_labels("odd", folder=tmp_path)


def test_forged_files_are_refused(tmp_path):
    """Indices outside of a matrix crashed; a kilobyte asked for gigabytes; errors were of any type."""
    labels = {"target": np.eye(4), "partial_labels": np.eye(4)}
    outside = sparse.csc_array(np.ones((4, 3)))
    outside.indices[2] = 2**30
    cells = np.array([["a"], [1]], dtype=object)
    matrices = [outside, sparse.csc_array((10**5, 10**5)), np.zeros((3000, 3000)), cells]
    for matrix in matrices:
        savemat(tmp_path / "forged.mat", {"data": matrix, **labels}, do_compression=True)
        with pytest.raises(UserError):
            load_noisy_labels("forged", folder=tmp_path)
    rows = [{"label_set_round_1": [str(i)], "label_set_round_2": []} for i in range(3000)]
    for text in ("[" * 10**5, "[1]", "[[]]", '[{"label_set_round_1": 3}]', json.dumps(rows)):
        (tmp_path / "varierr.json").write_text(text)
        with pytest.raises(DataFormatError):
            load_noisy_labels("varierr", folder=tmp_path)
    with zipfile.ZipFile(tmp_path / "OPP-115_v1_0.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("OPP-115/annotations/a.csv", "")
        archive.writestr("OPP-115/sanitized_policies/a.html", bytes(2**27))
    with pytest.raises(DataFormatError, match="memory"):
        load_noisy_labels("opp115", folder=tmp_path)
