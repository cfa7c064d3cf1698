"""The directive `public-names`: a table of the public names of a module, from its ``__all__``."""

from importlib import import_module
from pkgutil import iter_modules

from docutils.statemachine import StringList
from sphinx.ext.autosummary import Autosummary
from sphinx.pycode import ModuleAnalyzer

# What both export is described by the second.
OWNERS = {
    "mlspl.experiments": "mlspl.recipes",
    "mlspl.models": "mlspl",
    "mlspl.persistence": "mlspl",
}


def borrowed(room: str) -> list[str]:
    """The names of a module that are described elsewhere."""
    owner = OWNERS.get(room)
    return sorted({*import_module(room).__all__} & {*import_module(owner).__all__}) if owner else []


class PublicNames(Autosummary):
    """An autosummary of a module, whose name is the argument."""

    required_arguments = 1
    has_content = False

    def run(self):
        (room,) = self.arguments
        elsewhere = borrowed(room)
        names = [
            f"~{OWNERS[room] if name in elsewhere else room}.{name}" for name in import_module(room).__all__
        ]
        self.options["nosignatures"] = None
        self.content = StringList(names, source=room)
        return super().run()

    def get_items(self, names):
        """Describe constants by the text below them, because their docstring is that of their type."""
        return [self._described(*item) for item in super().get_items(names)]

    def _described(self, shown, signature, summary, name):
        room, _, attribute = name.rpartition(".")
        if not callable(getattr(import_module(room), attribute)):
            # Experiments export a constant of the metrics again.
            files = [
                f"{package}.{part.name}"
                for package in (room, "mlspl.metrics")
                for part in iter_modules(import_module(package).__path__)
            ]
            texts = [ModuleAnalyzer.for_module(file).find_attr_docs().get(("", attribute)) for file in files]
            text = next(filter(None, texts), None)
            if text is None:
                raise ValueError(f"{name} is public, and has no docstring below its definition")
            summary = " ".join(text).strip()
        return shown, signature, summary, name


def setup(app) -> dict[str, bool]:
    """Add the directive."""
    app.add_directive("public-names", PublicNames)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
