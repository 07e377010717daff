"""``python -m experiments TABLE [--runs FOLDER] [--modelnet10 FOLDER]``: train what is missing, then write the table.

Every training is a run folder of its own; those that are finished are left alone, those that were stopped go on. The
table goes to experiments/results/TABLE.md and .json, from which docs/experiments.md is written.
``python -m experiments real_rooms --real FOLDER [--weights NAME]`` trains nothing: it scores weights on real rooms.
"""

import argparse
import subprocess
import sys
from importlib import import_module
from pathlib import Path

from point2node.core.errors import InputError

TABLES = ("modelnet10", "ablation", "peers", "real_rooms")


def main() -> None:
    """Make the table that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m experiments", description=__doc__)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("--runs", type=Path, default=Path("experiments/runs"), help="where the run folders are")
    parser.add_argument("--modelnet10", type=Path, help="the folder of ModelNet10's h5 files")
    parser.add_argument("--real", type=Path, help="the folder of real labelled rooms, one folder for each scanner kind")
    parser.add_argument("--weights", default="rooms", help="pretrained weights by name, a run folder or a file")
    parser.add_argument("--pictures", type=Path, default=Path("out/real_rooms"), help="where pictures of rooms go")
    given = parser.parse_args()
    if given.table == "real_rooms" and given.real is None:
        parser.error("real_rooms needs --real, the folder of real labelled rooms")
    if given.table in ("modelnet10", "peers") and not (given.modelnet10 and given.modelnet10.is_dir()):
        parser.error(f"{given.table} needs --modelnet10, the folder of ModelNet10's h5 files; found {given.modelnet10}")
    try:
        table = import_module(f"experiments.{given.table}")
        if given.table == "real_rooms":
            table.make_table(given.weights, given.real, given.pictures)
        else:
            table.make_table(given.runs / given.table, given.modelnet10)
    except InputError as error:
        parser.error(str(error))
    except subprocess.CalledProcessError as error:  # the command has said itself what stopped it
        sys.exit(error.returncode)


main()
