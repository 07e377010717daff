"""``point2node demo``: a scan that no training saw, labelled, scored and drawn, to see what comes out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import progress

if TYPE_CHECKING:  # torch is imported by the command itself: --help stays quick
    from point2node.engine.trained import Trained
    from point2node.report.scene import LabelledScene

WEIGHTS = "rooms"
SEED = 20_260  # of no data set that is trained on
POINTS = 120_000


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the scan, the labels, the pictures and the page.")] = Path(
        "out"
    ),
    room: Annotated[int, typer.Option(min=0, help="Which generated room.")] = 0,
    weights: Annotated[
        str | None, typer.Option(help="Weights by name, run folder or file; the shipped ones if not given.")
    ] = None,
) -> None:
    """Label a generated room with furniture that training never saw, and write what there is to look at.

    Example: point2node demo --out out
    """
    from point2node.data.files import write
    from point2node.data.rooms import generate_room
    from point2node.engine.labelling import Labeller
    from point2node.engine.scan_labelling import make_folder
    from point2node.report.scene_files import read_scene
    from point2node.report.scene_page import write_scene_page
    from point2node.report.stills import write_stills

    make_folder(out)
    trained = _find_weights(weights, out)
    scanned = generate_room(SEED, room, points=POINTS, styles="held_out")
    scan, truth, page = out / "demo_room.ply", out / "demo_room_truth.ply", out / "demo_room.html"
    write(truth, scanned)
    cloud = scanned.with_(labels=None, instance=None)
    write(scan, cloud)
    with progress("labelling", seconds=2.0) as report:
        labelled = Labeller(trained)(cloud, report=report, name=scan.name)
    target = labelled.write(out / "demo_room_labelled.ply")
    scene = read_scene(target, truth)
    write_scene_page(scene, page)
    stills = write_stills(scene, page)
    _print_scores(scene, trained)
    print(f"written: {target}, {len(stills)} pictures {page.stem}_*.png")
    print(
        f"open {page} in a browser; then try 'point2node predict YOUR_SCAN', 'point2node view {target}' "
        "or 'point2node train tiny'"
    )


def _find_weights(name: str | None, out: Path) -> Trained:
    """The weights that were asked for, the shipped ones, or else the smallest network, trained on the spot."""
    from point2node.engine.trained import load_trained, shipped_weights

    if name is not None:
        return load_trained(name)
    if WEIGHTS in shipped_weights():
        return load_trained(WEIGHTS)
    from point2node.cli.watching import choose_watch
    from point2node.engine.run_folder import RunFolder
    from point2node.engine.session import begin_or_resume
    from point2node.engine.settings import load_preset

    print("no weights are shipped with this version: training the smallest network first", file=sys.stderr)
    run = RunFolder(out / "tiny")
    with progress("preparing") as report:
        begin_or_resume("tiny", load_preset("tiny"), None, run, choose_watch(first_process=True), report)
    return load_trained(str(run.path))


def _print_scores(scene: LabelledScene, trained: Trained) -> None:
    import numpy as np
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from point2node.report.scene_scores import score_scene

    scored = score_scene(scene)
    assert scored is not None  # a generated room knows its truth
    table = Table("class", box=box.SIMPLE_HEAD)
    for heading in ("points", "IoU"):
        table.add_column(heading, justify="right")
    for place, one in enumerate(scene.classes):
        iou = scored.scores.iou[str(place)]
        present = int(np.count_nonzero(scene.truth == place))
        table.add_row(one.name, f"{present:,}", f"{100 * iou:.1f} %" if present else "absent")
    Console().print(table)
    scores = scored.scores
    print(
        f"one generated room, weights {trained.name!r}: OA {100 * scores.oa:.1f} %, mAcc {100 * scores.macc:.1f} %, "
        f"mIoU {100 * scores.miou:.1f} % over the classes that are there"
    )
