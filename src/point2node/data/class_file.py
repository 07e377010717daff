"""Class files: the classes of a user's own data, and schemes that map a network's classes to others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError, field_validator

from point2node.core.classes import SemanticClass, spread_colour
from point2node.core.documents import parse_yaml
from point2node.core.errors import InputError, unknown_choice

Channel = Annotated[int, Field(ge=0, le=255)]
REMEDY = "See 'Your own clouds' in docs/data.md."
KEYS = ("name, value and colour", "classes and ignore")
EXPECTED = {
    "file": "a list of classes, or 'classes' and 'ignore'",
    "classes": "a list of one class or more",
    "class": "a class such as {name: tree, value: 5}",
    "name": "a name in quotes or letters",
    "value": "a whole number of 32 bits as value",
    "colour": "three whole numbers from 0 to 255, or '#rrggbb', as colour",
    "color": "three whole numbers from 0 to 255, or '#rrggbb', as color",
    "ignore": "a list of whole numbers to ignore",
    "from": "a list of classes, or 'others', as from",
    "unlabelled": "a whole number, 0 or more, as unlabelled",
}


class ClassLine(BaseModel):
    """One class in a class file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(min_length=1)
    value: int = Field(ge=-(2**31), lt=2**31)
    colour: tuple[Channel, Channel, Channel] | None = Field(
        default=None, validation_alias=AliasChoices("colour", "color"), strict=False
    )

    @field_validator("colour", mode="before")
    @classmethod
    def _from_hexadecimal(cls, colour: Any) -> Any:
        """Convert ``#8c5a3c`` to (140, 90, 60); anything else is left to pydantic."""
        if isinstance(colour, str) and len(colour) == 7 and colour.startswith("#"):
            return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
        return colour


class ClassFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    classes: list[ClassLine] = Field(min_length=1)
    ignore: list[int] = []


def read_class_file(path: Path) -> tuple[tuple[SemanticClass, ...], tuple[int, ...]]:
    """Read the classes and ignored values from a YAML list of classes or a mapping of ``classes`` and ``ignore``."""
    content = load_yaml(path)
    try:
        file = ClassFile.model_validate({"classes": content} if isinstance(content, list) else content)
    except ValidationError as error:
        raise explain(path, error.errors()[0]) from error
    classes = listed_classes(path, file.classes)
    both = {line.value for line in file.classes} & set(file.ignore)
    if both:
        raise InputError(path, expected="values either listed or ignored", found=f"{min(both)} in both")
    return classes, tuple(sorted(set(file.ignore)))


def listed_classes(path: Path, lines: Sequence[ClassLine]) -> tuple[SemanticClass, ...]:
    """Return the classes of a file; raises InputError for repeated names or values."""
    _check_unique(path, "name", [line.name for line in lines])
    _check_unique(path, "value", [line.value for line in lines])
    return tuple(
        SemanticClass(line.name, line.value, line.colour or spread_colour(number, len(lines)))
        for number, line in enumerate(lines)
    )


def load_yaml(path: Path) -> Any:
    """Load the content of a YAML file."""
    import yaml

    try:
        return parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise InputError(path, expected="a file of classes", found=found, remedy=REMEDY) from error
    except UnicodeDecodeError as error:
        raise InputError(path, expected="a text of classes in UTF-8", found=str(error), remedy=REMEDY) from error
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{path}, line {mark.line + 1}" if mark else str(path)
        found = getattr(error, "problem", None) or " ".join(str(error).split())
        raise InputError(where, expected="YAML", found=found, remedy=REMEDY) from error


def explain(path: Path, error: Any, remedy: str = REMEDY, keys: tuple[str, str] = KEYS) -> InputError:
    """Make an error that says where the problem is in terms of the file, not of the program.

    ``keys`` are the allowed keys of a class and of the file.
    """
    place = list(error["loc"])
    where = f"{path}, class {place[1] + 1}" if len(place) > 1 and place[0] == "classes" else str(path)
    if where != str(path):
        place = place[2:]
    key = str(place[0]) if place else ("class" if where != str(path) else "file")
    if error["type"] == "extra_forbidden":
        known = keys[0] if where != str(path) else keys[1]
        return InputError(where, expected=f"nothing but {known}", found=repr(key), remedy=remedy)
    found = "nothing" if error["type"] == "missing" else f"{error['input']!r:.60}"
    return InputError(where, expected=EXPECTED.get(key, key), found=found, remedy=remedy)


