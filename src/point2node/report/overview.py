"""A whole report: the tables of all results, and the runs without results."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from point2node._version import __version__
from point2node.report.ablation import find_ablations, judge_claims, tabulate_variants
from point2node.report.comparison import compare
from point2node.report.protocols import describe_differences, group_by_protocol
from point2node.report.results import Found, find_results
from point2node.report.tables import Table

FORMAT = 1


@dataclass(frozen=True)
class Report:
    """Tables of results, one set for each protocol."""

    lead: str
    """How the protocols differ; empty if there is only one."""
    tables: tuple[Table, ...]
    missing: tuple[str, ...]
    """The runs that were not evaluated, and what to do about it."""

    def as_dict(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        return {
            "format": FORMAT,
            "point2node": __version__,
            "lead": self.lead,
            "tables": [table.as_dict() for table in self.tables],
            "missing": list(self.missing),
        }


def make_report(arguments: Iterable[str]) -> Report:
    """Report on run folders, folders of run folders and evaluation files."""
    return assemble(find_results(arguments))


def assemble(found: Found) -> Report:
    """Report on the results that were found."""
    groups = group_by_protocol(found.results)
    tables: list[Table] = []
    for group in groups:
        tables.append(compare(group))
        for ablation in find_ablations(group):
            tables += [tabulate_variants(ablation), judge_claims(ablation)]
    missing = tuple(_describe_missing(str(path)) for path in found.not_evaluated)
    return Report(describe_differences(groups), tuple(tables), missing)


def _describe_missing(path: str) -> str:
    argument = f'"{path}"' if " " in path else path
    return f"{path}: not evaluated; run 'point2node evaluate {argument}'"
