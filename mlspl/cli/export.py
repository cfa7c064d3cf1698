"""`mlspl export`: a model file as ONNX."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from mlspl._text import shown
from mlspl.cli.predict import ModelArgument, open_model
from mlspl.cli.sources import ForceOption, check_target, input_files

__all__ = ["export"]


def export(
    model: ModelArgument,
    out: Annotated[str, typer.Option("--out", "-o", metavar="FILE", help="The ONNX file to write.")],
    force: ForceOption = False,
) -> None:
    """Write a model as an ONNX file, for onnxruntime and other programs.

    Linear models (--method logistic), forests (forest, extra-trees) and
    networks (net) can be exported, with imputation, scaling and one-hot
    encoding. Other models and steps are refused by name.
    """
    check_target(out, input_files(model), force)
    from mlspl.persistence import save_onnx

    estimator, info = open_model(model)
    save_onnx(estimator, Path(out), info.label_names)
    Console(highlight=False, soft_wrap=True).print(f"Wrote {shown(out)}")
