"""Pages of the site that are not in docs/: the API reference, and the files of the repository that pages link to.

mkdocs calls the functions whose names start with on_. In docs/ links stay as GitHub resolves them; here they become
links to the site's own copies, so that the site is complete by itself.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import point2node

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(#[^)\s]*)?(?=\))")
CODE = {".py": "python", ".yaml": "yaml"}
"""Files that are shown as highlighted text, by their suffix."""
COPIED = (".csv", ".json")
"""Files that are copied as they are."""

REFERENCE = {
    "labels": ("Labels", ["Labeller", "Labelled", "load", "ShapeClassifier", "InputError"]),
    "files": ("Files", ["PointCloud", "read", "write", "sample_mesh"]),
    "data": ("Data", ["open_store", "RoomBlocks", "ShapeClouds", "Collate", "generate_room"]),
    "networks": (
        "Networks",
        [
            "create_model",
            "list_models",
            "SIZES",
            "Network",
            "Point2NodeSegmenter",
            "Point2NodeClassifier",
            "models.point2node.design.Design",
            "models.point2node.explanation",
        ],
    ),
    "layers": (
        "Layers of the paper",
        [
            "models.point2node.method",
            "models.point2node.stages",
            "models.point2node.chi_conv",
            "models.point2node.feature_extraction",
            "models.layers",
            "models.batch_norm",
        ],
    ),
    "reference-models": (
        "Reference models",
        [
            f"models.reference.{path.stem}"
            for path in sorted((ROOT / "src/point2node/models/reference").glob("[!_]*.py"))
        ],
    ),
    "operators": (
        "Operators",
        [
            "models.operators.chi_product",
            "models.operators.local_update",
            "models.operators.non_local_update",
            "models.operators.depthwise",
            "models.operators.narrow_linear",
            "models.operators.activation_norm",
            "kernels.calling",
        ],
    ),
    "geometry": (
        "Geometry",
        [
            "geometry.pyramid",
            "geometry.neighbours",
            "geometry.sampling",
            "geometry.coordinates",
            "geometry.blocks",
        ],
    ),
}
"""The pages of the API reference: the title of each and what is on it, in the package point2node."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages."""
    for uri, text in reference_pages():
        files.append(File.generated(config, uri, content=text))
    waiting = [DOCS / file.src_uri for file in files.documentation_pages() if file.generated_by is None]
    seen = {site_uri(page) for page in waiting}
    while waiting:
        page = waiting.pop()
        for path in linked_files(page):
            uri = site_uri(path)
            if uri in seen or path.is_relative_to(DOCS):
                continue
            seen.add(uri)
            waiting.append(path)
            if path.suffix in COPIED:
                files.append(File.generated(config, uri, abs_src_path=str(path)))
            else:
                files.append(File.generated(config, uri, content=shown(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn the links of a page in docs/."""
    return turn_links(markdown, DOCS / page.file.src_uri) if page.file.generated_by is None else markdown


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Tell mkdocs the anchors of code lines, which it does not see, so that it checks the links to them."""
    page.present_anchor_ids.update(re.findall(r'id="(__codelineno-0-\d+)"', html))
    return html


def reference_pages() -> Iterator[tuple[str, str]]:
    """The API reference: where each page goes, and its text."""
    names = sorted(set(point2node.__all__) - {"__version__"}, key=str.lower)
    rows = "".join(f"- [`point2node.{name}`][point2node.{name}]\n" for name in names)  # checked: each has a page
    yield "reference/index.md", f"# API reference\n\nThe public names:\n\n{rows}"
    for page, (title, names) in REFERENCE.items():
        yield f"reference/{page}.md", f"# {title}\n\n" + "".join(f"::: point2node.{name}\n\n" for name in names)


def linked_files(page: Path) -> Iterator[Path]:
    """What a page or a folder links to: files and folders of the repository."""
    if page.is_dir():
        yield from listed(page)
    elif page.suffix == ".md":
        for target, _ in LINK.findall(page.read_text(encoding="utf-8")):
            path = (page.parent / target).resolve()
            if path.exists() and path.is_relative_to(ROOT):
                yield path


def listed(folder: Path) -> list[Path]:
    """The files below a folder that the site has copies of."""
    suffixes = (".md", *CODE, *COPIED)
    return sorted(path for path in folder.rglob("*") if path.suffix in suffixes)


def site_uri(path: Path) -> str:
    """Where the site's copy of a file is."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    place = f"repository/{path.relative_to(ROOT).as_posix()}"
    if path.is_dir():
        return f"{place}/index.md"
    return place if path.suffix in (".md", *COPIED) else f"{place}.md"


def shown(path: Path) -> str:
    """The page of a file or a folder outside docs/."""
    name = path.relative_to(ROOT).as_posix()
    if path.is_dir():
        entries = [
            f"- [{file.relative_to(path).as_posix()}]({relative(file, site_uri(path))})" for file in listed(path)
        ]
        return "\n".join([f"# {name}", "", *entries, ""])
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return turn_links(text, path)
    wide = "---\nhide: [navigation, toc]\n---\n\n"  # lines have up to 120 characters
    return f'{wide}# {name}\n\n````{CODE.get(path.suffix, "text")} linenums="1"\n{text}````\n'


def turn_links(markdown: str, page: Path) -> str:
    """The text of a page with its links to files of the repository turned into links to the site's copies."""

    def turn(match: re.Match[str]) -> str:
        target, anchor = match[1], match[2] or ""
        path = (page.parent / target).resolve()
        if not path.exists() or not path.is_relative_to(ROOT):
            return match[0]
        return relative(path, site_uri(page)) + re.sub(r"^#L(\d+)$", r"#__codelineno-0-\1", anchor)

    return LINK.sub(turn, markdown)


def relative(path: Path, uri: str) -> str:
    """A link from the page at ``uri`` to the site's copy of a file."""
    return Path(os.path.relpath(site_uri(path), Path(uri).parent)).as_posix()
