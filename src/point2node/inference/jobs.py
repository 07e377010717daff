"""Label one scan, from its file to the labelled file, and check whether that was already done."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import numpy as np

from point2node._version import __version__
from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.memory import memory_limited
from point2node.core.point_cloud import PointCloud
from point2node.core.words import Report
from point2node.core.writing import TEMPORARY, reason, remove_abandoned
from point2node.data.label_sidecar import UNFINISHED, sidecar_name
from point2node.data.remote import Place, RemotePath
from point2node.formats import Pieces, read
from point2node.formats.las_header import LasOrigin, coding_scale
from point2node.inference.kept_work import KeptWork, kept_work, remove_kept_work
from point2node.inference.labelled import LabelledCloud
from point2node.inference.labelled_files import (
    FALLBACK,
    Written,
    encode_note,
    write_labelled,
    write_labelled_pieces,
)
from point2node.inference.labeller import Options, SceneLabeller
from point2node.inference.large_scans import (
    FINER,
    Cubes,
    LargeScan,
    check_rules,
    pieces_if_large,
    sample_pieces,
    survey,
)
from point2node.inference.output_rules import OutputRules
from point2node.inference.scan_check import InputCard, apply_fixes, choose_scale, examine_cloud
from point2node.inference.scans import Job

MOST_FIXES = 4
"""Scale, axis and colour can each be wrong once; more fixes would be a loop."""

MOST_TRIES = 3
"""How many processes a scan may kill, and how often it may run out of memory, before it is given up."""
OUT_OF_MEMORY = "ran out of memory on every try; label it with --thin 0.02, or on a machine with more memory"


@dataclass(frozen=True)
class Request:
    """Everything that a labelled file depends on; the file of an equal request is reused."""

    input: str
    size: int
    modified: int
    """Modification time in nanoseconds; for a remote file, a number that changes with it."""
    weights: str
    """The checksum of the weights."""
    options: Options
    auto: bool
    suffix: str
    """The suffix of the requested format."""
    output: dict[str, str]
    """The output rules; empty if labels are written unchanged."""


def request_of(job: Job, weights: str, options: Options, auto: bool, rules: OutputRules | None = None) -> Request:
    """Return the request for a job with weights of this checksum."""
    try:
        status = job.scan.stat()
    except OSError as error:
        raise InputError(job.scan, expected="a file that can be read", found=reason(error)) from error
    return Request(
        input=job.name,
        size=status.st_size,
        modified=status.st_mtime_ns,
        weights=weights,
        options=options,
        auto=auto,
        suffix=job.target.suffix,
        output={} if rules is None else rules.words,
    )


def finished_target(job: Job, request: Request) -> Place | None:
    """Return the labelled file of exactly this request, if it exists."""
    for target in (job.target, job.target.with_suffix(FALLBACK)):
        note = read_note(target)
        if note.get("request") == _as_note(request) and target.is_file():
            return target
    return None


def check_target(job: Job) -> None:
    """Raise InputError if the target is a file that was not written by Point2Node."""
    for target in (job.target, job.target.with_suffix(FALLBACK)):
        try:
            foreign = target.exists() and not _note_of(target).is_file()
        except OSError as error:
            raise InputError(target, expected="an accessible path", found=reason(error)) from error
        if foreign:
            remedy = "Choose another --out, or --overwrite."
            raise InputError(target, expected="no file, or one that was labelled", found="another file", remedy=remedy)


@contextmanager
def local_files(job: Job) -> Iterator[Job]:
    """Yield the job with local files: a remote scan is downloaded, and results for a remote folder are uploaded.

    The sidecar is uploaded last, and until then a placeholder states that the other files are being replaced: if the
    sidecar is complete, so are the others.
    """
    if job.is_local:
        yield job
        return
    with TemporaryDirectory(prefix=TEMPORARY) as folder:
        scan = Path(folder, job.scan.name) if isinstance(job.scan, RemotePath) else job.scan
        target = Path(folder, "results", job.target.name) if isinstance(job.target, RemotePath) else job.target
        try:
            if isinstance(job.scan, RemotePath):
                job.scan.fetch(scan)
            yield Job(scan, target)
            if isinstance(job.target, RemotePath):
                _send_results(target.parent, job.target.parent)
        except OSError as error:
            raise InputError(
                job.scan, expected="a file that can be downloaded and uploaded", found=reason(error)
            ) from error
        except InputError as error:  # the temporary file is gone by the time this is read
            where = error.where.replace(str(scan), str(job.scan))
            raise InputError(where, expected=error.expected, found=error.found, remedy=error.remedy) from error


def _send_results(results: Path, folder: RemotePath) -> None:
    notes = sorted(results.glob(sidecar_name("*")))
    for note in notes:
        (folder / note.name).write_bytes(encode_note(UNFINISHED))
    for path in (*sorted(set(results.iterdir()) - set(notes)), *notes):
        (folder / path.name).send(path)


@dataclass(frozen=True, eq=False)
class OpenedScan:
    """A scan that was read and checked."""

    cloud: PointCloud
    """The points of the scan; if it is larger than memory, the mean points of its cubes."""
    card: InputCard
    options: Options
    """The given options with the scan's unit and all fixes."""
    fixes: tuple[str, ...]
    """A description of each fix."""
    large: LargeScan | None = None
    """The scan itself, if it is larger than memory."""


