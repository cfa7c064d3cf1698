"""`audit.html` in a real browser, at review: filters, keys, undo, reload, export, import."""

import csv
import io
import time
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mlspl.curriculum import Audit
from mlspl.curriculum.difficulty import Difficulty, rank_pairs
from mlspl.datasets import Dataset
from mlspl.pages import read_decisions, write_audit
from tests.pages.documents import NAMES, make_document, write_page
from tests.pages.screen import choose, position, press, shown_labels, size, texts, wait_for


def test_filters_show_what_they_say(opened, document):
    pairs = document["pairs"]
    assert size(opened) == len(pairs["row"])
    happy = NAMES.index("happy")
    choose(opened, "label", happy)
    assert size(opened) == pairs["label"].count(happy)
    assert set(shown_labels(opened)) == {"happy"}
    missing = sum(g == 0 and label == happy for g, label in zip(pairs["given"], pairs["label"], strict=True))
    choose(opened, "direction", 0)
    assert size(opened) == missing
    (option,) = [
        text for text in texts(opened, "#by-direction option") if text.startswith("probably missing")
    ]
    assert option == f"probably missing ({missing})"
    choose(opened, "label", -1)
    choose(opened, "direction", 2)
    assert size(opened) == 1
    assert "Does this label belong here?" in texts(opened, "#detail")[0]
    choose(opened, "status", 1)
    assert "Nothing here" in texts(opened, "#detail")[0]


def test_orders(opened, document):
    pairs = document["pairs"]
    by_suspicion = [NAMES[j] for j in pairs["label"]]
    assert shown_labels(opened) == by_suspicion[: len(shown_labels(opened))]
    choose(opened, "order", "label, then suspicion")
    found = [name.lower() for name in shown_labels(opened)]
    assert found == sorted(found, key=found.index), "each label in one piece"
    choose(opened, "order", "difficulty, hard first")
    hardest = np.argsort(pairs["difficulty"])[::-1]
    assert shown_labels(opened)[:10] == [NAMES[pairs["label"][i]] for i in hardest[:10]]
    choose(opened, "order", "difficulty, easy first")
    assert shown_labels(opened)[:10] == [NAMES[pairs["label"][i]] for i in hardest[::-1][:10]]


def search_for(browser, text):
    script = """
        const box = document.getElementById("search"), done = arguments[1];
        box.value = arguments[0];
        box.dispatchEvent(new Event("input"));
        setTimeout(done, 300);
    """
    browser.execute_async_script(script, text)


def test_search_finds_labels_rows_and_texts(opened, document):
    pairs = document["pairs"]
    search_for(opened, "LOUD, slow")
    assert set(shown_labels(opened)) == {"loud, slow"}
    search_for(opened, "text 7 ")
    assert size(opened) == pairs["row"].count(7)
    search_for(opened, "nowhere")
    assert "Nothing here" in texts(opened, "#detail")[0]
    search_for(opened, "")
    assert size(opened) == len(pairs["row"])


def test_all_suspicions_of_a_row_are_decided_together(opened, document):
    pairs = document["pairs"]
    choose(opened, "order", "row, most suspected first")
    total = Counter()
    for row, suspicion in zip(pairs["row"], pairs["suspicion"], strict=True):
        total[row] += suspicion
    worst = max(total, key=total.get)
    together = [i for i, row in enumerate(pairs["row"]) if row == worst]
    assert len(together) > 1
    assert shown_labels(opened)[: len(together)] == [NAMES[pairs["label"][i]] for i in together]
    assert texts(opened, ".others b") == [NAMES[pairs["label"][i]] for i in together[1:]]
    opened.find_element("css selector", ".others .rejected").click()
    assert texts(opened, "#reviewed") == ["1 of 60 reviewed"]
    assert position(opened) == 1, "the list stays where it is"
    pressed = opened.find_element("css selector", ".others .rejected").get_attribute("aria-pressed")
    assert pressed == "true"


def test_probable_missing_labels_are_listed_when_asked_for(show, tmp_path):
    browser = show(write_page(tmp_path / "audit.html", make_document(fingerprint="low", low=10)))
    assert size(browser) == 50
    assert texts(browser, "#reviewed") == ["0 of 50 reviewed"]
    browser.find_element("id", "by-low").click()
    assert size(browser) == 60
    assert texts(browser, "#reviewed") == ["0 of 60 reviewed"]


def test_words_that_count_are_marked_in_the_text(show, tmp_path):
    document = make_document(fingerprint="words")
    document["features"] = ["slow dance", "c++", "absent", "tempo"]
    document["items"]["text"] = ["A Slow  dance, slow dances; C++ and c++11. Absent"] * document["rows"]
    detail = {"for": [[0, 1.0, 2.0, 0.0]], "against": [[1, 0.5, 0.0, 1.0], [2, 0.0, 1.0, 0.0]]}
    document["details"] = dict.fromkeys(range(60), detail | {"with": [], "without": []})
    browser = show(write_page(tmp_path / "audit.html", document))
    assert texts(browser, ".text mark.for") == ["Slow  dance"]
    assert texts(browser, ".text mark.against") == ["C++"]
    assert texts(browser, ".content .text") == document["items"]["text"][:1]


