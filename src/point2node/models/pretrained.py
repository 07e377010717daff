"""Pretrained networks by name: which file is meant, what its note says of the network, and saving one's own."""

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
from point2node.models.weights_file import note_refused, read_tensors, write_tensors

SUFFIX = ".safetensors"
MODEL, CONFIG, README = "model.safetensors", "config.json", "README.md"
"""What a saved folder holds; the first two are the names that the Hugging Face Hub knows."""
BEST = "best.safetensors"
"""The weights that count in the folder of a training."""
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
    """The arguments of ``create_model``, as the note of a weights file tells them.

    Notes of trained weights list classes and features instead of their numbers, and say more that is not for networks.
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
    def _counted(cls, note: Any) -> Any:
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
        """The card as it stands in a file."""
        return self.model_dump(mode="json", exclude={"design"}) | asdict(self.design)


def shipped_weights() -> tuple[str, ...]:
    """The names of the weights that come with the package."""
    folder = resources.files("point2node") / "weights"
    if not folder.is_dir():
        return ()
    return tuple(sorted(file.name.removesuffix(SUFFIX) for file in folder.iterdir() if file.name.endswith(SUFFIX)))


@contextmanager
def shipped_file(name: str) -> Iterator[Path]:
    """The file of weights that come with the package, once it is sure that they are those of their card."""
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
    """The name as it is, or the folder that it was downloaded to where it names a repository: "user/name".

    What is there goes first: a folder or a file of that name is never looked for elsewhere. A ``Path`` is a place on
    this machine.
    """
    text = fspath(name)
    if not isinstance(name, str) or text in shipped_weights() or Path(text).exists() or not REPOSITORY.fullmatch(text):
        return text
    return str(download(text, (MODEL, CONFIG), **hub))


def read_pretrained(name: str | PathLike[str], **hub: Unpack[HubOptions]) -> tuple[Path, Mapping[str, Tensor], Any]:
    """The file that ``name`` means, its tensors and its note.

    ``name`` is that of a pretrained model, a folder that ``save_pretrained`` or a training made, a .safetensors file,
    or a repository of the Hugging Face Hub.
    """
    place = fetch(name, **hub)
    path = Path(place)
    saved = next((path / file for file in (MODEL, BEST) if (path / file).is_file()), None)
    if saved is not None:
        return saved, *read_tensors(saved)
    if path.is_file():
        return path, *read_tensors(path)
    if place in shipped_weights():  # after the folders: one of them may be called so, and hold scans
        with shipped_file(place) as file:
            return file, *read_tensors(file)
    if path.is_dir():
        raise InputError(path, expected=f"a folder with {MODEL}, or {BEST} of a training", found="neither")
    known = ", ".join(shipped_weights())
    expected = f"a pretrained model ({known}), a folder, a {SUFFIX} file or a repository 'user/name'"
    raise InputError(place, expected=expected, found="nothing there", remedy=REMEDY)


def save_pretrained(
    path: Path, tensors: Mapping[str, Tensor], note: Mapping[str, Any], *, task: str, name: str
) -> None:
    """Write a folder that can be loaded and uploaded as it is; a README that is there stays."""
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
    """Which network a note asks for; refused where that cannot be told."""
    try:
        return NetworkCard.model_validate(note)
    except ValidationError as error:
        raise note_refused(path, error) from error


REPOSITORY = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII)
"""What the name of a repository looks like: "user/name"."""
REMEDY = "For the Hugging Face Hub, run: pip install 'point2node[hub]'"


class HubOptions(TypedDict, total=False):
    """How a repository is downloaded; the names and defaults are those of ``huggingface_hub``."""

    revision: str
    """A branch, a tag or a commit."""
    cache_dir: str | Path
    token: str | bool
    local_files_only: bool
    force_download: bool


class UploadOptions(TypedDict, total=False):
    """How a folder is uploaded; the names and defaults are those of ``huggingface_hub``."""

    commit_message: str
    private: bool
    token: str
    branch: str
    create_pr: bool


def download(repository: str, files: tuple[str, ...], **options: Any) -> Path:
    """The folder that holds these files of a repository; nothing else of it is fetched."""
    library = _library(repository)
    with _failures_reported(repository, "a repository that can be downloaded"):
        return Path(library.snapshot_download(repository, allow_patterns=list(files), **options))


def upload(folder: Path, repository: str, options: UploadOptions) -> str:
    """Upload all files of a folder, into a new repository if there is none; returns the address of the commit."""
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
    """A missing repository, no network, no rights: all are one line, for the library has many exceptions for them."""
    try:
        yield
    except Exception as error:
        reason = next(iter(str(error).splitlines()), "") or type(error).__name__
        raise InputError(repository, expected=expected, found=reason.rstrip(".")) from error
