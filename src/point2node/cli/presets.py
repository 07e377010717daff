"""``point2node presets``: list the presets, or explain the settings of one."""

from __future__ import annotations

import json
import shutil
import textwrap
from typing import Annotated

import typer


def presets(
    name: Annotated[
        str | None, typer.Argument(metavar="[NAME]", help="The preset to show; by default all presets are listed.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
) -> None:
    """List the presets, or all settings of one preset with their values and meanings.

    Example: point2node presets tiny
    """
    from point2node.weights.settings import Settings, describe_preset, load_preset, preset_names

    if name is None:
        found = {one: describe_preset(one) for one in preset_names()}
        if as_json:
            print(json.dumps(found, indent=1))
            return
        width = max(map(len, found))
        for one, what in found.items():
            print(f"{one:{width}}  {what}")
        return
    settings = load_preset(name).model_dump(mode="json")
    if as_json:
        print(json.dumps(settings, indent=1))
        return
    print(f"{name}: {describe_preset(name)}\n")
    columns = min(shutil.get_terminal_size().columns, 110)
    for key, field in Settings.model_fields.items():
        print(f"{key}={json.dumps(settings[key], ensure_ascii=False)}")
        meaning = " ".join((field.description or "").split())
        print(textwrap.fill(meaning, columns, initial_indent="    ", subsequent_indent="    "))
