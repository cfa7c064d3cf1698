"""How commands declare their options, and the options that several commands have."""

from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

# For help texts, because importing their registries takes seconds. A test compares them with the registries.
METHOD_NAMES = (
    "bsvm, ml-knn, tram, ranksvm, ml-loc, mlspl-published, mlspl, mlspl-cv, forest, extra-trees, "
    "logistic, net"
)
CRITERION_NAMES = (
    "hamming_loss, ranking_loss, one_error, coverage, average_precision, micro_f1, macro_f1, sample_f1, "
    "subset_accuracy, jaccard, ndcg, precision_at_k, ndcg_at_k"
)


class _PlainFlags:
    """Help texts that show no type of value for flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params


class Command(_PlainFlags, TyperCommand):
    """A command of `mlspl`."""


class Group(_PlainFlags, TyperGroup):
    """A group of commands of `mlspl`."""


def option(metavar: str | None, text: str, *names: str, **more: Any) -> Any:
    """Declare an option by its value's name in the help, its help, and other names than the parameter's."""
    return typer.Option(*names, metavar=metavar, help=text, **more)


def argument(metavar: str, text: str) -> Any:
    """Declare an argument by its name in the help, and its help."""
    return typer.Argument(metavar=metavar, help=text)


def flag(name: str, text: str) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=text)


ForceOption = Annotated[bool, flag("--force", "Replace existing files that this command did not write.")]
SeedOption = Annotated[int, option("N", "Random seed.", min=0, max=2**32 - 1)]
JobsOption = Annotated[int | None, option(None, "Number of processes.", show_default="all cores", min=1)]
SetOption = Annotated[
    list[str] | None, option("NAME=VALUE", "Set a parameter of the method; may be repeated.", "--set")
]
SpaceOption = Annotated[
    str | None, option("SPACE", "Space of the classifiers: gram, linear or nystroem.", show_default="auto")
]
MethodOption = Annotated[
    str, option(None, f"One of {METHOD_NAMES}; a + after the name also tunes thresholds.")
]
