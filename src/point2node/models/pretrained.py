"""Pretrained networks by name: finding the file, reading which network it needs, and saving your own."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, fields
from importlib import import_module, resources
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypedDict, Unpack

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from torch import Tensor

from point2node.core.documents import parse_json
from point2node.core.errors import InputError
from point2node.core.words import WIDTHS
from point2node.core.writing import reason, replacing
from point2node.models.point2node.design import DEFAULT, Design
from point2node.models.weights_file import note_error, read_tensors, write_tensors

SUFFIX = ".safetensors"
MODEL, CONFIG, README = "model.safetensors", "config.json", "README.md"
"""The files of a saved folder; the first two names are those of the Hugging Face Hub."""
BEST = "best.safetensors"
"""The weights to load from the folder of a training."""
ABOUT = """---
library_name: point2node
tags: [point-cloud, {task}]
---

```python
import point2node

model = point2node.Network.from_pretrained("{name}")
```
"""


class NetworkCard(BaseModel):
    """The arguments of ``create_model``, as the note of a weights file contains them.

    Notes of trained weights list classes and features instead of their counts, and contain more than a network needs.
    """

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: str
    size: str
    variant: str | None = None
    width: int | None = None
    dropout: float | None = None
    design: Design = DEFAULT
    num_classes: int
    in_features: int

    @model_validator(mode="before")
    @classmethod
    def _count_classes_and_features(cls, note: Any) -> Any:
        if not isinstance(note, dict):
            return note
        counted: dict[str, Any] = {}
        if "design" not in note:
            counted["design"] = {one.name: note[one.name] for one in fields(Design) if one.name in note}
        if isinstance(note.get("classes"), list | tuple):
            counted["num_classes"] = len(note["classes"])
        if isinstance(note.get("features"), list | tuple):
            unknown = [name for name in note["features"] if not isinstance(name, str) or name not in WIDTHS]
            if unknown:
                raise ValueError(f"unknown feature {unknown[0]!r}")
            counted["in_features"] = sum(WIDTHS[name] for name in note["features"])
        return note | counted

    @property
    def note(self) -> dict[str, Any]:
        """Return the card as it is written to a file."""
        return self.model_dump(mode="json", exclude={"design"}) | asdict(self.design)


def pretrained_names() -> tuple[str, ...]:
    """Return the names of the pretrained models that come with the package."""
    folder = resources.files("point2node") / "weights"
    if not folder.is_dir():
        return ()
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in folder.iterdir() if file.name.endswith(SUFFIX)))


@contextmanager
def pretrained_file(name: str) -> Iterator[Path]:
    """Open a pretrained model of the package after checking its checksum against its card."""
    folder = resources.files("point2node") / "weights"
    weights = folder / f"{name}{SUFFIX}"
    card = parse_json((folder / f"{name}.json").read_text(encoding="utf-8"))
    expected, found = str(card["sha256"]), hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != expected:
        raise InputError(
            f"pretrained model {name!r}",
            expected=f"the checksum {expected[:16]}…",
            found=f"{found[:16]}…",
            remedy="The installation is damaged: install point2node again.",
        )
    with resources.as_file(weights) as file:
        yield file


def fetch(name: str | PathLike[str], **hub: Unpack[HubOptions]) -> str:
    """Return the name as it is or, if it is that of a repository ("user/name"), the folder it was downloaded to.

    Existing folders and files come first: nothing is downloaded for their names, nor for a ``Path``.
    """
    text = fspath(name)
    if not isinstance(name, str) or text in pretrained_names() or Path(text).exists() or not REPOSITORY.fullmatch(text):
        return text
    return str(download(text, (MODEL, CONFIG), **hub))


def read_pretrained(name: str | PathLike[str], **hub: Unpack[HubOptions]) -> tuple[Path, Mapping[str, Tensor], Any]:
    """Return the file that ``name`` refers to, its tensors and its note.

    ``name`` is a pretrained model, a folder written by ``save_pretrained`` or by a training, a .safetensors file, or a
    repository of the Hugging Face Hub.
    """
    place = fetch(name, **hub)
    path = Path(place)
    saved = next((path / file for file in (MODEL, BEST) if (path / file).is_file()), None)
    if saved is not None:
        return saved, *read_tensors(saved)
    if path.is_file():
        return path, *read_tensors(path)
    if place in pretrained_names():  # after the folders: one with scans may have this name
        with pretrained_file(place) as file:
            return file, *read_tensors(file)
    if path.is_dir():
        raise InputError(path, expected=f"a folder with {MODEL}, or {BEST} of a training", found="neither")
    known = ", ".join(pretrained_names())
    expected = f"a pretrained model ({known}), a folder, a {SUFFIX} file or a repository 'user/name'"
    raise InputError(place, expected=expected, found="nothing there", remedy=REMEDY)


def save_pretrained(
    path: Path, tensors: Mapping[str, Tensor], note: Mapping[str, Any], *, task: str, name: str
) -> None:
    """Write a folder that can be loaded or uploaded; an existing README is kept."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(path, expected="a folder that can be written", found=reason(error)) from error
    write_tensors(path / MODEL, tensors, json.dumps(note, sort_keys=True))
    texts = {CONFIG: json.dumps(note, sort_keys=True, indent=1) + "\n"}
    if not (path / README).exists():
        texts[README] = ABOUT.format(task=task, name=name)
    for file, text in texts.items():
        with replacing(path / file) as stream:
            stream.write(text.encode())


