"""Pictures of the pages that mlspl writes: `python docs/screenshots.py` renews docs/images/*-1280.png.

It needs Chromium. The report is that of `mlspl reproduce --quick`.
"""

import io
import shutil
import subprocess
import tempfile
from pathlib import Path

import pandas as pd
from PIL import Image
from selenium import webdriver

from mlspl import curriculum, datasets

IMAGES = Path(__file__).parent / "images"


def write_audit(folder: str) -> Path:
    """The audit of 800 digits with one label in thirty inverted."""
    digits = datasets.load_dataset("digits-traits")
    X = digits.X[:800]
    Y, _ = datasets.corrupt(digits.Y[:800], "flip", 1 / 30, random_state=0)
    found = curriculum.audit(X, pd.DataFrame(Y, columns=digits.label_names), random_state=0)
    return found.to_html(
        f"{folder}/audit.html",
        X,
        name="digits-traits",
        feature_names=digits.feature_names,
        images=list(X.reshape(-1, 8, 8)),
    )


def open_browser() -> webdriver.Chrome:
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome")
    for flag in ("headless", "no-sandbox", "disable-gpu", "hide-scrollbars", "window-size=1280,860"):
        options.add_argument(f"--{flag}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def save(browser: webdriver.Chrome, name: str) -> None:
    """What the browser shows, in 256 colours: a third of the bytes."""
    picture = Image.open(io.BytesIO(browser.get_screenshot_as_png())).convert("RGB")
    picture.quantize(256, dither=Image.Dither.NONE).save(IMAGES / f"{name}-1280.png", optimize=True)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, open_browser() as browser:
        metrics = {"width": 1280, "height": 860, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(write_audit(folder).as_uri())
        browser.find_element("tag name", "body").send_keys("aaaraua")
        # The message on the last key fades; the picture is without it.
        browser.execute_script("document.getElementById('said').hidden = true")
        save(browser, "audit")
        subprocess.run(["mlspl", "reproduce", "--quick", "--out", "paper"], cwd=folder, check=True)
        browser.get(Path(folder, "paper", "report.html").as_uri())
        browser.execute_script("document.querySelectorAll('h2')[1].scrollIntoView()")  # Results
        save(browser, "report")
