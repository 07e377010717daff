"""The file in which users list their own classes: name, value, colour, and the values to leave out."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from point2node.core.classes import SemanticClass, spread_colour
from point2node.core.errors import InputError

Channel = Annotated[int, Field(ge=0, le=255)]


class ClassLine(BaseModel):
    """One class as users write it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(min_length=1)
    value: int = Field(ge=-(2**31), lt=2**31)
    colour: tuple[Channel, Channel, Channel] | None = Field(
        default=None, validation_alias=AliasChoices("colour", "color"), strict=False
    )

    @field_validator("colour", mode="before")
    @classmethod
    def _from_hexadecimal(cls, colour: Any) -> Any:
        """``#8c5a3c`` for (140, 90, 60); anything else is left to the type."""
        if isinstance(colour, str) and len(colour) == 7 and colour.startswith("#"):
            return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
        return colour


class ClassFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    classes: list[ClassLine] = Field(min_length=1)
    ignore: list[int] = []


def read_class_file(path: Path) -> tuple[tuple[SemanticClass, ...], tuple[int, ...]]:
    """The classes and the values to ignore, from a YAML list of classes or a mapping of ``classes`` and ``ignore``."""
    import yaml

    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(path, expected="a file of classes", found=str(error)) from error
    except yaml.YAMLError as error:
        raise InputError(path, expected="YAML", found=" ".join(str(error).split())) from error
    try:
        file = ClassFile.model_validate({"classes": content} if isinstance(content, list) else content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ", ".join(str(part) for part in first["loc"]) or "the file"
        raise InputError(
            path, expected="classes with name, value and colour", found=f"{place}: {first['msg']}"
        ) from error
    _refuse_repeated(path, "name", [line.name for line in file.classes])
    _refuse_repeated(path, "value", [line.value for line in file.classes])
    both = {line.value for line in file.classes} & set(file.ignore)
    if both:
        raise InputError(path, expected="values either listed or ignored", found=f"{min(both)} in both")
    count = len(file.classes)
    classes = (
        SemanticClass(line.name, line.value, line.colour or spread_colour(number, count))
        for number, line in enumerate(file.classes)
    )
    return tuple(classes), tuple(sorted(set(file.ignore)))


def _refuse_repeated(path: Path, what: str, found: list[Any]) -> None:
    for one, count in Counter(found).items():
        if count > 1:
            raise InputError(path, expected=f"a {what} of its own for every class", found=f"{one!r} {count} times")
