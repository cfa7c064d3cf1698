"""Pictures of the audit's page for the guide: `python docs/screenshots.py`, with Chromium installed.

Writes docs/images/audit-1280.png, audit-1280-curriculum.png and audit-390.png.
"""

import shutil
import tempfile
from pathlib import Path

import pandas as pd
from selenium import webdriver

from mlspl import curriculum, datasets

IMAGES = Path(__file__).parent / "images"


def make_page(folder: str) -> Path:
    """The audit of 800 digits with one label in thirty turned."""
    digits = datasets.load_dataset("digits-traits")
    X = digits.X[:800]
    Y, _ = datasets.corrupt(digits.Y[:800], "flip", 1 / 30, random_state=0)
    found = curriculum.audit(X, pd.DataFrame(Y, columns=digits.label_names), random_state=0)
    pictures = list(X.reshape(-1, 8, 8))
    return found.to_html(
        f"{folder}/audit.html", X, name="digits-traits", feature_names=digits.feature_names, images=pictures
    )


def open_browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium")
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def shoot(browser: webdriver.Chrome, page: Path, name: str, width: int, height: int, keys: str = "") -> None:
    """The page at this size, after some keys, or of the tab of that id."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())
    if keys.startswith("tab-"):
        browser.find_element("id", keys).click()
    else:
        browser.find_element("tag name", "body").send_keys(keys)
        # The message on the last key fades; pictures are without it.
        browser.execute_script("document.getElementById('said').hidden = true")
    browser.save_screenshot(str(IMAGES / f"{name}.png"))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        page = make_page(folder)
        shoot(browser, page, "audit-1280", 1280, 860, "aaaraua")
        shoot(browser, page, "audit-1280-curriculum", 1280, 860, "tab-curriculum")
        shoot(browser, page, "audit-390", 390, 844)
