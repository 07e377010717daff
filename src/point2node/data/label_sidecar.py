"""The JSON file beside a labelled cloud: what its label values mean, and how they came about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError

Text = Annotated[str, StringConstraints(max_length=2000)]
Scalar = bool | int | float | Text | None
Channel = Annotated[int, Field(ge=0, le=255)]
Count = Annotated[int, Field(ge=0)]


UNFINISHED = {"unfinished": True}
"""What stands in the file while its cloud is being replaced, and after a kill at that moment."""


class ListedClass(BaseModel):
    """One class of the list."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    name: Annotated[str, StringConstraints(min_length=1, max_length=200)]
    value: int
    colour: tuple[Channel, Channel, Channel]


class LabelSidecar(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    format: Literal[1] = 1
    point2node: Text
    """The version that labelled the cloud."""
    input: Text
    weights: Text
    classes: Annotated[tuple[ListedClass, ...], Field(min_length=1, max_length=255)]
    unlabelled: int = 255
    """The value of points that have no label."""
    points: Count
    counts: dict[Text, Count] = {}
    columns: tuple[Text, ...] = ()
    """Of a text file that does not name its columns: what they are."""
    protocol: dict[Text, Scalar] = {}
    settings: dict[Text, Scalar] = {}

    @property
    def semantic_classes(self) -> tuple[SemanticClass, ...]:
        """The classes as the rest of the program has them."""
        return tuple(SemanticClass(one.name, one.value, one.colour) for one in self.classes)


def sidecar_path(labelled: Path) -> Path:
    """``room_labelled.ply`` → ``room_labelled.ply.classes.json``."""
    return labelled.with_name(sidecar_name(labelled.name))


def sidecar_name(labelled: str) -> str:
    """``room_labelled.ply`` → ``room_labelled.ply.classes.json``."""
    return f"{labelled}.classes.json"


def read_sidecar(labelled: Path) -> LabelSidecar | None:
    """The sidecar of a labelled cloud; None if there is none."""
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
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        found = " ".join(f"{place!r}: {first['msg']}".split()) if place else first["msg"]
        raise InputError(path, expected=expected, found=found) from error
    values = [one.value for one in sidecar.classes]
    if len({*values, sidecar.unlabelled}) <= len(values):
        raise InputError(path, expected="a value of its own for each class and for 'unlabelled'", found="one twice")
    return sidecar
