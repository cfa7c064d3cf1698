"""How smooth the audit's page is with 100,000 pairs, beside one of 1,000, in a real Chromium.

Prints milliseconds: until the page answers, between two frames while the list scrolls by seventeen rows a
frame (16.7 is all that a screen shows), for a key that decides, and for the slowest filter or order.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np
from selenium import webdriver

from tests.pages.documents import make_document, write_page

SCROLL = """
    const done = arguments[0], box = document.getElementById("list"), times = [];
    let last = performance.now();
    function step(now) {
      times.push(now - last);
      last = now;
      box.scrollTop += 17 * 56;
      if (times.length < 120) requestAnimationFrame(step);
      else done(times.slice(2));
    }
    requestAnimationFrame(step);
"""
DECIDE = """
    return [..."arjuarjuarjuarjuarju"].map((key) => {
      const start = performance.now();
      document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
      return performance.now() - start;
    });
"""
FILTER = """
    const choices = [["order", "label, then suspicion"], ["order", "row"], ["label", "1"], ["status", "0"]];
    return choices.map(
      ([field, value]) => {
        const select = document.getElementById(`by-${field}`), start = performance.now();
        select.value = value;
        select.dispatchEvent(new Event("change"));
        return performance.now() - start;
      });
"""


def measure(browser, n_pairs, folder):
    document = make_document(n_pairs, fingerprint=f"bench {n_pairs}")
    browser.get(write_page(Path(folder) / f"{n_pairs}.html", document).as_uri())
    ready = browser.execute_script(
        "return performance.timing.domComplete - performance.timing.navigationStart"
    )
    frames = browser.execute_async_script(SCROLL)
    keys, filters = browser.execute_script(DECIDE), browser.execute_script(FILTER)
    return ready, np.median(frames), np.quantile(frames, 0.95), np.median(keys), max(filters)


if __name__ == "__main__":
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    print(f"{'pairs':>8} {'ready':>8} {'frame':>8} {'95 %':>8} {'key':>8} {'filter':>8}")
    with (
        tempfile.TemporaryDirectory() as folder,
        webdriver.Chrome(options=options, service=service) as browser,
    ):
        for n_pairs in (1000, 100_000):
            print(f"{n_pairs:8,}", *(f"{value:8.1f}" for value in measure(browser, n_pairs, folder)))
