"""What a reader does with a page in the browser, and sees of it."""

import re
import time

import numpy as np


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
    return [plain(text) for text in browser.execute_script(script, selector)]


def plain(text):
    """Text without the isolates that keep names in other scripts apart, and with plain blanks."""
    return text.replace("\xa0", " ").replace("\u2068", "").replace("\u2069", "")


def shown_labels(browser):
    """Labels of the options in the document, in their order."""
    script = """
        return [...document.querySelectorAll("[role=option]")]
          .sort((a, b) => a.dataset.position - b.dataset.position)
          .map((option) => option.querySelector(".label").textContent)
    """
    return [plain(text) for text in browser.execute_script(script)]


def current(browser, attribute):
    script = "return document.querySelector('[role=option][aria-selected=true]').getAttribute(arguments[0])"
    return browser.execute_script(script, attribute)


def position(browser):
    return int(current(browser, "aria-posinset"))


def size(browser):
    """How many pairs the list has."""
    return int(current(browser, "aria-setsize"))


def wait_for(browser, selector, text):
    for _ in range(200):
        if text in texts(browser, selector)[0]:
            return
        time.sleep(0.02)
    raise AssertionError(texts(browser, selector))


def check_contrast(browser):
    """Check that every text stands out 4.5 to 1 (WCAG AA) from its ground; return how light those are."""
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
    assert len(pairs) > 3
    for ink, ground, where in pairs:
        dark, light = sorted([luminance(ink), luminance(ground)])
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (ink, ground, where)
    return [luminance(ground) for _, ground, _ in pairs]


def luminance(colour):
    channels = np.array([int(part) for part in re.findall(r"\d+", colour)[:3]]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]
