"""``python -m benchmarks [SECTION ...]``: tables on stdout, JSON in results/; all sections if none is named.

``python -m benchmarks --markdown`` prints the table of README.md from the JSON of the last runs.
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
    "scaling",
    "roofline",
)


def main(words: list[str]) -> None:
    if words == ["--markdown"]:
        print(markdown((*SECTIONS, "peers")))
        return
    if unknown := set(words) - set(SECTIONS):
        sys.exit(f"unknown: {', '.join(unknown)}; there are {', '.join(SECTIONS)}")
    for name in words or SECTIONS:
        print(f"-- {name}", flush=True)
        write_rows(name, import_module(f"benchmarks.{name}").measure())


main(sys.argv[1:])
