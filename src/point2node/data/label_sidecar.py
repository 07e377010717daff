"""The JSON file next to a labelled cloud: what its label values mean and how they were made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from point2node.core.classes import SemanticClass
from point2node.core.documents import first_fault
from point2node.core.errors import InputError

Text = Annotated[str, StringConstraints(max_length=2000)]
Scalar = bool | int | float | Text | None
Count = Annotated[int, Field(ge=0)]
LONGEST_NAME = 200

UNFINISHED = {"unfinished": True}
"""Content of the file while its cloud is being replaced, and after a kill at that moment."""


def _check_class(one: SemanticClass) -> SemanticClass:
    if not 1 <= len(one.name) <= LONGEST_NAME:
        raise ValueError(f"the name of a class has 1 to {LONGEST_NAME} characters")
    if not all(0 <= channel <= 255 for channel in one.colour):
        raise ValueError("a colour has three numbers from 0 to 255")
    return one


CheckedClass = Annotated[SemanticClass, AfterValidator(_check_class)]


class LabelSidecar(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: Literal[1] = 1
    point2node: Text
    """The version that labelled the cloud."""
    input: Text
    weights: Text
    classes: Annotated[
        tuple[Annotated[SemanticClass, AfterValidator(_check_class)], ...], Field(min_length=1, max_length=255)
    ]
    unlabelled: int = 255
    """The value of points that have no label."""
    points: Count
    counts: dict[Text, Count] = {}
    columns: tuple[Text, ...] = ()
    """The columns of a text file without column names."""
    protocol: dict[Text, Scalar] = {}
    settings: dict[Text, Scalar] = {}


def sidecar_path(labelled: Path) -> Path:
    """``room_labelled.ply`` → ``room_labelled.ply.classes.json``."""
    return labelled.with_name(sidecar_name(labelled.name))


def sidecar_name(labelled: str) -> str:
    """``room_labelled.ply`` → ``room_labelled.ply.classes.json``."""
    return f"{labelled}.classes.json"


def read_sidecar(labelled: Path) -> LabelSidecar | None:
    """Read the sidecar of a labelled cloud; None if there is none."""
    path = sidecar_path(labelled)
    if not path.exists():
        return None
    expected = "the classes of a labelled cloud, format 1"
    try:
        content = path.read_bytes()
        if content.strip() == json.dumps(UNFINISHED, indent=1).encode():
            found = "a labelling that was interrupted"
            raise InputError(path, expected=expected, found=found, remedy="Run the same 'point2node predict' again.")
        sidecar = LabelSidecar.model_validate_json(content)
    except OSError as error:
        raise InputError(path, expected=expected, found=(error.strerror or str(error)).lower()) from error
    except ValidationError as error:
        place, message = first_fault(error)
        found = " ".join(f"{place!r}: {message}".split()) if place else message
        raise InputError(path, expected=expected, found=found) from error
    values = [one.value for one in sidecar.classes]
    if len({*values, sidecar.unlabelled}) <= len(values):
        raise InputError(path, expected="different values for all classes and 'unlabelled'", found="one twice")
    return sidecar
