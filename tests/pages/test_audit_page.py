"""`audit.html` in a real browser: filters, keys, undo, reload, export, import, phone, dark, screen reader."""

import base64
import csv
import io
import re
import time
from itertools import count

import numpy as np
import pytest

from mlspl.datasets import Dataset
from mlspl.pages import read_decisions
from mlspl.pages._images import picture_address
from tests.pages.documents import EVIL, NAMES, PIXEL, make_document, write_page

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


def press(browser, keys):
    body = browser.find_element("tag name", "body")
    for key in keys:
        body.send_keys(key)


def choose(browser, field, value):
    script = """
        const select = document.getElementById(`by-${arguments[0]}`);
        select.value = arguments[1];
        select.dispatchEvent(new Event("change"));
    """
    browser.execute_script(script, field, str(value))


def texts(browser, selector):
    script = "return [...document.querySelectorAll(arguments[0])].map((element) => element.textContent)"
    return [text.replace("\xa0", " ") for text in browser.execute_script(script, selector)]


def shown_labels(browser):
    """Labels of the options in the document, in their order."""
    script = """
        return [...document.querySelectorAll("[role=option]")]
          .sort((a, b) => a.dataset.position - b.dataset.position)
          .map((option) => option.querySelector(".label").textContent)
    """
    return browser.execute_script(script)


def current(browser, attribute):
    script = "return document.querySelector('[role=option][aria-selected=true]').getAttribute(arguments[0])"
    return browser.execute_script(script, attribute)


def position(browser):
    return int(current(browser, "aria-posinset"))


def size(browser):
    """How many pairs the list has."""
    return int(current(browser, "aria-setsize"))


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
    opened.find_element("css selector", ".answer.rejected").click()
    choose(opened, "status", 2)
    button = opened.find_element("css selector", ".answer.rejected")
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


def wait_for(browser, selector, text):
    for _ in range(200):
        if text in texts(browser, selector)[0]:
            return
        time.sleep(0.02)
    raise AssertionError(texts(browser, selector))


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


def test_a_screen_reader_is_told_what_the_eye_sees(opened):
    box = opened.find_element("id", "list")
    press(opened, "j")
    option = opened.find_element("id", box.get_attribute("aria-activedescendant"))
    assert option.get_attribute("aria-selected") == "true"
    assert option.get_attribute("aria-posinset") == "2"
    press(opened, "u")
    said = opened.find_element("id", "said")
    assert said.get_attribute("aria-live") == "polite"
    assert "Unsure" in said.get_attribute("textContent")
    nameless = """
        const named = (e) => e.textContent.trim() || e.ariaLabel || e.labels?.length || e.alt;
        return [...document.querySelectorAll("button, select, input, [role=listbox], [role=tab], img, svg")]
          .filter((e) => !e.closest("[aria-hidden=true]") && !named(e)).map((e) => e.outerHTML)
    """
    for tab in ("review", "curriculum", "labels"):
        opened.find_element("id", f"tab-{tab}").click()
        assert opened.execute_script(nameless) == []


def test_tabs_by_the_keyboard(opened):
    tab = opened.find_element("id", "tab-review")
    tab.send_keys("\ue014")  # the right arrow
    assert opened.switch_to.active_element.get_attribute("id") == "tab-curriculum"
    assert opened.find_element("id", "curriculum").is_displayed()
    assert not opened.find_element("id", "review").is_displayed()
    press(opened, "a")
    opened.find_element("id", "tab-review").click()
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"], "keys decide only what is in sight"


def test_the_curriculum_goes_from_easy_to_hard(opened, document):
    opened.find_element("id", "tab-curriculum").click()
    assert texts(opened, ".lane .name") == NAMES, "later labels have more pairs that never entered"
    assert texts(opened, ".lane .total")[1] == "17"
    never = opened.find_elements("css selector", ".lane")[0].get_attribute("aria-label")
    assert never.replace("\xa0", " ") == "calm: 56 % at step 1, 11 % never"
    assert texts(opened, "#path h3") == [
        "step 1 5 rows",
        "step 2 1 row",
        "step 3 1 row",
        "step 4 1 row",
        "never 1 row",
    ]
    opened.find_elements("css selector", ".lane")[1].click()
    opened.find_element("css selector", "#path button").click()
    assert set(shown_labels(opened)) == {"happy"}