def card_of_note(path: Path, note: Any) -> NetworkCard:
    """Parse the note of a weights file; raise InputError if it is not valid."""
    try:
        return NetworkCard.model_validate(note)
    except ValidationError as error:
        raise note_error(path, error) from error


REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
"""The form of a repository name: "user/name"."""
REMEDY = "For the Hugging Face Hub, run: pip install 'point2node[hub]'"


class HubOptions(TypedDict, total=False):
    """Options for downloading a repository; names and defaults are those of ``huggingface_hub``."""

    revision: str
    """A branch, a tag or a commit."""
    cache_dir: str | Path
    token: str | bool
    local_files_only: bool
    force_download: bool


class UploadOptions(TypedDict, total=False):
    """Options for uploading a folder; names and defaults are those of ``huggingface_hub``."""

    commit_message: str
    private: bool
    token: str
    branch: str
    create_pr: bool


def download(repository: str, files: tuple[str, ...], **options: Any) -> Path:
    """Download only these files of a repository, and return the folder that contains them."""
    library = _library(repository)
    with _failures_reported(repository, "a repository that can be downloaded"):
        return Path(library.snapshot_download(repository, allow_patterns=list(files), **options))


def upload(folder: Path, repository: str, options: UploadOptions) -> str:
    """Upload all files of a folder, to a new repository if it does not exist, and return the URL of the commit."""
    library = _library(repository)
    with _failures_reported(repository, "a repository that can be written"):
        api = library.HfApi(token=options.get("token"))
        name = api.create_repo(repository, private=options.get("private"), exist_ok=True).repo_id
        if "branch" in options:
            api.create_branch(name, branch=options["branch"], exist_ok=True)
        commit = api.upload_folder(
            repo_id=name,
            folder_path=folder,
            commit_message=options.get("commit_message", "Push model using point2node."),
            revision=options.get("branch"),
            create_pr=options.get("create_pr"),
        )
        return str(commit)


def _library(repository: str) -> Any:
    try:
        return import_module("huggingface_hub")
    except ModuleNotFoundError as error:
        expected = "the library huggingface_hub to be installed"
        raise InputError(repository, expected=expected, found="none", remedy=REMEDY) from error


@contextmanager
def _failures_reported(repository: str, expected: str) -> Iterator[None]:
    """Turn the library's many exceptions, for a missing repository, network or permission, into an InputError."""
    try:
        yield
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(repository, expected=expected, found=reason.rstrip(".")) from error
