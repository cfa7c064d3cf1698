"""Sphinx configuration; `make docs` builds the site and treats warnings as errors."""

import os
import sys
from pathlib import Path

import mlspl

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
from public_names import borrowed

project = "mlspl"
author = "the mlspl developers"
copyright = "2026, the mlspl developers"
version = release = mlspl.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "public_names",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
autosummary_context = {"borrowed": borrowed}
templates_path = ["_templates"]
numpydoc_show_class_members = False
autodoc_default_options = {"members": True}
# Types stand in the docstrings; written out, those of NumPy fill a page.
autodoc_typehints = "none"
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
    # That page would fetch scripts from elsewhere.
    "write_computation_times": False,
}
exclude_patterns = ["_build", "_templates", "auto_examples/**/*.ipynb", "auto_examples/README.rst"]
# Methods inherited from scikit-learn refer to its glossary and guide.
suppress_warnings = ["config.cache", "ref.ref", "ref.term"]

# Diagrams of estimators in the gallery link to the reference beside it.
os.environ["MLSPL_DOCS"] = ".."

html_theme = "furo"
html_title = "mlspl"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
