"""The labelled scan as files to save: in the scan's own format, and the one that names the classes."""

from __future__ import annotations

from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

from point2node.data.label_sidecar import sidecar_path
from point2node.inference.labelled import LabelledCloud
from point2node.show.viewer.scan import Scan


def labelled_files(scan: Scan, labelled: LabelledCloud) -> list[tuple[str, bytes]]:
    """Names and contents; a PLY where the scan's format cannot hold labels."""
    stem = PurePath(scan.name).stem + "_labelled"
    with TemporaryDirectory(prefix="point2node-") as folder:
        written = labelled.save(Path(folder) / f"scan{scan.suffix}")
        target = PurePath(stem + written.suffix)
        return [
            (target.name, written.read_bytes()),
            (sidecar_path(Path(target)).name, sidecar_path(written).read_bytes()),
        ]