def test_the_direction_of_a_name_ends_with_it(show, tmp_path):
    document = make_document(fingerprint="direction")
    document["labels"]["name"] = [f"{name}\u202e\u2069abc" for name in NAMES]
    browser = show(write_page(tmp_path / "audit.html", document))
    for tab in ("labels", "review"):
        browser.find_element("id", f"tab-{tab}").click()
        shown = browser.execute_script("return document.body.innerText")
        assert "\u202e" not in shown
        assert shown.count("\u2068") == shown.count("\u2069") > 1


def test_keys_decide_go_on_and_undo(opened, document):
    press(opened, "jj")
    assert position(opened) == 3
    press(opened, "k")
    assert position(opened) == 2
    press(opened, "aaru")
    assert position(opened) == 6
    assert texts(opened, "#reviewed") == ["4 of 60 reviewed"]
    assert texts(opened, "#precision")[0].startswith("precision 67 % (2 of 3;")
    statuses = opened.execute_script(
        "return [...document.querySelectorAll('.list .status')].slice(0, 6).map((s) => s.ariaLabel)"
    )
    assert sorted(filter(None, statuses)) == ["accepted", "accepted", "rejected", "unsure"]
    press(opened, "zz")
    assert position(opened) == 4
    assert texts(opened, "#reviewed") == ["2 of 60 reviewed"]
    assert texts(opened, "#precision")[0].startswith("precision 100 % (2 of 2;")
    assert "Undone" in texts(opened, "#said")[0]
    press(opened, "zzzz")
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"]
    assert texts(opened, "#precision") == [""]
    assert not opened.find_element("id", "undo").is_enabled()


def test_what_is_decided_leaves_the_list_of_what_is_to_review(opened, document):
    choose(opened, "status", 0)
    first, second = shown_labels(opened)[:2]
    press(opened, "a")
    assert size(opened) == 59
    assert position(opened) == 1
    assert shown_labels(opened)[0] == second
    press(opened, "z")
    assert shown_labels(opened)[0] == first


def test_a_pressed_button_takes_its_answer_back(opened):
    choose(opened, "status", 0)
    opened.find_element("css selector", ".answers .rejected").click()
    choose(opened, "status", 2)
    button = opened.find_element("css selector", ".answers .rejected")
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"]


def test_decisions_survive_a_reload_and_belong_to_their_data(opened, show, page, document, tmp_path):
    press(opened, "aru")
    show(page)
    assert texts(opened, "#reviewed") == ["3 of 60 reviewed"]
    other = write_page(tmp_path / "other.html", make_document(fingerprint="other"))
    show(other)
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"]
    # A later audit of the same data lists fewer pairs: what was decided of the others is not lost.
    show(write_page(tmp_path / "fewer.html", make_document(4, document["fingerprint"])))
    show(page)
    assert texts(opened, "#reviewed") == ["3 of 60 reviewed"]


def exported(browser, downloads):
    for old in downloads.iterdir():
        old.unlink()
    browser.find_element("id", "export").click()
    path = downloads / "decisions.csv"
    for _ in range(200):
        if path.exists():
            return path.read_text(encoding="utf-8")
        time.sleep(0.05)
    raise AssertionError("nothing was downloaded")


def test_export_and_import_again(opened, show, page, document, downloads, tmp_path):
    press(opened, "aru" * 5)
    text = exported(opened, downloads)
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 15
    pairs = document["pairs"]
    for i, row in enumerate(rows):
        name = NAMES[pairs["label"][i]]
        assert row["label"] == ("'" + name if name.startswith("=") else name)
        assert row["fingerprint"] == document["fingerprint"]
        assert row["row"] == str(pairs["row"][i])
        assert row["given"] == ("" if pairs["given"][i] is None else str(pairs["given"][i]))
        assert row["suggested"] == str(pairs["suggested"][i])
        assert row["decision"] == ["accepted", "rejected", "unsure"][i % 3]
        assert not row["id"].startswith("-"), "a cell that begins like a formula is text"
    assert any(row["label"].startswith("'=") for row in rows)

    kept = downloads / "decisions.csv"
    (tmp_path / "kept.csv").write_bytes(b"\xef\xbb\xbf" + kept.read_bytes().replace(b"\n", b"\r\n"))
    press(opened, "z" * 15)
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"]
    opened.find_element("id", "file").send_keys(str(tmp_path / "kept.csv"))
    wait_for(opened, "#said", "Imported 15 decisions.")
    assert texts(opened, "#reviewed") == ["15 of 60 reviewed"]
    assert exported(opened, downloads) == text
    press(opened, "z")
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"], "an import is one step"


