"""Folders of weights on the Hugging Face Hub. The library behind it is optional and imported when it is needed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypedDict

from point2node.core.errors import InputError

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
