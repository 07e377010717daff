"""``point2node demo``: label, score and draw a generated room that no training saw."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import progress, say_compiling

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.core.point_cloud import PointCloud
    from point2node.inference.labelled import LabelledCloud
    from point2node.weights.trained import Trained

WEIGHTS = "rooms"
SEED = 20_260  # not used for any training data
ROOM = 3  # has most kinds of furniture
POINTS = 120_000


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the scan, the labels, the pictures and the page.")] = Path(
        "out"
    ),
    room: Annotated[int, typer.Option(min=0, help="The number of the generated room.")] = ROOM,
    weights: Annotated[
        str, typer.Option(help="A pretrained model by name, a run folder, or a .safetensors file.")
    ] = WEIGHTS,
) -> None:
    """Label a generated room, mostly furnished in styles unseen in training; write the labels, pictures and a page.

    Example: point2node demo --out out
    """
    from point2node.formats import write
    from point2node.inference.jobs import make_folder
    from point2node.inference.labelled_files import as_if_read
    from point2node.inference.labeller import SceneLabeller
    from point2node.kernels.compiling import announce_compiling
    from point2node.show.scene_page import write_scene_page
    from point2node.show.stills import write_stills
    from point2node.weights.trained import load_trained

    make_folder(out)
    trained = load_trained(weights)
    scan, truth, page = out / "demo_room.ply", out / "demo_room_truth.ply", out / "demo_room.html"
    with progress("labelling", seconds=2.0) as report, announce_compiling(say_compiling):
        scanned = demo_room(room)
        write(truth, scanned)
        cloud = scanned.with_(labels=None, instance=None)
        write(scan, cloud)
        labelled = SceneLabeller(trained).label(cloud, report=report, name=scan.name)
    target = labelled.save(out / "demo_room_labelled.ply")
    assert scanned.labels is not None  # generated rooms have true labels
    scene = as_if_read(labelled, target, (truth, scanned.labels)).upright()
    write_scene_page(scene, page)
    stills = write_stills(scene, page)
    _print_scores(scene, trained)
    print(f"written: {target}, {len(stills)} pictures {page.stem}_*.png")
    print(
        f"open {page} in a browser; then try 'point2node predict YOUR_SCAN', 'point2node view {target}' "
        "or 'point2node train tiny'"
    )


def demo_room(number: int) -> PointCloud:
    """Generate a room with labels, scanned from tripods, so that it is complete and has a ceiling."""
    from point2node.rooms import RoomSettings, generate_room

    settings = RoomSettings(scanners=("panoramic",))
    return generate_room(SEED, number, points=POINTS, styles="held_out", settings=settings)


def _print_scores(scene: LabelledCloud, trained: Trained) -> None:
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from point2node.show.scene_tables import score_scene

    scored = score_scene(scene)
    assert scored is not None
    table = Table("class", box=box.SIMPLE_HEAD)
    for heading in ("points", "IoU"):
        table.add_column(heading, justify="right")
    for place, one in enumerate(scene.classes):
        iou = scored.scores.iou[str(place)]
        present = int(np.count_nonzero(scene.true_places == place))
        table.add_row(one.name, f"{present:,}", f"{100 * iou:.1f} %" if present else "absent")
    Console().print(table)
    scores = scored.scores
    print(
        f"one generated room, weights {trained.name!r}: OA {100 * scores.oa:.1f} %, mAcc {100 * scores.macc:.1f} %, "
        f"mIoU {100 * scores.miou:.1f} % over the classes that occur"
    )
