"""``point2node report``: what runs achieved, as tables on the terminal, or in a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from point2node.core.errors import InputError

if TYPE_CHECKING:  # pydantic and rich are imported by the command itself: --help stays quick
    from point2node.report.overview import Report

PAGE = Path("report.html")
SUFFIXES = (".html", ".md", ".json")


def report(
    runs: Annotated[
        list[str], typer.Argument(metavar="RUN...", help="Run folders, folders of them, or evaluation JSON files.")
    ],
    html: Annotated[bool, typer.Option("--html", help=f"Write a page to read offline: {PAGE}, or --out.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")] = False,
    out: Annotated[Path | None, typer.Option(help="Write a file: .html, .md or .json.")] = None,
) -> None:
    """Compare runs with each other and with the paper; results of unlike protocols get tables of their own.

    Example: point2node report runs --html
    """
    target = _target(html, out)
    from point2node.report.overview import make_report

    made = make_report(runs)
    if as_json:
        print(json.dumps(made.as_dict(), indent=1, ensure_ascii=False))
    else:
        from rich.console import Console

        from point2node.report.terminal import print_report

        print_report(made, Console())
    if target is not None:
        _write(made, target)
        print(f"written: {target}", file=sys.stderr)


def _target(html: bool, out: Path | None) -> Path | None:
    """The file to write, if any; refused before any work is done."""
    if out is None:
        return PAGE if html else None
    suffixes = (".html",) if html else SUFFIXES
    if out.suffix.lower() not in suffixes:
        raise InputError("--out", expected=f"a name that ends in {' or '.join(suffixes)}", found=str(out))
    return out


def _write(made: Report, target: Path) -> None:
    from point2node.data.files.replacing import replacing
    from point2node.report.markdown import to_markdown
    from point2node.report.page import to_page

    match target.suffix.lower():
        case ".html":
            text = to_page(made)
        case ".md":
            text = to_markdown(made)
        case _:
            text = json.dumps(made.as_dict(), indent=1, ensure_ascii=False) + "\n"
    with replacing(target) as stream:
        stream.write(text.encode(errors="replace"))
