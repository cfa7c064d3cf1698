"""`mlspl pacing`: the self-paced functions from the shell."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.console import Console
from rich.table import Table

from mlspl._text import printable, shown
from mlspl.cli.files import check_target
from mlspl.cli.options import Command, ForceOption, Group, argument, flag, option
from mlspl.errors import UserError

if TYPE_CHECKING:
    from mlspl.pacing import DerivedFunction

app = typer.Typer(
    cls=Group,
    no_args_is_help=True,
    help="List, plot, derive and verify self-paced functions.",
    epilog="Example: mlspl pacing plot sigmoid gaussian -o curves.png",
)

PAPER = ["arctan", "sigmoid", "tanh", "exponential"]


@app.command("list", cls=Command, epilog="Example: mlspl pacing list")
def list_functions() -> None:
    """List the self-paced functions, their weights, and the conditions of Definition 1 that fail."""
    from mlspl import pacing

    table = Table("name", "weight v*", "source", "conditions", box=None, pad_edge=False)
    for name in pacing.names():
        function = pacing.get(name)
        summary = (function.__doc__ or ": ").splitlines()[0].rstrip(".")
        weight, source = summary.removeprefix("v* = ").split(": ", 1)
        failed = ", ".join(check.source[-3:] for check in pacing.verify(function).failed)
        table.add_row(
            f"[bold]{name}[/]", shown(weight), shown(source), f"[red]{failed} fails[/]" if failed else "hold"
        )
    console = Console(highlight=False)
    console.print(table)
    console.print("Conditions are those of Definition 1; `mlspl pacing verify NAME` shows counterexamples.")


@app.command(cls=Command, epilog="Example: mlspl pacing plot sigmoid arctan --pace 1 -o curves.png")
def plot(
    functions: Annotated[
        list[str] | None, argument("NAME", "Functions; by default the paper's four.")
    ] = None,
    out: Annotated[Path, option("FILE", "Image: .png, .svg or .pdf.", "--out", "-o")] = Path(
        "self_paced_functions.png"
    ),
    pace: Annotated[list[float] | None, option("NUMBER", "A pace λ; may be repeated.")] = None,
    max_loss: Annotated[float | None, option("NUMBER", "Upper end of the loss axis.")] = None,
    force: ForceOption = False,
) -> None:
    """Plot the weight by the loss, and the penalty by the weight, for several paces."""
    from mlspl import pacing

    paces = pace or pacing.PACES
    path = pacing.save_plot(functions or PAPER, out, paces=paces, max_loss=max_loss, force=force)
    typer.echo(f"Wrote {printable(str(path))}")


@app.command(cls=Command, epilog="Example: mlspl pacing derive 'exp(-t**2)' --family scale --latex")
def derive(
    formula: Annotated[str, argument("FORMULA", 'A decreasing curve in t, such as "1/(1+t**2)".')],
    family: Annotated[
        Literal["scale", "shift"], option(None, "scale: weight g(l/λ^c); shift: g(l − λ).")
    ] = "scale",
    exponent: Annotated[float, option("NUMBER", "The exponent c of the scale family.")] = 1.0,
    latex: Annotated[bool, flag("--latex", "Print only the formulas, as LaTeX.")] = False,
    out: Annotated[Path | None, option("FILE", "Also plot: .png, .svg or .pdf.", "--out", "-o")] = None,
    force: ForceOption = False,
) -> None:
    """Derive weight, inverse and penalty of a self-paced function from a curve, and verify them."""
    if out is not None:
        check_target(out, (), force)
    from mlspl import pacing

    function = pacing.derive(formula, family, exponent)
    if latex:
        typer.echo(function.latex())
    else:
        _print_formulas(function)
        typer.echo(str(pacing.verify(function)))
    if out is not None:
        typer.echo(f"Wrote {printable(str(pacing.save_plot([function], out, force=force)))}")


@app.command(cls=Command, epilog="Example: mlspl pacing verify arctan")
def verify(name: Annotated[str, argument("NAME", "A name from `mlspl pacing list`.")]) -> None:
    """Check the conditions of Definition 1 and Lemma 1; show a counterexample for each that fails."""
    from mlspl import pacing

    typer.echo(str(pacing.verify(name)))


def _print_formulas(function: "DerivedFunction") -> None:
    try:
        formulas = function.formulas()
    except UserError as error:
        typer.echo(f"{function.name}: {error}")
        return
    left = {"weight": "v*(l, λ)", "inverse": "s(v, λ)", "penalty": "f(v, λ)"}
    for part, form in formulas.items():
        line = f"{left[part]:8} = {form or '(computed; no closed form found)'}"
        typer.echo(line.replace("lambda", "λ"))
