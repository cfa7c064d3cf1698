"""The `mlspl` command: its groups, and how errors leave it."""

import io
import sys
from collections.abc import Callable
from typing import Annotated

import typer
from rich.console import Console

import mlspl
from mlspl._text import printable
from mlspl.cli import audit, compare, consensus, correct, datasets, fit, pacing, predict, reproduce
from mlspl.cli.options import Command, Group, flag, option
from mlspl.errors import UserError, shorten

app = typer.Typer(
    name="mlspl",
    cls=Group,
    help="Multi-label learning from noisy labels: fit models, find wrong labels, compare methods.",
    epilog="Example: mlspl fit songs.csv --labels=-3 -o songs.skops (the last three columns are labels). "
    "More examples: mlspl COMMAND --help.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
_EXAMPLES: dict[Callable[..., None], str] = {
    fit.fit: "fit songs.csv --labels 'mood_*' --test-size 0.3 -o songs.skops",
    predict.predict: "predict songs.skops new.csv --top 3 -o moods.csv",
    predict.evaluate: "evaluate songs.skops test.csv -o scores.json",
    predict.export: "export songs.skops -o songs.onnx",
    audit.audit: "audit songs.csv --labels 'mood_*' --show lyrics -o audit",
    correct.correct: "correct songs.csv audit/decisions.csv --labels 'mood_*' -o corrected.csv",
    consensus.consensus: "consensus songs.csv --annotators 'annotator_*' -o agreed.csv",
    reproduce.reproduce: "reproduce --datasets flags --methods bsvm,mlspl-cv",
    compare.compare: "compare songs.csv --labels 'mood_*' --methods mlspl-cv,logistic",
}
for _command, _example in _EXAMPLES.items():
    app.command(cls=Command, epilog=f"Example: mlspl {_example}")(_command)
app.add_typer(datasets.app, name="datasets")
app.add_typer(pacing.app, name="pacing")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"mlspl {mlspl.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, option(None, "Print the version.", "--version", callback=_print_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, flag("--debug", "Show the traceback of an error.")] = False,
) -> None:
    """Multi-label learning from noisy labels, in the shell."""


def main() -> None:
    """Run the command; exit with 2 for the user's mistakes and 1 for ours, with a sentence each."""
    debug = "--debug" in sys.argv[1:]
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # What the terminal's encoding has no sign for is shown by another, not an error.
            stream.reconfigure(errors="replace")
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        app()
    except (UserError, OSError) as error:
        if debug:
            raise
        console.print("[bold red]error:[/]", end=" ")
        console.print("\n".join(map(printable, str(error).split("\n"))), markup=False)
        sys.exit(2)
    except Exception as error:
        if debug:
            raise
        console.print("[bold red]internal error:[/]", end=" ")
        console.print(printable(shorten(f"{type(error).__name__}: {error}", 4000)), markup=False)
        console.print("This is a fault of mlspl. `mlspl --debug …` shows where; please report it.")
        sys.exit(1)
