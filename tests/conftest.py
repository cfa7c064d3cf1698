"""What the tests share: where the real data sets are, or why they are not; a browser."""

import os
import shutil
import signal
from pathlib import Path

import pytest

# The suite's workers share the cores; threads of BLAS and OpenMP, on matrices this small, only stand in each
# other's way and double the time. Read when numpy is first imported, which is after this.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs deaf to Ctrl-C, and so would be the processes that tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def data_home() -> Path:
    """The folder with the Mulan and MEKA files; tests that need it skip without `$MLSPL_DATA`."""
    home = os.environ.get("MLSPL_DATA")
    if not home:
        pytest.skip("the real data sets are not here: set MLSPL_DATA to the folder that holds them")
    return Path(home).absolute()


@pytest.fixture(scope="session")
def downloads(tmp_path_factory):
    return tmp_path_factory.mktemp("downloads")


@pytest.fixture(scope="session")
def browser(tmp_path_factory, downloads):
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("no Chromium here: install the packages chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in ("headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-sync"):
        options.add_argument(f"--{flag}")
    for flag in ("disable-background-networking", "disable-component-update", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = webdriver.ChromeService(executable_path=driver)
    with webdriver.Chrome(options=options, service=service) as chrome:
        yield chrome


@pytest.fixture(scope="session")
def show(browser):
    """Opens a page at a width, anew; what an earlier page logged is forgotten."""

    def open_page(page, width=1280, scheme="light"):
        browser.get_log("browser")
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        browser.get(page.as_uri())
        return browser

    return open_page
