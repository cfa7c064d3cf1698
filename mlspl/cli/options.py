"""How commands declare their options, and the options that several commands have."""

import ast
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from mlspl._names import split_names
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.datasets import Dataset

SPELLING = ("decimal", "thousands", "encoding")
# For help texts, because importing the registry takes seconds. A test compares them.
METHOD_NAMES = (
    "bsvm, ml-knn, tram, ranksvm, ml-loc, mlspl-published, mlspl, mlspl-cv, forest, extra-trees, "
    "logistic, net"
)
CRITERION_HELP = "such as ranking_loss, average_precision or macro_f1"


class _PlainHelp:
    """Help texts that show no type of value for flags."""

    def get_params(self, ctx: Any) -> list[Any]:
        params = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params


class Command(_PlainHelp, TyperCommand):
    """A command of `mlspl`."""


class Group(_PlainHelp, TyperGroup):
    """A group of commands of `mlspl`."""


def option(metavar: str | None, text: str, *names: str, **more: Any) -> Any:
    """Declare an option by its value's name in the help, its help, and other names than the parameter's."""
    return typer.Option(*names, metavar=metavar, help=text, **more)


_reading = partial(option, rich_help_panel="How the file is read")


def argument(metavar: str, text: str) -> Any:
    """Declare an argument by its name in the help, and its help."""
    return typer.Argument(metavar=metavar, help=text)


def flag(name: str, text: str) -> Any:
    """Declare an option without a value."""
    return typer.Option(name, help=text)


def _check_seed(seed: int) -> int:
    # Not by `min` and `max`: the help would show both, and have little room left for words.
    if not 0 <= seed < 2**32:
        raise typer.BadParameter(f"{seed} is not in the range from 0 to {2**32 - 1}.")
    return seed


ForceOption = Annotated[bool, flag("--force", "Replace existing files that this command did not write.")]
SeedOption = Annotated[int, option("N", "Random seed.", callback=_check_seed)]
JobsOption = Annotated[int | None, option("N", "Number of processes.", show_default="all cores", min=1)]
SetOption = Annotated[
    list[str] | None, option("NAME=VALUE", "Set a parameter of the method; may be repeated.", "--set")
]
SpaceOption = Annotated[
    str | None,
    option("SPACE", "Where models are fitted: gram (kernel matrix), linear, nystroem.", show_default="auto"),
]
TuneOption = Annotated[
    str, option("CRITERION", f"Choose parameters by cross-validation on this criterion, {CRITERION_HELP}.")
]
SchedulerOption = Annotated[
    str | None, option("ADDRESS", "Dask scheduler that runs the work: tcp://host:port, or local.")
]
MethodOption = Annotated[
    str, option("METHOD", f"One of {METHOD_NAMES}; a + after the name also tunes thresholds.")
]


@dataclass(frozen=True)
class Reading:
    """What a user says about a file that the file does not say itself; `with_reading` makes it options."""

    labels: Annotated[
        str | None,
        _reading(
            "WHICH",
            "Label columns: names separated by commas, a pattern such as 'TAG_*', their number (-3: the last "
            "three), an XML file, or one column that holds all labels of a row, as a|b. By default: the XML "
            "file next to the data, MEKA's -C, or a column named labels or tags.",
        ),
    ] = None
    label_sep: Annotated[
        str | None, _reading("SIGN", "Separator of labels in a set, if not |, ; or a comma.")
    ] = None
    text: Annotated[
        str,
        _reading(
            "COLUMNS",
            "Columns of text to use, separated by commas; auto: all columns of sentences; none. Text becomes "
            "TF-IDF weights of words and word pairs.",
        ),
    ] = "auto"
    categorical: Annotated[
        str, _reading("COLUMNS", "Number columns that are categories, separated by commas.")
    ] = ""
    numeric: Annotated[str, _reading("COLUMNS", "Columns that must be numeric, separated by commas.")] = ""
    drop: Annotated[str, _reading("COLUMNS", "Columns to leave out, separated by commas.")] = ""
    na: Annotated[
        str | None, _reading("VALUES", "Words for a missing value, separated by commas, in place of ?, NA, …")
    ] = None
    decimal: Annotated[str | None, _reading("SIGN", "Decimal sign of CSV files, if not a point.")] = None
    thousands: Annotated[str | None, _reading("SIGN", "Thousands separator of CSV files.")] = None
    encoding: Annotated[str | None, _reading("NAME", "Encoding if not UTF-8, such as cp1252.")] = None

    @property
    def text_columns(self) -> list[str] | None:
        """The columns to learn words from; None for all columns of text."""
        return None if self.text == "auto" else [] if self.text == "none" else split_names(self.text)

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of the columns that are named."""
        named = {"text": self.text_columns or [], "categorical": split_names(self.categorical)}
        kinds: dict[str, str] = {}
        for kind, names in (named | {"numeric": split_names(self.numeric)}).items():
            for name in names:
                if kinds.setdefault(name, kind) != kind:
                    raise UserError(f"column {name!r} cannot be both {kinds[name]} and {kind}.")
        return kinds

    def spelling(self) -> dict[str, Any]:
        """How cells are written, as arguments of `read_dataset` and `relabel_file`."""
        na_values = None if self.na is None else split_names(self.na)
        return {"na_values": na_values, **{name: getattr(self, name) for name in SPELLING}}

    def options(self) -> dict[str, Any]:
        """The arguments of `read_dataset`, but the labels."""
        drop = split_names(self.drop)
        return {"label_sep": self.label_sep or None, "drop": drop, "kinds": self.kinds, **self.spelling()}

    def to_arguments(self) -> list[str]:
        """Return the options that were given, as a shell gets them."""
        given = ((field.name, getattr(self, field.name), field.default) for field in fields(self))
        return [f"--{name.replace('_', '-')}={value}" for name, value, usual in given if value != usual]

    def to_json(self, dataset: "Dataset") -> dict[str, Any]:
        """What a model file keeps of it, to read new rows in the same way."""
        kept = self.options() | {"label_column": dataset.label_column, "label_joint": dataset.label_joint}
        del kept["kinds"]
        return kept


def parse_labels(text: str | None) -> str | int | None:
    """What ``--labels`` means: a number, or what `read_dataset` finds out with the names of the columns."""
    return int(text) if text is not None and text.lstrip("+-").isdecimal() else text


def with_reading(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command these fields of `Reading`, or all of them, as options in place of `reading`."""
    known = signature(Reading).parameters
    options = [known[name].replace(kind=Parameter.KEYWORD_ONLY) for name in names or known]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def run(**given: Any) -> None:
            told = {option.name: given.pop(option.name) for option in options}
            command(reading=Reading(**told), **given)

        others = signature(command).parameters
        place = list(others).index("reading")
        parameters = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in others.values()]
        parameters[place : place + 1] = options
        run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def parse_parameters(given: list[str] | None, space: str | None = None) -> dict[str, Any]:
    """Return the parameters of ``--set`` and ``--space``; values are Python's or, if they are none, text."""
    parameters: dict[str, Any] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise UserError(f"--set takes a name and a value, such as C=0.1; it is {text!r}.")
        try:
            parameters[name.strip()] = ast.literal_eval(value)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            parameters[name.strip()] = value
    return parameters | ({} if space is None else {"space": space})
