"""``point2node warmup``: compile ahead what the first ``predict`` would otherwise wait for."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import say_compiling

if TYPE_CHECKING:  # numpy is imported by the command itself: --help stays quick
    from point2node.core.point_cloud import PointCloud

POINTS = 20_000
ROOM = (4.0, 3.0, 2.5)
"""Metres."""


def warmup(
    weights: Annotated[
        str, typer.Option(help="Pretrained weights by name, a run folder or a .safetensors file.")
    ] = "rooms",
) -> None:
    """Compile the kernels that 'predict' needs and cache them on disk, for a new machine or a container image.

    Example: point2node warmup
    """
    from point2node.formats import read, write
    from point2node.inference.labelled_files import read_labelled
    from point2node.inference.labeller import Options, SceneLabeller
    from point2node.inference.scan_check import examine_cloud
    from point2node.kernels.compiling import announce_compiling
    from point2node.show.scene_page import to_scene_page
    from point2node.show.stills import write_stills
    from point2node.weights.trained import load_trained

    start = time.monotonic()
    labeller = SceneLabeller(load_trained(weights))
    with announce_compiling(say_compiling), TemporaryDirectory(prefix="point2node-") as folder:
        scan = Path(folder) / "scan.xyz"  # text, because its numbers are parsed by kernels too
        write(scan, _sample_room())
        cloud = read(scan)
        for options in (Options(scale=1.0), Options(scale=1.0, color=False, thin=0.05)):
            examine_cloud(cloud, labeller, options)
            labelled = labeller.label(cloud, options)
            scene = read_labelled(labelled.save(Path(folder) / "scan_labelled.xyz")).upright()
            to_scene_page(scene)
            write_stills(scene, Path(folder) / "scan.html")
    print(
        f"ready in {time.monotonic() - start:.0f} s: the kernels that predict needs with {labeller.name!r} are compiled"
    )


def _sample_room() -> PointCloud:
    """Sample points on the floor, the ceiling and the walls of an empty room."""
    import numpy as np

    from point2node.core.point_cloud import PointCloud

    random = np.random.default_rng(0)
    xyz = random.uniform(0, ROOM, (POINTS, 3))
    axis, side = random.integers(0, 3, POINTS), random.integers(0, 2, POINTS)
    xyz[np.arange(POINTS), axis] = side * np.array(ROOM)[axis]
    return PointCloud(np.round(xyz, 4), rgb=random.integers(0, 256, (POINTS, 3)))
