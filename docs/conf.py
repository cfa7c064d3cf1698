"""Sphinx configuration; `make docs` builds the site and treats warnings as errors."""

import mlspl

project = "mlspl"
author = "the mlspl developers"
copyright = "2026, the mlspl developers"
version = release = mlspl.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_gallery.gen_gallery",
]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3
autosummary_generate = True
numpydoc_show_class_members = False
autodoc_default_options = {"members": True}
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "download_all_examples": False,
}
exclude_patterns = ["_build", "auto_examples/**/*.ipynb", "auto_examples/README.rst"]
# Methods inherited from scikit-learn refer to its glossary and guide.
suppress_warnings = ["config.cache", "ref.ref", "ref.term"]

html_theme = "furo"
html_title = "mlspl"
