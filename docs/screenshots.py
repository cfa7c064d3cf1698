"""Pictures of the audit's page and of the site: `make docs`, then `python docs/screenshots.py`.

It needs Chromium. Writes docs/images/audit-*.png, for the guide, and site-*.png, to see how the site looks.
"""

import io
import shutil
import tempfile
from pathlib import Path

import pandas as pd
from PIL import Image
from selenium import webdriver

from mlspl import curriculum, datasets

IMAGES = Path(__file__).parent / "images"
SITE = Path(__file__).parent / "_build" / "html"
SITE_PAGES = {"front": "index.html", "tutorial": "tutorial.html", "gallery": "auto_examples/index.html"}


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
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "hide-scrollbars"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def show(browser: webdriver.Chrome, page: Path, width: int, height: int) -> None:
    """Open a page at this size."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    browser.get(page.as_uri())


def save(browser: webdriver.Chrome, name: str) -> None:
    """What the browser shows, in 256 colours: a third of the bytes."""
    picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / f"{name}.png", optimize=True)


def shoot_audit(
    browser: webdriver.Chrome, page: Path, name: str, width: int, height: int, keys: str = ""
) -> None:
    """The audit's page, after some keys, or its tab of that id."""
    show(browser, page, width, height)
    if keys.startswith("tab-"):
        browser.find_element("id", keys).click()
    else:
        browser.find_element("tag name", "body").send_keys(keys)
        # The message on the last key fades; pictures are without it.
        browser.execute_script("document.getElementById('said').hidden = true")
    save(browser, name)


def shoot_site(browser: webdriver.Chrome) -> None:
    """The pages of the site that newcomers see first, on a desk and on a phone."""
    for name, file in SITE_PAGES.items():
        for width, height in ((1280, 860), (390, 844)):
            show(browser, SITE / file, width, height)
            save(browser, f"site-{name}-{width}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        page = make_page(folder)
        shoot_audit(browser, page, "audit-1280", 1280, 860, "aaaraua")
        shoot_audit(browser, page, "audit-390", 390, 844)
        shoot_site(browser)
