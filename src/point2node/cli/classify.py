"""``point2node classify``: the class of a mesh or of a cloud of a single object."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from point2node.cli.predict import Up
from point2node.cli.progress import say_compiling
from point2node.core.errors import InputError

SHOWN = 5


def classify(
    shapes: Annotated[list[Path], typer.Argument(metavar="SHAPE...", help="Meshes, or clouds of single objects.")],
    weights: Annotated[
        str, typer.Option(help="A pretrained model by name, a run folder, or a .safetensors file.")
    ] = "modelnet40",
    up: Annotated[Up, typer.Option(help="The axis of the shape that points upwards.")] = Up.z,
    votes: Annotated[
        int | None,
        typer.Option(min=1, help="How many random samples of points to average; the default depends on the weights."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """Classify single objects: prints the five most likely classes of each.

    Example: point2node classify chair.off
    """
    from point2node.inference.classifier import ShapeClassifier
    from point2node.kernels.compiling import announce_compiling
    from point2node.weights.trained import load_trained

    classifier = ShapeClassifier(load_trained(weights))
    found = {}
    failed = 0
    for shape in shapes:
        try:
            with announce_compiling(say_compiling):
                found[str(shape)] = classifier(shape, up=up.value, votes=votes)[:SHOWN]
        except InputError as error:
            if len(shapes) == 1:
                raise
            failed += 1
            print(f"point2node: {error}", file=sys.stderr)
    if as_json:
        as_dicts = {name: [vars(guess) for guess in guesses] for name, guesses in found.items()}
        print(json.dumps(as_dicts, indent=1, ensure_ascii=False))
    else:
        for name, guesses in found.items():
            print(f"{name}: " + ", ".join(f"{guess.name} {100 * guess.probability:.1f} %" for guess in guesses))
    if failed:
        raise typer.Exit(code=1)
