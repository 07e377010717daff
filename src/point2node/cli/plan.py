"""``point2node plan``: draw the floor plan of a labelled room."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from point2node.core.errors import InputError


def plan(
    labelled: Annotated[Path, typer.Argument(metavar="LABELLED", help="A labelled point cloud of a room.")],
    out: Annotated[
        list[Path] | None,
        typer.Option(help="A .svg, .dxf or .json file; can be repeated; by default LABELLED_plan.svg."),
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The classes of a scan without .classes.json: s3dis, scannet or a YAML file.")
    ] = None,
) -> None:
    """Draw the floor plan of a labelled room: outline, walls, doors, windows and furniture, with area and height.

    Example: point2node plan labelled/scan_labelled.ply --out plan.svg --out plan.dxf
    """
    from point2node.core.writing import check_writable
    from point2node.inference.labelled_files import read_labelled
    from point2node.show.floor_plan import draw_plan
    from point2node.show.plan_files import WRITERS, write_plan

    targets = out or [labelled.with_name(f"{labelled.stem}_plan.svg")]
    for target in targets:
        if target.suffix.lower() not in WRITERS:
            raise InputError("--out", expected=f"a file that ends in {', '.join(WRITERS)}", found=str(target))
        check_writable(target)
    drawn = draw_plan(read_labelled(labelled, classes=classes).upright().in_metres(), str(labelled))
    for target in targets:
        write_plan(drawn, target)
    height = "" if drawn.height is None else f", {drawn.height:.2f} m high"
    counts = ", ".join(f"{sum(one.kind == kind for one in drawn.openings)} {kind}s" for kind in ("door", "window"))
    print(f"{drawn.area:.2f} m², perimeter {drawn.perimeter:.2f} m{height}; {len(drawn.walls)} walls, {counts}")
    print(f"written: {', '.join(str(target) for target in targets)}")
