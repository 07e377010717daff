"""Class schemes: the classes that a labelled scan is written with, and which of the network's each stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from point2node.core.classes import SemanticClass
from point2node.core.errors import InputError, unknown_choice
from point2node.data.class_file import ClassLine, explain, listed_classes, load_yaml

UNLABELLED = 255
REMEDY = "See 'Other classes in the output' in docs/label-your-scan.md."

KEYS = ("name, value, colour and from", "classes and unlabelled")


class SchemeLine(ClassLine):
    """One class; ``from`` are the network's classes that it stands for, by default the one of the same name."""

    sources: list[str] | Literal["others"] | None = Field(default=None, validation_alias="from")


class SchemeFile(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    classes: list[SchemeLine] = Field(min_length=1)
    unlabelled: int = Field(default=UNLABELLED, ge=0, lt=2**31)


@dataclass(frozen=True)
class ClassScheme:
    """What a scheme file says."""

    path: Path
    classes: tuple[SemanticClass, ...]
    sources: tuple[tuple[str, ...], ...]
    """For each class, the names of the network's classes that become it."""
    others: int | None
    """The value for classes that no other class stands for; None where there must be none."""
    unlabelled: int
    is_shared: bool = False
    """Whether it is for several networks, so that it may name classes that this one does not know."""

    def values_for(self, given: Sequence[SemanticClass]) -> list[int]:
        """The new value of each of a network's classes; every one must have one."""
        names = [one.name for one in given]
        value_of: dict[str, int] = {}
        for one, sources in zip(self.classes, self.sources, strict=True):
            for source in sources:
                if source in value_of:
                    found = f"{source!r} twice"
                    raise InputError(self.path, expected="each class in one 'from'", found=found, remedy=REMEDY)
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
    """The schemes that come with the package."""
    files = (resources.files("point2node") / "schemes").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def read_scheme(name: str) -> ClassScheme:
    """A scheme of the package by its name, or one from a YAML file."""
    if name in scheme_names():
        with resources.as_file(resources.files("point2node") / "schemes" / f"{name}.yaml") as path:
            return _read(path, is_shared=True)
    if Path(name).suffix.lower() not in (".yaml", ".yml"):
        expected = f"{', '.join(scheme_names())} or a YAML file of classes"
        raise InputError("--classes", expected=expected, found=repr(name), remedy=REMEDY)
    return _read(Path(name), is_shared=False)


def _read(path: Path, *, is_shared: bool) -> ClassScheme:
    content = load_yaml(path)
    try:
        file = SchemeFile.model_validate({"classes": content} if isinstance(content, list) else content)
    except ValidationError as error:
        raise explain(path, error.errors()[0], REMEDY, KEYS) from error
    classes = listed_classes(path, file.classes)
    if file.unlabelled in [one.value for one in classes]:
        expected = "a value for 'unlabelled' that no class has"
        raise InputError(path, expected=expected, found=str(file.unlabelled), remedy=REMEDY)
    others = [line.value for line in file.classes if line.sources == "others"]
    if len(others) > 1:
        raise InputError(path, expected="one class with 'from: others'", found=str(len(others)), remedy=REMEDY)
    sources = (
        (line.name,) if line.sources is None else () if isinstance(line.sources, str) else tuple(line.sources)
        for line in file.classes
    )
    return ClassScheme(path, classes, tuple(sources), next(iter(others), None), file.unlabelled, is_shared)
