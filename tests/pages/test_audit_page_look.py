"""`audit.html` in a real browser, to the eye: tabs, map, phone, dark, screen reader, hostile names."""

import base64

import numpy as np
import pytest

from mlspl.pages._images import picture_address
from tests.pages.documents import EVIL, NAMES, PIXEL, make_document, write_page
from tests.pages.screen import (
    check_contrast,
    position,
    press,
    texts,
)


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
    for tab in ("review", "labels"):
        opened.find_element("id", f"tab-{tab}").click()
        assert opened.execute_script(nameless) == []


def test_tabs_by_the_keyboard(opened):
    tab = opened.find_element("id", "tab-review")
    tab.send_keys("\ue014")  # the right arrow
    assert opened.switch_to.active_element.get_attribute("id") == "tab-labels"
    assert opened.find_element("id", "labels").is_displayed()
    assert not opened.find_element("id", "review").is_displayed()
    press(opened, "a")
    opened.find_element("id", "tab-review").click()
    assert texts(opened, "#reviewed") == ["0 of 60 reviewed"], "keys decide only what is in sight"


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
    opened.find_element("css selector", ".answers .accepted").click()
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
    for tab in ("labels", "review"):
        opened.find_element("id", f"tab-{tab}").click()
        assert opened.execute_script("return document.documentElement.scrollWidth") <= width
        check_contrast(opened)
    if width < 500:
        opened.find_elements("css selector", "[role=option]")[0].click()
        check_contrast(opened)
        assert opened.execute_script("return document.querySelector('.facts-of').scrollWidth") <= width


def test_what_the_data_say_is_text(opened, show, tmp_path):
    show(write_page(tmp_path / "pictures.html", make_document(images=True, fingerprint="pictures")))
    for tab in ("labels", "review"):
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
