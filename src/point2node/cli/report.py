"""``point2node report``: compare runs in tables, or show a labelled scan on a page."""

from __future__ import annotations

import json
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.cli.progress import tell
from point2node.core.errors import InputError

if TYPE_CHECKING:  # pydantic and rich are imported by the command itself: --help stays quick
    from point2node.report.overview import Report

PAGE = Path("report.html")
GRID = Path("scans.png")
SUFFIXES = (".html", ".md", ".json")


def report(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...|LABELLED_FILE...",
            help="Run folders, folders of them, or evaluation JSON files; or labelled point clouds.",
        ),
    ],
    html: Annotated[bool, typer.Option("--html", help=f"Write an offline HTML page: {PAGE}, or --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            help="The file: .html, .md or .json; for a scan, its page [LABELLED_FILE.html]; for several, a picture."
        ),
    ] = None,
    truth: Annotated[
        list[Path] | None,
        typer.Option(help="For a scan: the same points with true labels, to compare and score with; once per scan."),
    ] = None,
    baseline: Annotated[
        list[Path] | None, typer.Option(help="For a scan: the same points labelled by another network; once per scan.")
    ] = None,
    classes: Annotated[
        str | None, typer.Option(help="The classes of a scan without .classes.json: s3dis, scannet or a YAML file.")
    ] = None,
    stills: Annotated[bool, typer.Option(help="For a scan: also write pictures next to the page.")] = True,
) -> None:
    """Compare runs with each other and with the paper; results of different protocols get separate tables.

    For a labelled scan, make one page that opens offline: the scan in 3-D, its classes and, with --truth, its scores.
    For several, draw a grid as in the paper: one row per scan; colour, ground truth, baseline and labels in columns.

    Example: point2node report runs --html

    Example: point2node report room_labelled.ply --truth room.ply
    """
    if _is_scan(what):
        if as_json:
            raise InputError("--json", expected="runs to report on", found=what[0])
        _report_scans([Path(one) for one in what], truth or [], baseline or [], classes, out, stills)
        return
    scan_options = {"--truth": truth, "--baseline": baseline, "--classes": classes, "--no-stills": not stills}
    for option, given in scan_options.items():
        if given:
            raise InputError(option, expected="a labelled point cloud to report on", found=what[0])
    _report_runs(what, html, as_json, out)


def _is_scan(arguments: list[str]) -> bool:
    """Return whether the arguments are labelled scans; raises InputError for a mix of scans and runs."""
    from point2node.formats import READABLE

    scans = [one for one in arguments if Path(one).suffix.lower() in READABLE and not Path(one).is_dir()]
    if scans and len(scans) < len(arguments):
        raise InputError(scans[0], expected="runs, or labelled scans", found=f"{scans[0]} among runs")
    return bool(scans)


def _report_scans(
    paths: list[Path], truths: list[Path], baselines: list[Path], classes: str | None, out: Path | None, stills: bool
) -> None:
    """Write the page of one scan and, if wanted, its stills; for several scans, the grid."""
    for option, given in {"--truth": truths, "--baseline": baselines}.items():
        if given and len(given) != len(paths):
            raise InputError(option, expected=f"one for each of {len(paths)} scans", found=str(len(given)))
    page = _scan_target(paths, out)
    from point2node.inference.labelled_files import read_labelled
    from point2node.show.qualitative_grid import draw_grid, row_of

    scenes = [read_labelled(path, truth, classes).upright() for path, truth in zip_longest(paths, truths)]
    others = [read_labelled(path, None, classes).upright() for path in baselines]
    rows = [row_of(scene, other) for scene, other in zip_longest(scenes, others)]
    if len(paths) > 1:
        draw_grid(rows, scenes[0].classes, page)
        print(f"written: {page}, {len(rows)} scans next to each other")
        return
    from point2node.show.scene_page import write_scene_page
    from point2node.show.stills import write_stills

    write_scene_page(scenes[0], page)
    pictures = write_stills(scenes[0], page) if stills else []
    if stills and len(rows[0].columns) > 1:
        pictures.append(page.with_name(f"{page.stem}_grid.png"))
        draw_grid(rows, scenes[0].classes, pictures[-1])
    extra = f" and {len(pictures)} stills, {page.stem}_*.png" if pictures else ""
    print(f"written: {page}{extra}; open the page in a browser")


def _scan_target(paths: list[Path], out: Path | None) -> Path:
    """Return the file to write: a page for one scan, a picture for several."""
    suffix, default = (".html", paths[0].with_suffix(".html")) if len(paths) == 1 else (".png", GRID)
    target = default if out is None else out
    if target.suffix.lower() != suffix:
        raise InputError("--out", expected=f"a name that ends in {suffix}", found=str(target))
    return target


def _report_runs(runs: list[str], html: bool, as_json: bool, out: Path | None) -> None:
    target = _target(html, out)
    from point2node.report.overview import make_report

    made = make_report(runs)
    if as_json:
        print(json.dumps(made.as_dict(), indent=1, ensure_ascii=False))
    else:
        from rich.console import Console

        from point2node.report.rendering import print_report

        print_report(made, Console())
    if target is not None:
        _write(made, target)
        tell([f"written: {target}"])


def _target(html: bool, out: Path | None) -> Path | None:
    """Return the file to write, if any; checked before any work is done."""
    if out is None:
        return PAGE if html else None
    suffixes = (".html",) if html else SUFFIXES
    if out.suffix.lower() not in suffixes:
        raise InputError("--out", expected=f"a name that ends in {' or '.join(suffixes)}", found=str(out))
    return out


def _write(made: Report, target: Path) -> None:
    from point2node.core.writing import replacing
    from point2node.report.rendering import to_markdown, to_page

    match target.suffix.lower():
        case ".html":
            text = to_page(made)
        case ".md":
            text = to_markdown(made)
        case _:
            text = json.dumps(made.as_dict(), indent=1, ensure_ascii=False) + "\n"
    with replacing(target) as stream:
        stream.write(text.encode(errors="replace"))
