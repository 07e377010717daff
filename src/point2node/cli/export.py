"""``point2node export``: write trained weights as a file that runs without this package."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from point2node.core.errors import InputError


class Format(StrEnum):
    """The export formats."""

    onnx = "onnx"


def export(
    weights: Annotated[
        str, typer.Argument(metavar="WEIGHTS", help="A pretrained model by name, a run folder, or a .safetensors file.")
    ],
    format: Annotated[Format, typer.Option(help="The format of the file.")] = Format.onnx,
    out: Annotated[Path | None, typer.Option(help="The file; by default NAME.onnx in the current folder.")] = None,
) -> None:
    """Export a trained network to ONNX. It takes coordinates, features and neighbour indices, and returns logits.

    Example: point2node export rooms --format onnx --out rooms.onnx
    """
    from point2node.inference.exporting import export_onnx
    from point2node.weights.trained import load_trained

    if out is not None and out.suffix.lower() != f".{format.value}":
        raise InputError("--out", expected=f"a file that ends in .{format.value}", found=str(out))
    trained = load_trained(weights)
    target = out or Path(f"{trained.name}.{format.value}")
    difference = export_onnx(trained, target)
    print(f"{target}: {target.stat().st_size / 1e6:.1f} MB; its logits differ from torch's by {difference:.1e} at most")
