"""``point2node view``: label, explain and correct scans in the browser."""

from __future__ import annotations

import math
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from point2node.core.errors import InputError, unknown_choice

HEARTBEAT = 0.3
"""Seconds between checks for Ctrl+C."""


def view(
    scan: Annotated[Path | None, typer.Argument(metavar="[SCAN]", help="A scan, or a folder of scans.")] = None,
    weights: Annotated[str, typer.Option(help="A pretrained model, a run folder or a .safetensors file.")] = "rooms",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; if it is taken, the next free one.")] = 8080,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    max_upload: Annotated[float, typer.Option(min=0, help="The largest upload, in MB.")] = 500,
    scale: Annotated[
        float | None,
        typer.Option(help="Metres in one unit: 0.001 for millimetres. By default as the file says, or guessed."),
    ] = None,
    up: Annotated[str, typer.Option(help="The axis that points upwards: x, y or z, or -x, -y, -z.")] = "z",
    color: Annotated[bool, typer.Option("--color/--no-color", help="Use the scan's colours.")] = True,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")] = True,
) -> None:
    """Label scans in the browser, explore them, and click a point to see why it has its label.

    Example: point2node view room.ply --weights runs/tiny-point2node-seed0
    """
    check_library()
    from point2node.inference.labeller import Options, SceneLabeller
    from point2node.show.viewer.app import Viewer, check_host
    from point2node.show.viewer.door import LOOPBACK
    from point2node.training.interruption import noted_interruptions
    from point2node.weights.trained import load_trained

    check_options(scale, up)
    check_host(host)
    scans = {} if scan is None else find_scans(scan)
    viewer = Viewer(
        SceneLabeller(load_trained(weights)),
        scans,
        Options(scale=scale, up=up, color=color),
        host=host,
        port=port,
        most_megabytes=max_upload,
    )
    taken = f" (port {port} is taken)" if port not in (0, viewer.port) else ""
    url = viewer.url
    print(f"open {url} in a browser{taken}; Ctrl+C stops", flush=True)
    if host not in LOOPBACK:
        warning = f"warning: anyone with the link who can reach {host}:{viewer.port} can use this page"
        print(f"{warning}; the connection is not encrypted", file=sys.stderr, flush=True)
    if open_browser:
        import webbrowser

        webbrowser.open(url)
    try:
        with noted_interruptions() as interruption:
            while interruption.signal is None:
                Event().wait(HEARTBEAT)
    except KeyboardInterrupt:
        pass
    finally:
        viewer.stop()


def check_options(scale: float | None, up: str) -> None:
    """Raise InputError for an invalid scale or axis."""
    from point2node.geometry.frames import UPWARDS

    if scale is not None and not (math.isfinite(scale) and scale > 0):
        raise InputError("--scale", expected="a number above 0", found=str(scale))
    if up not in UPWARDS:
        raise unknown_choice("--up", up, UPWARDS)


def find_scans(path: Path) -> dict[str, Path]:
    """Return the scan, or the scans in a folder, by the names shown in the viewer."""
    from point2node.formats import READABLE

    if path.is_file():
        if path.suffix.lower() not in READABLE:
            raise InputError(path, expected=f"one of {', '.join(READABLE)}", found=path.suffix or "no suffix")
        return {path.name: path}
    if not path.is_dir():
        raise InputError(path, expected="a scan or a folder of scans", found="nothing there")
    found = sorted(file for file in path.iterdir() if file.is_file() and file.suffix.lower() in READABLE)
    if not found:
        raise InputError(path, expected="a folder with scans", found="no file of a readable format")
    return {file.name: file for file in found}


def check_library() -> None:
    """Raise InputError with the install command if viser is missing."""
    if find_spec("viser") is None:
        raise InputError(
            "point2node view",
            expected="the library viser to be installed",
            found="none",
            remedy="Run: pip install 'point2node[view]'",
        )
