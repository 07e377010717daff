"""A whole report: the tables that results give, and what is missing."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from point2node._version import __version__
from point2node.report.ablation import find_ablations, judge_claims, tabulate_variants
from point2node.report.comparison import compare
from point2node.report.protocols import group_by_protocol, tell_differences
from point2node.report.results import Found, find_results
from point2node.report.tables import Table

FORMAT = 1


@dataclass(frozen=True)
class Report:
    """Tables of results, one set for each protocol."""

    lead: str
    """In what the protocols differ; empty for a single one."""
    tables: tuple[Table, ...]
    missing: tuple[str, ...]
    """The runs that were not evaluated, and what to do about it."""

    def as_dict(self) -> dict[str, Any]:
        """The report as JSON has it."""
        return {
            "format": FORMAT,
            "point2node": __version__,
            "lead": self.lead,
            "tables": [table.as_dict() for table in self.tables],
            "missing": list(self.missing),
        }


def make_report(arguments: Iterable[str]) -> Report:
    """The report on run folders, folders of them and evaluation files."""
    return assemble(find_results(arguments))


def assemble(found: Found) -> Report:
    """The report on what was found."""
    groups = group_by_protocol(found.results)
    tables: list[Table] = []
    for group in groups:
        tables.append(compare(group))
        for ablation in find_ablations(group):
            tables += [tabulate_variants(ablation), judge_claims(ablation)]
    missing = tuple(_tell_missing(str(path)) for path in found.not_evaluated)
    return Report(tell_differences(groups), tuple(tables), missing)


def _tell_missing(path: str) -> str:
    argument = f'"{path}"' if " " in path else path
    return f"{path}: not evaluated; run 'point2node evaluate {argument}'"