def test_what_the_page_exports_is_what_mlspl_correct_reads(show, tmp_path, downloads):
    document = make_document()
    pairs = document["pairs"]
    Y = np.zeros((document["rows"], len(NAMES)))
    Y[pairs["row"], pairs["label"]] = [np.nan if given is None else given for given in pairs["given"]]
    dataset = Dataset(np.ones((len(Y), 1)), Y, ["tempo"], NAMES)
    browser = show(write_page(tmp_path / "audit.html", document | {"fingerprint": dataset.fingerprint()}))
    press(browser, "aru" * 5)
    choose(browser, "direction", 2)
    press(browser, "a")
    (tmp_path / "decisions.csv").write_text(exported(browser, downloads), encoding="utf-8")
    decided = read_decisions(tmp_path / "decisions.csv", dataset)
    chosen = [*range(15), 59]
    assert decided["row"].tolist() == [pairs["row"][i] for i in chosen]
    assert decided["label"].tolist() == [pairs["label"][i] for i in chosen]
    expected = [pairs["suggested"][i] if i % 3 == 0 or i == 59 else pairs["given"][i] for i in chosen]
    expected = [np.nan if i % 3 == 2 and i < 59 else value for i, value in zip(chosen, expected, strict=True)]
    np.testing.assert_array_equal(decided["value"], expected)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda text: text.replace("\nf", "\ng"), "other data"),
        (lambda text: text.replace("fingerprint", "finger"), "no column fingerprint"),
        (lambda text: text.replace("accepted", "maybe"), "Line 2 is no decision"),
    ],
)
def test_an_import_that_does_not_fit_changes_nothing(opened, downloads, tmp_path, change, reason):
    press(opened, "a")
    text = exported(opened, downloads)
    press(opened, "z")
    (tmp_path / "decisions.csv").write_text(change(text), encoding="utf-8")
    opened.find_element("id", "file").send_keys(str(tmp_path / "decisions.csv"))
    wait_for(opened, "#said", reason)
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"]


def test_a_hundred_thousand_pairs_are_a_few_rows_in_the_document(opened, show, tmp_path):
    document = make_document(n_pairs=100_000, fingerprint="many")
    show(write_page(tmp_path / "many.html", document))
    opened.find_element("id", "list").send_keys("\ue010")  # the end key
    assert position(opened) == 100_000
    assert texts(opened, "[aria-selected=true] .share") == ["1.0 %"]
    opened.execute_script("document.getElementById('list').scrollTop = 56 * 50000")
    script = """
        const done = arguments[0];
        requestAnimationFrame(() => requestAnimationFrame(() => done(
          [...document.querySelectorAll("[role=option]")].map((option) => Number(option.dataset.position)))));
    """
    drawn = opened.execute_async_script(script)
    assert 50_000 in drawn
    assert len(drawn) < 40
    opened.find_element("id", "list").send_keys("\ue011")  # the home key
    press(opened, "a")
    assert position(opened) == 2


def test_positions_beyond_ten_thousand_are_exact(show, tmp_path):
    """Words and neighbours of rows and features with five digits are those of the data."""
    n, d, row, word = 20_000, 25_000, 19_999, 24_999
    X = sparse.lil_array((n, d))
    X[:, :5] = 1.0
    with_label = np.arange(10_001, 10_041)
    for other in (*with_label, row):
        X[other, word] = 3.0
    X[with_label[7], 20_002] = X[row, 20_002] = 2.0  # the nearest row
    given = np.zeros((n, 1), dtype=np.int8)
    given[with_label] = 1
    suspicion = np.zeros((n, 1))
    suspicion[row] = 0.9
    found = Audit(
        suspicion=suspicion,
        truth=suspicion,
        probabilities=suspicion,
        given=given,
        noise_rates=pd.DataFrame({"lost": [0.1], "false": [0.0]}, index=["happy"]),
        instance_dependent=0.0,
        error_range=(0.9, 0.9),
        information=suspicion,
        reviewed=None,
        other_labels=None,
        difficulty=Difficulty(rank_pairs(suspicion)),
        trace=None,
        models={},
        label_names=["happy"],
        row_names=pd.RangeIndex(n),
    )
    names = [f"word {j}" for j in range(d)]
    browser = show(
        write_audit(tmp_path / "audit.html", found, sparse.csr_array(X), feature_names=np.array(names))
    )
    assert "row 19999" in texts(browser, "#detail h2")[0]
    assert "word 24999" in texts(browser, ".evidence tbody th")
    assert texts(browser, ".neighbours .head b")[0] == f"row {with_label[7]}"