def test_the_map_places_labels_and_the_table_sorts(opened):
    opened.find_element("id", "tab-labels").click()
    places = opened.execute_script(
        "return [...document.querySelectorAll('.spot circle')]"
        ".map((c) => [c.cx.baseVal.value, c.cy.baseVal.value])"
    )
    # Most noisy first: happy (.1, .09), =1+cmd (.3, .05), evil (.4, .03), calm (.5, .01); one is unknown.
    x, y = np.array(places).T
    np.testing.assert_allclose(np.diff(x), (x[3] - x[0]) * np.array([0.5, 0.25, 0.25]), atol=0.2)
    np.testing.assert_allclose(np.diff(y), (y[3] - y[0]) * np.array([0.5, 0.25, 0.25]), atol=0.2)
    assert texts(opened, "#label-table tbody th") == ["happy", NAMES[2], EVIL, "calm", "loud, slow"]
    head = opened.find_elements("css selector", "#label-table thead button")[6]
    head.click()
    assert texts(opened, "#label-table tbody th") == [*NAMES[:4], "loud, slow"]
    opened.find_elements("css selector", "#label-table thead button")[6].click()
    assert texts(opened, "#label-table tbody th") == [*NAMES[3::-1], "loud, slow"], (
        "what is unknown stays last"
    )
    assert opened.switch_to.active_element.text == "AUC"


def test_on_a_phone_a_row_opens_and_closes(opened, show, page):
    show(page, 390)
    detail = opened.find_element("id", "detail")
    assert not detail.is_displayed()
    opened.find_elements("css selector", "[role=option]")[2].click()
    assert detail.is_displayed()
    opened.find_element("css selector", ".answer.accepted").click()
    assert detail.is_displayed()
    assert texts(opened, "#reviewed") == ["1 of 60 reviewed"]
    press(opened, "\ue00c")  # escape
    assert not detail.is_displayed()
    assert opened.switch_to.active_element.get_attribute("id") == "list"
    assert position(opened) == 4


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
)
def test_it_fits_and_every_text_stands_out_from_its_ground(opened, show, page, width, scheme):
    """No wider than the screen; a contrast of at least 4.5 to 1 (WCAG AA) everywhere."""
    show(page, width, scheme)
    press(opened, "aru")
    for tab in ("labels", "curriculum", "review"):
        opened.find_element("id", f"tab-{tab}").click()
        assert opened.execute_script("return document.documentElement.scrollWidth") <= width
        check_contrast(opened)
    if width < 500:
        opened.find_elements("css selector", "[role=option]")[0].click()
        check_contrast(opened)
        assert opened.execute_script("return document.querySelector('.facts-of').scrollWidth") <= width


def check_contrast(browser):
    script = """
        function ground(element) {
          for (; element; element = element.parentElement) {
            const colour = getComputedStyle(element).backgroundColor;
            if (colour !== "rgba(0, 0, 0, 0)") return colour;
          }
          return "rgb(255, 255, 255)";
        }
        const pairs = new Set();
        for (const element of document.querySelectorAll("body *:not(.said):not(:disabled)")) {
          if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
          if (!element.getClientRects().length) continue;
          const style = getComputedStyle(element);
          const ink = element.ownerSVGElement ? style.fill : style.color;
          pairs.add([ink, ground(element), element.className].join("|"));
        }
        return [...pairs];
    """
    pairs = [pair.split("|") for pair in browser.execute_script(script)]
    assert len(pairs) > 5
    for ink, ground, where in pairs:
        dark, light = sorted([luminance(ink), luminance(ground)])
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground, where)


def luminance(colour):
    channels = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def test_what_the_data_say_is_text(opened, show, tmp_path):
    show(write_page(tmp_path / "pictures.html", make_document(images=True, fingerprint="pictures")))
    for tab in ("labels", "curriculum", "review"):
        opened.find_element("id", f"tab-{tab}").click()
    press(opened, "ajarujk")
    assert opened.title.startswith("Label audit of songs <script>")
    assert opened.execute_script("return document.scripts.length") == 2
    assert not opened.find_elements("css selector", "[onmouseover], main script")
    assert opened.find_element("tag name", "body").get_attribute("textContent").count(EVIL) > 10
    loaded = opened.execute_script(
        "return [...document.images].every((i) => i.naturalWidth === 1 || !i.complete)"
    )
    assert loaded
    policy = opened.find_element("css selector", "meta[http-equiv]").get_attribute("content")
    assert "default-src 'none'" in policy
    addresses = opened.execute_script("return performance.getEntriesByType('resource').map((r) => r.name)")
    assert all(address.startswith("data:") for address in addresses)


@pytest.mark.parametrize("allowed", [True, False])
def test_pictures_beside_the_page_are_shown_where_its_policy_says_so(show, tmp_path, allowed):
    (tmp_path / "a picture.png").write_bytes(base64.b64decode(PIXEL.partition(",")[2]))
    document = make_document(images=True, fingerprint=f"linked {allowed}")
    document["items"]["image"] = [picture_address("a picture.png")] * len(document["items"]["row"])
    browser = show(write_page(tmp_path / "audit.html", document, local_images=allowed))
    script = """
        const done = arguments[0];
        const look = () => [...document.querySelectorAll("#detail .content")].map((box) =>
          box.querySelector("img")?.naturalWidth ?? box.querySelector(".absent")?.textContent)[0];
        const wait = () => look() ? done(look()) : setTimeout(wait, 20);
        wait();
    """
    assert browser.execute_async_script(script) == (1 if allowed else "no picture")
    browser.get_log("browser")
