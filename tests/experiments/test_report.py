"""`report.html` in a real browser: it opens, sorts, switches, stays quiet, fits a phone, goes dark."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from mlspl.datasets import Dataset
from mlspl.experiments import (
    PAPER_CRITERIA,
    PAPER_FUNCTIONS,
    PUBLISHED,
    Outcome,
    Store,
    Trial,
    wilcoxon_pairs,
    write_results,
)
from mlspl.experiments.statistics import fewest_splits
from mlspl.recipes import METHODS, get_method
from tests.pages.screen import check_contrast

EVIL = "<script>document.title='hurt'</script>\"' onmouseover=alert(1)"
DATASETS = ("flags", "scene", EVIL)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """All methods on three data sets, one of them wickedly named, with everything a trial can have."""
    rng = np.random.default_rng(0)
    with Store(tmp_path_factory.mktemp("report") / "results.db") as store:
        for dataset in DATASETS:
            settings = [(name, method.settings("")) for name, method in METHODS.items()]
            settings += [
                (PUBLISHED, get_method(PUBLISHED).settings("") | {"pace_function": name})
                for name in PAPER_FUNCTIONS
            ]
            for method, parameters in settings:
                for split in range(3):
                    chosen = dict(parameters)
                    if method == "mlspl-cv":
                        chosen |= {"C": 1.0, "gamma": 0.1, "class_weight": 0.0}
                    outcome = Outcome(
                        scores=dict(zip(PAPER_CRITERIA, rng.uniform(0.1, 0.9, 5).tolist(), strict=True)),
                        chosen=chosen,
                        fit_seconds=float(rng.uniform(0.1, 20)),
                        peak_memory=2**28,
                        warnings=[EVIL] if method == "tram" else [],
                        host="a machine",
                        versions={"numpy": "2.0"},
                    )
                    store.record(Trial(dataset, dataset, method, parameters, split), outcome)
        failing = Trial("flags", "flags", "ml-knn", get_method("ml-knn").settings(""), split=3)
        store.record(failing, Outcome(error=f"ValueError: {EVIL}", versions={}))
        yield store


@pytest.fixture(scope="module")
def datasets():
    """Sizes and label names for two of the three sets."""
    X, Y = np.ones((8, 4)), np.eye(8, 3, dtype=np.int8)
    names = [EVIL, "sky", "sea"]
    return {name: Dataset(X, Y, list("abcd"), names, name=name) for name in ("flags", EVIL)}


@pytest.fixture(scope="module")
def page(store, datasets, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    command = f"mlspl reproduce --out {EVIL}"
    return write_results(store, None, folder, PAPER_FUNCTIONS, datasets, command).files[-1]


def rows_of(browser, column):
    """The texts of one column of the first visible table of scores."""
    script = """
        const table = document.querySelector(".panel.chosen .scores table");
        return [...table.tBodies[0].rows].map((row) => row.cells[arguments[0]].textContent);
    """
    return browser.execute_script(script, column)


def mean(text):
    return float(re.match(r"[\d.]+", text).group())


def test_a_click_on_a_head_sorts_and_a_second_one_turns_round(browser, page, show):
    show(page)
    before = [mean(text) for text in rows_of(browser, 1)]
    assert len(before) == len(METHODS)
    heads = browser.find_elements("css selector", ".panel.chosen .scores thead th")
    assert [head.get_attribute("aria-sort") for head in heads] == ["none"] * 6
    heads[1].find_element("tag name", "button").click()
    assert [mean(text) for text in rows_of(browser, 1)] == sorted(before) != before
    assert heads[1].get_attribute("aria-sort") == "ascending"
    # By the keyboard, as any button.
    heads[1].find_element("tag name", "button").send_keys("\ue007")
    assert [mean(text) for text in rows_of(browser, 1)] == sorted(before, reverse=True)
    assert heads[1].get_attribute("aria-sort") == "descending"

    heads[5].find_element("tag name", "button").click()
    precision = [mean(text) for text in rows_of(browser, 5)]
    assert precision == sorted(precision, reverse=True), "the best come first, and more is better"
    assert heads[1].get_attribute("aria-sort") == "none"
    heads[0].find_element("tag name", "button").click()
    assert rows_of(browser, 0) == sorted((method.title for method in METHODS.values()), key=str.lower)


def test_what_has_no_number_sorts_last_both_ways(browser, page, show):
    """Nothing is known of the size of scene."""
    show(page)
    head = browser.find_element("css selector", "main table thead th:nth-child(2)")
    for _ in range(2):
        head.find_element("tag name", "button").click()
        script = "return [...arguments[0].closest('table').tBodies[0].rows].map((r) => r.cells[1].innerText)"
        assert browser.execute_script(script, head) == ["8", "8", "–"]


def test_the_switch_shows_one_data_set_and_paper_shows_all(browser, page, show):
    show(page)

    def visible():
        panels = browser.find_elements("css selector", ".panel")
        return [panel.find_element("tag name", "h3").text for panel in panels if panel.is_displayed()]

    choices = browser.find_elements("css selector", "input[name=block]")
    assert len(choices) == 3
    for choice, block in zip(choices, DATASETS[::-1][:1] + DATASETS[:2], strict=True):
        choice.click()
        assert visible() == [block]
    choices[2].send_keys("\ue012")  # the left arrow key
    assert visible() == ["flags"]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    assert len(visible()) == 3
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "light"), (390, "dark")])
def test_it_fits_stays_quiet_and_does_not_move(browser, page, width, scheme, show):
    show(page, width, scheme)
    shifts = browser.execute_async_script(
        """
        const done = arguments[0], shifts = [];
        new PerformanceObserver((list) => shifts.push(...list.getEntries().map((entry) => entry.value)))
          .observe({ type: "layout-shift", buffered: true });
        requestAnimationFrame(() => setTimeout(() => done(shifts), 50));
        """
    )
    assert shifts == []
    for choice in browser.find_elements("css selector", "input[name=block]"):
        choice.click()
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.get_log("browser") == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_stands_out_from_its_ground(browser, page, scheme, show):
    show(page, scheme=scheme)
    body = check_contrast(browser)[0]
    assert body < 0.1 if scheme == "dark" else body > 0.9


def test_text_from_data_does_no_harm(browser, page, show):
    show(page)
    assert browser.execute_script("return document.title").startswith("mlspl: ")
    assert browser.execute_script("return document.scripts.length") == 1
    assert not browser.find_elements("css selector", "[onmouseover]")
    text = browser.find_element("tag name", "body").get_attribute("textContent")
    assert text.count(EVIL) >= 5, "it is shown as it is"


class Outline(HTMLParser):
    """Every element's name and attributes."""

    def __init__(self, text):
        super().__init__()
        self.elements = []
        self.feed(text)

    def handle_starttag(self, name, attributes):
        self.elements.append((name, dict(attributes)))


