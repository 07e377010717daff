"""Strict reading of JSON and YAML from untrusted files, with one-line errors.

Text that is nested too deeply is a ValueError, like other damage.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from point2node.core.errors import InputError

TOO_DEEP = "nested too deeply"
Model = TypeVar("Model", bound=BaseModel)


class Strict(BaseModel):
    """A frozen model that rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def parse_json(text: str | bytes) -> Any:
    """Parse JSON; raises ValueError if it is invalid."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def parse_yaml(text: str) -> Any:
    """Parse YAML; raises YAMLError or ValueError if it is invalid."""
    try:
        return yaml.safe_load(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def read_json(path: Path, model: type[Model], what: str, remedy: str = "") -> Model:
    """Read a JSON file as ``model``; raises InputError for the first problem."""
    try:
        return model.model_validate_json(path.read_bytes())
    except OSError as error:
        raise InputError(path, expected=what, found=(error.strerror or str(error)).lower(), remedy=remedy) from error
    except ValidationError as error:
        place, message = first_fault(error)
        found = f"{place!r}: {message}" if place else message
        raise InputError(path, expected=what, found=" ".join(found.split()), remedy=remedy) from error


def first_fault(error: ValidationError) -> tuple[str, str]:
    """Return the place of the first problem, such as "classes.0.name", and its message."""
    first = error.errors(include_url=False)[0]
    return ".".join(str(part) for part in first["loc"]), first["msg"]


def dump_json(model: BaseModel) -> str:
    """Serialise a model; equal models give equal text."""
    return json.dumps(model.model_dump(mode="json"), indent=1, ensure_ascii=False) + "\n"
