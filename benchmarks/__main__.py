"""``python -m benchmarks [SECTION ...]``: tables on stdout, JSON in results/; all sections by default.

``python -m benchmarks --markdown [SECTION ...]`` prints the last results as a table; without a section, the table of
docs/performance.md.
"""

import sys
from importlib import import_module

from benchmarks.measure import markdown, write_rows

SECTIONS = (
    "geometry",
    "operators",
    "chi_conv",
    "appendix_a",
    "files",
    "steps",
    "memory",
    "labelling",
    "versions",
    "folders",
    "scaling",
    "roofline",
)
DOCUMENTED = (
    "geometry",
    "operators",
    "chi_conv",
    "files",
    "steps",
    "memory",
    "labelling",
    "labelling_large",
    "versions",
    "versions_large",
    "folders",
    "scaling",
    "peers",
    "forest",
)


def main(words: list[str]) -> None:
    if words[:1] == ["--markdown"]:
        print(markdown(words[1:] or DOCUMENTED))
        return
    if unknown := set(words) - set(SECTIONS):
        sys.exit(f"unknown: {', '.join(unknown)}; choose from {', '.join(SECTIONS)}")
    for name in words or SECTIONS:
        print(f"-- {name}", flush=True)
        write_rows(name, import_module(f"benchmarks.{name}").measure())


main(sys.argv[1:])
