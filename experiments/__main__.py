"""``python -m experiments TABLE [--runs FOLDER] [--modelnet40 FOLDER]``: train what is missing, then write the table.

Every training has its own run folder: finished runs are skipped, and stopped runs are resumed. The table is written to
experiments/results/TABLE.md and .json, the source of docs/experiments.md.
``python -m experiments beyond --only 'rooms/*-seed0'`` trains only runs with matching names; reference_models as well.
``python -m experiments real_rooms --real FOLDER [--weights NAME]`` trains nothing: it scores weights on real rooms.
``python -m experiments features --real FOLDER`` tests which features of single points transfer to real rooms.
``python -m experiments adapt --real FOLDER [--weights NAME] [--steps N]`` scores them before and after adapting.
``python -m experiments clicks [--real FOLDER] [--weights NAME] [--rooms N]`` lets an oracle correct rooms by clicks.
"""

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from point2node.core.errors import InputError
from point2node.inference.labeller import Options
from point2node.inference.looks import QUALITIES

COMPARISONS = ("beyond", "reference_models")
TABLES = ("modelnet40", "modelnet10", "ablation", *COMPARISONS, "real_rooms", "features", "adapt", "clicks")
SHAPES = {"modelnet40": ("modelnet40",), "modelnet10": ("modelnet10", "modelnet40")}
ON_REAL_ROOMS = ("real_rooms", "features", "adapt")


def main() -> None:
    """Make the table that is named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--runs", type=Path, default=Path("experiments/runs"), help="where the run folders are")
    parser.add_argument("--modelnet40", type=Path, help="ModelNet40: a prepared store, or the folder of its files")
    parser.add_argument("--modelnet10", type=Path, help="ModelNet10: a prepared store, or the folder of its files")
    parser.add_argument("--real", type=Path, help="the folder of real labelled rooms, one folder for each scanner kind")
    parser.add_argument("--weights", default="rooms", help="pretrained weights by name, a run folder or a file")
    parser.add_argument("--pictures", type=Path, default=Path("out/real_rooms"), help="folder for pictures of rooms")
    parser.add_argument("--votes", type=int, help="real_rooms: as for predict")
    parser.add_argument("--thin", type=float, help="real_rooms: as for predict")
    parser.add_argument("--quality", choices=QUALITIES, help="real_rooms: as for predict")
    parser.add_argument(
        "--store", type=Path, help="real_rooms: a prepared store of generated rooms, scored next to them"
    )
    parser.add_argument(
        "--in-pieces",
        action="store_true",
        help="real_rooms: label rooms in pieces, like scans that are larger than memory",
    )
    parser.add_argument("--smooth", action=argparse.BooleanOptionalAction, help="real_rooms: as for predict")
    parser.add_argument(
        "--steps",
        type=int,
        help="adapt: training steps of each round, for each scanner kind; no training if not given",
    )
    parser.add_argument(
        "--only", nargs="+", default=[], help="beyond, reference_models: patterns of runs, like 'rooms/dgcnn*-seed0'"
    )
    parser.add_argument("--rooms", type=int, default=4, help="clicks: how many generated rooms")
    given = parser.parse_args()
    if given.table in ON_REAL_ROOMS and given.real is None:
        parser.error(f"{given.table} needs --real, the folder of real labelled rooms")
    data = [getattr(given, shapes) for shapes in SHAPES.get(given.table, ())]
    for shapes, folder in zip(SHAPES.get(given.table, ()), data, strict=True):
        if not (folder and folder.is_dir()):
            parser.error(f"{given.table} needs --{shapes}, a prepared store or the folder of its files; found {folder}")
    if given.table in COMPARISONS and given.modelnet40 is not None and not given.modelnet40.is_dir():
        parser.error(f"--modelnet40 is a prepared store or the folder of its files; found {given.modelnet40}")
    try:
        table = import_module(f"experiments.{given.table}")
        if given.table == "real_rooms":
            options = Options(votes=given.votes, thin=given.thin, smooth=given.smooth, quality=given.quality)
            where = given.weights, given.real, given.pictures
            table.make_table(*where, options, given.store, in_pieces=given.in_pieces)
        elif given.table == "features":
            table.make_table(given.real)
        elif given.table == "clicks":
            table.make_table(given.weights, given.real, given.rooms)
        elif given.table == "adapt":
            table.make_table(given.weights, given.real, given.runs / given.table, given.steps)
        elif given.table in COMPARISONS:
            table.make_table(given.runs / given.table, given.modelnet40, given.real, given.only)
        else:
            table.make_table(given.runs / given.table, *data)
    except InputError as error:
        parser.error(str(error))
    except subprocess.CalledProcessError as error:  # the command has already printed its error
        sys.exit(error.returncode)


main()