def _check_unique(path: Path, what: str, found: list[Any]) -> None:
    for one, count in Counter(found).items():
        if count > 1:
            raise InputError(path, expected=f"a different {what} for every class", found=f"{one!r} {count} times")


UNLABELLED = 255
SCHEME_REMEDY = "See 'Other classes in the output' in docs/label-your-scan.md."

SCHEME_KEYS = ("name, value, colour and from", "classes and unlabelled")


class SchemeLine(ClassLine):
    """One class; ``from`` lists the network's classes mapped to it, by default the one with the same name."""

    sources: list[str] | Literal["others"] | None = Field(default=None, validation_alias="from")


class SchemeFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    classes: list[SchemeLine] = Field(min_length=1)
    unlabelled: int = Field(default=UNLABELLED, ge=0, lt=2**31)


@dataclass(frozen=True)
class ClassScheme:
    """The content of a scheme file."""

    path: Path
    classes: tuple[SemanticClass, ...]
    sources: tuple[tuple[str, ...], ...]
    """For each class, the names of the network's classes mapped to it."""
    others: int | None
    """The value for all classes that are not mapped; None if there must be none."""
    unlabelled: int
    is_shared: bool = False
    """Whether it is for several networks, so that it may name classes that this one does not have."""

    def values_for(self, given: Sequence[SemanticClass]) -> list[int]:
        """Return the new value of each of a network's classes; raises InputError if one has none."""
        names = [one.name for one in given]
        value_of: dict[str, int] = {}
        for one, sources in zip(self.classes, self.sources, strict=True):
            for source in sources:
                if source in value_of:
                    found = f"{source!r} twice"
                    raise InputError(self.path, expected="each class in one 'from'", found=found, remedy=SCHEME_REMEDY)
                if source not in names and not self.is_shared:
                    raise unknown_choice(f"{self.path}, from of {one.name!r}", source, names)
                value_of[source] = one.value
        missing = [name for name in names if name not in value_of]
        if missing and self.others is None:
            raise InputError(
                self.path,
                expected="a class for each of the network's",
                found=f"none for {missing[0]!r}",
                remedy="Name it in a 'from', or give one class 'from: others'.",
            )
        return [value_of.get(name, self.others if self.others is not None else self.unlabelled) for name in names]


def scheme_names() -> tuple[str, ...]:
    """Return the names of the schemes in the package."""
    files = (resources.files("point2node") / "schemes").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def read_scheme(name: str) -> ClassScheme:
    """Read a scheme of the package by name, or one from a YAML file."""
    if name in scheme_names():
        with resources.as_file(resources.files("point2node") / "schemes" / f"{name}.yaml") as path:
            return _read_scheme(path, is_shared=True)
    if Path(name).suffix.lower() not in (".yaml", ".yml"):
        expected = f"{', '.join(scheme_names())} or a YAML file of classes"
        raise InputError("--classes", expected=expected, found=repr(name), remedy=SCHEME_REMEDY)
    return _read_scheme(Path(name), is_shared=False)


def _read_scheme(path: Path, *, is_shared: bool) -> ClassScheme:
    content = load_yaml(path)
    try:
        file = SchemeFile.model_validate({"classes": content} if isinstance(content, list) else content)
    except ValidationError as error:
        raise explain(path, error.errors()[0], SCHEME_REMEDY, SCHEME_KEYS) from error
    classes = listed_classes(path, file.classes)
    if file.unlabelled in [one.value for one in classes]:
        expected = "a value for 'unlabelled' that no class has"
        raise InputError(path, expected=expected, found=str(file.unlabelled), remedy=SCHEME_REMEDY)
    others = [line.value for line in file.classes if line.sources == "others"]
    if len(others) > 1:
        raise InputError(path, expected="one class with 'from: others'", found=str(len(others)), remedy=SCHEME_REMEDY)
    sources = (
        (line.name,) if line.sources is None else () if isinstance(line.sources, str) else tuple(line.sources)
        for line in file.classes
    )
    return ClassScheme(path, classes, tuple(sources), next(iter(others), None), file.unlabelled, is_shared)
