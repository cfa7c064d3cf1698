"""Pages hold what they were given as text, run nothing but their own script, and load nothing."""

import json
import re

import pandas as pd
import pytest
from jinja2 import UndefinedError

from mlspl.experiments.tables import Table
from mlspl.pages import render

EVIL = "</script></title><img src=x onerror=alert(1)>\"' {{ 7 * 7 }}"


@pytest.fixture
def page(tmp_path):
    texts = pd.DataFrame({EVIL: ["1 < 2"], "score": ["1.5 ±0.1\n<&"]}, index=pd.Index([EVIL], name="name"))
    table = Table(EVIL, texts, style="scores")
    content = dict.fromkeys(["panels", "ranks", "warnings", "corruption", "folds"])
    text = render(
        "report.html",
        title=EVIL,
        has_paper=False,
        **content,
        command=EVIL,
        facts={EVIL: 3},
        environment={EVIL: EVIL},
        figures={},
        datasets=table,
        methods=table,
        failures=table,
    )
    path = tmp_path / "page.html"
    path.write_text(text, encoding="utf-8")
    return path


def test_text_stays_text_everywhere(page, browser, show):
    show(page)
    assert not browser.find_elements("css selector", "img")
    assert browser.title == "mlspl: " + " ".join(EVIL.split())
    assert browser.find_element("css selector", "pre").text == EVIL
    assert browser.find_element("css selector", "tbody th").text == EVIL
    assert browser.get_log("browser") == []


def test_nothing_but_the_pages_own_script_and_style_has_effect(page, browser, show):
    """What got in after all is stopped by the policy; so are forms, other addresses and other bases."""
    text = page.read_text(encoding="utf-8")
    policy = re.search('Security-Policy" content="([^"]*)"', text).group(1)
    assert "unsafe" not in policy
    for rule in ("default-src 'none'", "base-uri 'none'", "form-action 'none'"):
        assert rule in policy
    inside = "<script>document.title = 'hurt'</script><p id=p style='color: red'>p</p><style>body{color:red}"
    page.write_text(text.replace("<main>", f"<main>{inside}</style>"), encoding="utf-8")
    show(page)
    assert browser.title != "hurt"
    for element in ("#p", "body"):
        colour = browser.find_element("css selector", element).value_of_css_property("color")
        assert colour != "rgba(255, 0, 0, 1)"
    assert len(browser.get_log("browser")) == 3


def test_what_a_template_names_must_be_there():
    with pytest.raises(UndefinedError, match="command"):
        render("report.html", title="", has_paper=False)


def test_json_cannot_end_its_element_and_has_no_numbers_of_its_own():
    def embedded(document):
        page = render("audit.html", name="", document=document, local_images=False)
        return page.partition('id="audit">')[2].partition("</script>")[0]

    document = {"names": [EVIL, "é"]}
    assert "<" not in embedded(document)
    assert json.loads(embedded(document)) == document
    with pytest.raises(ValueError, match="JSON"):
        embedded({"value": float("nan")})


def test_names_do_not_turn_the_direction_of_the_text_around_them():
    page = render("audit.html", name="a\u202eb", document={}, local_images=False)
    assert "a\ufffdb" in page
    assert "\u202e" not in page
