"""``point2node objects``: list the objects of a labelled scan."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from point2node.core.errors import InputError


def objects(
    labelled: Annotated[Path, typer.Argument(metavar="LABELLED", help="A labelled point cloud.")],
    out: Annotated[
        Path | None, typer.Option(help="The folder for the results; by default LABELLED_objects next to it.")
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option(help="The same points with true labels and instances: also print precision and recall."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The classes of a scan without .classes.json: s3dis, scannet or a YAML file.")
    ] = None,
    parts: Annotated[bool, typer.Option("--parts", help="Also write each object as a point cloud.")] = False,
) -> None:
    """List the furniture, doors, windows … of a labelled scan with their boxes, and its walls, floor and ceiling with
    their areas.

    Writes objects.json, objects.csv, boxes.ply and boxes.obj, in metres.

    Example: point2node objects labelled/scan_labelled.ply
    """
    from point2node.formats import read
    from point2node.inference.jobs import make_folder
    from point2node.inference.labelled_files import read_labelled
    from point2node.show.objects import find_objects, match_objects, write_objects
    from point2node.show.planes import find_planes

    scene = read_labelled(labelled, truth, classes).upright().in_metres()
    instances = None if truth is None else read(truth).instance
    if truth is not None and instances is None:
        raise InputError(truth, expected="a cloud with a field 'instance'", found="none")
    found, planes = find_objects(scene), find_planes(scene)
    folder = out or labelled.with_name(f"{labelled.stem}_objects")
    make_folder(folder)
    write_objects(folder, scene, found, planes, parts=parts)
    counts = Counter(one.kind.name for one in found)
    print(f"{len(found)} objects: " + (", ".join(f"{n} {name}" for name, n in counts.most_common()) or "none"))
    for kind in ("floor", "ceiling", "wall"):
        areas = [plane.area for plane in planes if plane.kind == kind]
        if areas:
            print(f"{kind}: {sum(areas):.1f} m² seen, {len(areas)} plane{'s' * (len(areas) > 1)}")
    if instances is not None:
        assert scene.true_places is not None
        for name, match in match_objects(found, scene.classes, scene.true_places, instances.astype("int64")).items():
            if match.true or match.found:
                shares = [
                    f"{what} –" if math.isnan(share) else f"{what} {100 * share:.0f} %"
                    for what, share in (("precision", match.precision), ("recall", match.recall))
                ]
                print(f"{name}: {match.true} true, {match.found} found, {', '.join(shares)} at an IoU of 0.5")
    print(f"written: {folder}")