def test_nothing_is_loaded_and_every_figure_has_its_text(page):
    elements = Outline(page.read_text(encoding="utf-8")).elements
    addresses = [
        attributes[key] for _, attributes in elements for key in ("src", "href") if key in attributes
    ]
    figures = [attributes for name, attributes in elements if name == "img"]
    assert len(figures) == 2
    assert all(figure["alt"] for figure in figures)
    assert set(addresses) == {"data:,", *(figure["src"] for figure in figures)}
    assert all(figure["src"].startswith("data:image/svg+xml;base64,") for figure in figures)
    identifiers = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(identifiers) == len(set(identifiers))
    assert page.stat().st_size < 3_000_000


def test_the_numbers_are_those_of_the_store(store, page):
    text = page.read_text(encoding="utf-8")
    frame = store.frame()
    tram = frame[(frame["dataset"] == "flags") & (frame["method"] == "tram")]
    scores = [row["coverage"] for row in tram["scores"]]
    shown = f'<span class="mean">{np.mean(scores):.4f}</span><span class="std"> ±{np.std(scores, ddof=1):.4f}'
    assert f"{shown}</span>" in text
    assert f">{tram['fit_seconds'].mean():.3f}<" in text
    for heading in ("MLSPL under each self-paced function", "Failed trials", "Warnings"):
        assert heading in text


@pytest.mark.parametrize(("n_methods", "n_splits"), [(2, 5), (2, 6), (3, 6), (3, 7), (6, 9), (6, 10)])
def test_the_fewest_splits_are_those_of_the_clearest_result(n_methods, n_splits):
    """If methods differ the same way on every split, this number of splits is just enough."""
    scores = np.arange(n_methods) + np.zeros((n_splits, 1))
    pairs = wilcoxon_pairs(scores, [str(i) for i in range(n_methods)], greater_is_better=True)
    assert (pairs["p_holm"].min() < 0.05) == (n_splits >= fewest_splits(len(pairs)))


def test_too_few_splits_are_said_to_be_too_few(page):
    assert "No difference can be significant" in page.read_text(encoding="utf-8")


def test_a_run_without_scores_is_reported_too(tmp_path):
    with Store(tmp_path / "results.db") as store:
        assert write_results(store, None, tmp_path).files == []
        store.record(Trial("flags", "f", "ml-knn", {"k": 10}, split=0), Outcome(error="ValueError: no"))
        (page,) = write_results(store, None, tmp_path).files
        text = page.read_text(encoding="utf-8")
    assert "ValueError: no" in text
    assert "Results</h2>" not in text


def test_the_switch_is_left_out_of_pages_without_scripts(browser, page, show):
    """Without JavaScript all data sets are shown, one below the other."""
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(page)
        panels = browser.find_elements("css selector", ".panel")
        assert [panel.is_displayed() for panel in panels] == [True, True, True]
        assert not browser.find_element("css selector", ".switch").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
