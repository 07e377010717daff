"""``point2node models``: list the catalogue as a table or as JSON."""

from __future__ import annotations

import json
from typing import Annotated

import typer


def models(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """List every model, size and variant with its number of parameters and multiply-accumulates.

    Example: point2node models --json
    """
    from point2node.models.catalogue import list_models  # imported here to keep --help fast: needs torch

    entries = list(list_models())
    if as_json:
        print(json.dumps([entry.as_dict() for entry in entries], indent=1))
        return

    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "model", "preset", "variant", box=box.SIMPLE_HEAD, caption="M: 2^20, as the paper counts; GMAC: for one cloud."
    )
    for heading in ("parameters", "M", "GMAC"):
        table.add_column(heading, justify="right")
    for entry in entries:
        sizes = (f"{entry.parameters:,}", f"{entry.parameters_mi:.2f}", f"{entry.macs / 1e9:.3f}")
        table.add_row(entry.name, entry.preset, entry.variant or "–", *sizes)
    Console().print(table)
