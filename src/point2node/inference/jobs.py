"""One scan from its file to the labelled file, and whether that was done before."""

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
from point2node.inference.scan_check import InputCard, apply_fixes, examine_cloud, settle_scale
from point2node.inference.scans import Job

MOST_FIXES = 4
"""Scale, axis and colour can each be wrong once; more would be going round in circles."""

MOST_TRIES = 3
"""How many processes a scan may take down, and how often it may run out of memory, before it is given up."""
OUT_OF_MEMORY = "ran out of memory on every try; label it with --thin 0.02, or where there is more memory"


@dataclass(frozen=True)
class Request:
    """All that a labelled file depends on; one that was made for the same request need not be made again."""

    input: str
    size: int
    modified: int
    """Nanoseconds, as the file system says; of a remote file a number that changes with it."""
    weights: str
    """A checksum of every number in them."""
    options: Options
    auto: bool
    suffix: str
    """Of the format asked for."""
    output: dict[str, str]
    """The rules of the output; empty for the labels as they are."""


def request_of(job: Job, weights: str, options: Options, auto: bool, rules: OutputRules | None = None) -> Request:
    """What is asked for, of weights with this checksum."""
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
    """The labelled file of this very request, if it is there already."""
    for target in (job.target, job.target.with_suffix(FALLBACK)):
        note = read_note(target)
        if note.get("request") == _as_note(request) and target.is_file():
            return target
    return None


def refuse_foreign(job: Job) -> None:
    """Refuse to write over a file that no labelling made."""
    for target in (job.target, job.target.with_suffix(FALLBACK)):
        try:
            foreign = target.exists() and not _note_of(target).is_file()
        except OSError as error:
            raise InputError(target, expected="a place that can be looked at", found=reason(error)) from error
        if foreign:
            remedy = "Choose another --out, or --overwrite."
            raise InputError(target, expected="no file, or one that was labelled", found="another file", remedy=remedy)


@contextmanager
def brought_here(job: Job) -> Iterator[Job]:
    """The job on local files: a remote scan is fetched, and what is written for a remote folder is sent at the end.

    The file beside the labelled one is sent last, and says until then that the others are being replaced: whoever finds
    it whole finds the others whole.
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
            raise InputError(job.scan, expected="a file that can be fetched and sent", found=reason(error)) from error
        except InputError as error:  # the temporary file is gone when somebody reads this
            where = error.where.replace(str(scan), str(job.scan))
            raise InputError(where, expected=error.expected, found=error.found, remedy=error.remedy) from error


def _send_results(results: Path, folder: RemotePath) -> None:
    notes = sorted(results.glob(sidecar_name("*")))
    for note in notes:
        (folder / note.name).write_bytes(encode_note(UNFINISHED))
    for path in (*sorted(set(results.iterdir()) - set(notes)), *notes):
        (folder / path.name).send(path)


@dataclass(frozen=True, eq=False)
class LookedAt:
    """A scan that was read and examined."""

    cloud: PointCloud
    """Its points; of one that is larger than memory, the mean points of its cubes."""
    card: InputCard
    options: Options
    """Those given, with the scan's unit and with what was fixed."""
    fixes: tuple[str, ...]
    """What was done to them."""
    large: LargeScan | None = None
    """The scan itself, where it is larger than memory."""


@contextmanager
def look_at(
    job: Job,
    labeller: SceneLabeller,
    options: Options,
    auto: bool,
    say: Callable[[str], None],
    rules: OutputRules | None = None,
) -> Iterator[LookedAt]:
    """Read the scan and examine it; with ``auto``, fix what is obvious.

    Inside, the work on a scan that is larger than memory is kept on disk: after an error or a kill, the same request
    resumes it.
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
            options, why = settle_scale(cloud, labeller, options)
            large = None
        else:
            check_rules(rules, name)
            say(f"{name}: {pieces.points:,} points are more than fit into memory: they are read in pieces")
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
            card = examine_cloud(cloud, labeller, options, name)  # a scale may show that the axis is wrong, too
            auto = len(fixes) < MOST_FIXES
        if large is not None:
            points = large.pieces.points
            card = replace(card, points=points, spacing=card.spacing * (len(cloud) / points) ** 0.5)
        yield LookedAt(cloud, card, options, tuple(fixes), large)


def _survey(
    pieces: Pieces, labeller: SceneLabeller, options: Options, kept: KeptWork, name: str
) -> tuple[LargeScan, Options, str]:
    """A scan that is larger than memory with its cubes, the options with its unit, and why it is that."""
    found = kept.load("cubes")
    if found is None:
        options, why = settle_scale(sample_pieces(pieces), labeller, options)
        assert options.scale is not None
        cubes = survey(pieces, labeller.cube(options) / FINER / options.scale, name, options.memory)
        kept.save("cubes", [np.array(why), np.array(options.scale), *cubes.as_arrays()])
    else:
        options, why = replace(options, scale=float(found[1])), str(found[0])
        cubes = Cubes.from_arrays(found[2:], pieces)
        kept.say_resumed(f"with the {len(cubes.cloud):,} cubes that its points lie in")
    return LargeScan(pieces, cubes, kept), options, why


def label_scan(
    job: Job,
    scan: LookedAt,
    labeller: SceneLabeller,
    request: Request,
    report: Report,
    rules: OutputRules | None = None,
) -> tuple[Written, LabelledCloud]:
    """Label the scan and write the result, by the rules if any; returns what was written, and what to draw of it."""
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
    """A folder that results can be written into; one that was made for them and stays empty is removed.

    What killed runs left unfinished where the results go is removed, too, unless the folder is ``shared`` with runs on
    other machines: not every network drive tells here what is locked there.
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
            with suppress(OSError):  # it holds something
                folder.rmdir()


def remove_unfinished(jobs: Iterable[Job]) -> None:
    """Remove what killed processes left where the results of these jobs go."""
    for place in {job.target.parent for job in jobs}:
        if isinstance(place, Path):
            remove_abandoned(place)


def rounding_of(target: Path, cloud: PointCloud) -> float:
    """By how much, in the scan's unit, coordinates may change in this file; 0 in all formats but a new LAS."""
    is_new_las = target.suffix.lower() in (".las", ".laz") and not isinstance(cloud.origin, LasOrigin)
    return coding_scale(cloud.xyz) / 2 if is_new_las else 0.0


def make_folder(folder: Path) -> None:
    """Make a folder for results, if it is not there; refused where nothing can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(folder, expected="a folder that can be written", found=reason(error)) from error


def checksum_of(labeller: SceneLabeller) -> str:
    """The SHA-256 of all tensors of the weights."""
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
    """What the file beside a labelled one says; nothing where there is none that can be read."""
    try:
        note = parse_json(_note_of(target).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return note if isinstance(note, dict) else {}
