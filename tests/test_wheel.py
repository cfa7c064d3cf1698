"""What people install: built as for a release, put where nothing of the checkout is, and run there."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def run(*command, cwd):
    """What it prints; without the checkout on the path."""
    hidden = {"PYTHONPATH", "MLSPL_DATA", "COVERAGE_PROCESS_START"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with an environment that has the wheel, and beside it only what mlspl depends on."""
    home = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", home / "dist", ROOT, cwd=home)
    (wheel,) = (home / "dist").glob("*.whl")
    assert len(list((home / "dist").glob("*.tar.gz"))) == 1
    venv.create(home / "venv", with_pip=False)
    python = home / "venv" / "bin" / "python"
    # A folder named in a .pth does not have its own .pth files read, so the editable mlspl stays unseen.
    (site,) = (home / "venv" / "lib").glob("python*/site-packages")
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "--python", python)
    run(*pip, "install", "--no-deps", "--no-index", wheel, cwd=home)
    return home


@pytest.fixture(scope="module")
def report(installed):
    """The page of `mlspl reproduce --quick`; of the methods one that compiles little."""
    mlspl = installed / "venv" / "bin" / "mlspl"
    out = run(
        mlspl, "reproduce", "--quick", "--methods", "ml-knn", "--jobs", "1", "--out", "run", cwd=installed
    )
    assert "digits-traits (30 % training rows, 2 splits)" in out
    return installed / "run" / "report.html"


def test_the_wheel_is_all_there(installed):
    code = "import mlspl; print(mlspl.__file__)"
    place = Path(run(installed / "venv" / "bin" / "python", "-c", code, cwd=installed).strip()).parent
    assert place.is_relative_to(installed / "venv")
    assert (place / "py.typed").exists()
    assert list_files(place) == list_files(ROOT / "mlspl")


def list_files(folder):
    files = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path for path in files if "__pycache__" not in path.parts}


def test_it_runs_and_its_report_opens(report, request):
    assert "ML-kNN" in report.read_text(encoding="utf-8")
    browser = request.getfixturevalue("show")(report)
    assert browser.find_element("tag name", "h1").text == "Comparison of methods on digits-traits"
    assert not browser.get_log("browser")