@contextmanager
def open_scan(
    job: Job,
    labeller: SceneLabeller,
    options: Options,
    auto: bool,
    say: Callable[[str], None],
    rules: OutputRules | None = None,
) -> Iterator[OpenedScan]:
    """Read and check the scan; with ``auto``, apply obvious fixes.

    Inside the context, the work on a scan that is larger than memory is kept on disk: after an error or a kill, the
    same request resumes it.
    """
    assert isinstance(job.scan, Path)
    assert isinstance(job.target, Path)
    name = str(job.scan)
    pieces = pieces_if_large(job.scan, labeller.cube(options), options.memory)
    with ExitStack() as stack:
        if pieces is None:
            remove_kept_work(job.target)  # of a run that had less memory
            with memory_limited(options.memory):
                cloud = read(job.scan)
            options, why = choose_scale(cloud, labeller, options)
            large = None
        else:
            check_rules(rules, name)
            say(f"{name}: {pieces.points:,} points do not fit into memory: they are read in pieces")
            make_folder(job.target.parent)
            request = request_of(job, checksum_of(labeller), replace(options, memory=None), auto, rules)
            what = {"point2node": __version__, **_as_note(request)}
            kept = stack.enter_context(kept_work(job.target, what, name, say))
            large, options, why = _survey(pieces, labeller, options, kept, name)
            cloud = large.cubes.cloud
        card = examine_cloud(cloud, labeller, options, name)
        fixes = [why] if why else []
        while auto:
            options, more = apply_fixes(options, card)
            if not more:
                break
            fixes += more
            card = examine_cloud(cloud, labeller, options, name)  # a fixed scale may reveal that the axis is wrong too
            auto = len(fixes) < MOST_FIXES
        if large is not None:
            points = large.pieces.points
            card = replace(card, points=points, spacing=card.spacing * (len(cloud) / points) ** 0.5)
        yield OpenedScan(cloud, card, options, tuple(fixes), large)


def _survey(
    pieces: Pieces, labeller: SceneLabeller, options: Options, kept: KeptWork, name: str
) -> tuple[LargeScan, Options, str]:
    """Return a scan that is larger than memory with its cubes, the options with its unit, and the reason for it."""
    found = kept.load("cubes")
    if found is None:
        options, why = choose_scale(sample_pieces(pieces), labeller, options)
        assert options.scale is not None
        cubes = survey(pieces, labeller.cube(options) / FINER / options.scale, name, options.memory)
        kept.save("cubes", [np.array(why), np.array(options.scale), *cubes.as_arrays()])
    else:
        options, why = replace(options, scale=float(found[1])), str(found[0])
        cubes = Cubes.from_arrays(found[2:], pieces)
        kept.report_resumed(f"with the {len(cubes.cloud):,} cubes that contain its points")
    return LargeScan(pieces, cubes, kept), options, why


def label_scan(
    job: Job,
    scan: OpenedScan,
    labeller: SceneLabeller,
    request: Request,
    report: Report,
    rules: OutputRules | None = None,
) -> tuple[Written, LabelledCloud]:
    """Label the scan and write the result, with any rules applied; returns the file and the cloud to draw."""
    assert isinstance(job.target, Path)
    if rules is not None:
        rules.check(scan.cloud, scan.options.up, str(job.scan))
    kept = None if scan.large is None else scan.large.kept
    labelled = labeller.label(scan.cloud, scan.options, report, job.name, kept)
    make_folder(job.target.parent)
    note = {"request": _as_note(request)}
    if scan.large is not None:
        labelled = scan.large.describe(labelled)
        pieces = scan.large.spread(labelled, rules)
        shown = labelled if rules is None else rules.apply(labelled)
        return write_labelled_pieces(job.target, pieces, scan.large.pieces.points, shown, note), shown
    if rules is not None:
        labelled = rules.apply(labelled)
    target = write_labelled(job.target, labelled, note)
    return Written(target, len(labelled), labelled.counts), labelled


@contextmanager
def results_folder(folder: Place, jobs: Iterable[Job], *, shared: bool = False) -> Iterator[None]:
    """Make a folder for results; if it is new and stays empty, it is removed at the end.

    Unfinished files of killed runs are also removed, unless the folder is ``shared`` with runs on other machines: not
    every network drive shows the locks of other machines.
    """
    if not isinstance(folder, Path):
        yield
        return
    existed = folder.exists()
    make_folder(folder)
    if not shared:
        remove_unfinished(jobs)
    try:
        yield
    finally:
        if not existed:
            with suppress(OSError):  # it is not empty
                folder.rmdir()


def remove_unfinished(jobs: Iterable[Job]) -> None:
    """Remove what killed processes left in the target folders of these jobs."""
    for place in {job.target.parent for job in jobs}:
        if isinstance(place, Path):
            remove_abandoned(place)


def rounding_of(target: Path, cloud: PointCloud) -> float:
    """Return the largest rounding error of coordinates in this file, in the scan's unit; 0 except for a new LAS."""
    is_new_las = target.suffix.lower() in (".las", ".laz") and not isinstance(cloud.origin, LasOrigin)
    return coding_scale(cloud.xyz) / 2 if is_new_las else 0.0


def make_folder(folder: Path) -> None:
    """Make a folder for results if it is missing; raises InputError if it is not writable."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(folder, expected="a folder that can be written", found=reason(error)) from error


def checksum_of(labeller: SceneLabeller) -> str:
    """Return the SHA-256 of all tensors of the weights."""
    digest = hashlib.sha256()
    for name, tensor in labeller.network.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


def _as_note(request: Request) -> dict[str, Any]:
    return asdict(request)


def _note_of(target: Place) -> Place:
    return target.with_name(sidecar_name(target.name))


def read_note(target: Place) -> dict[str, Any]:
    """Read the sidecar of a labelled file; empty if there is no readable one."""
    try:
        note = parse_json(_note_of(target).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
