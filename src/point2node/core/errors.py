"""The exceptions that the command line says in one line: input that a person can fix, and a lost process."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_LIST = 24
"""Names in a message that also suggests one; more would bury the suggestion."""


class InputError(ValueError):
    """Something the user gave cannot be used; the message is one line that says where, what and how to fix it.

    The command line prints the message and exits with code 2. Every other exception is our bug and keeps
    its traceback.
    """

    def __init__(self, where: object, *, expected: str, found: str, remedy: str = "") -> None:
        self.where = str(where)
        self.expected = expected
        self.found = found
        self.remedy = remedy
        super().__init__(f"{where}: expected {expected}, found {found}." + (f" {remedy}" if remedy else ""))

    def __reduce__(self) -> tuple[object, ...]:
        # keyword-only arguments: the default pickling of exceptions would lose them on the way from a worker
        return _rebuild, (self.where, self.expected, self.found, self.remedy)


class LostProcessError(RuntimeError):
    """Another process of the same training is gone; the command line says so and exits with code 1."""


def _rebuild(where: str, expected: str, found: str, remedy: str) -> InputError:
    return InputError(where, expected=expected, found=found, remedy=remedy)


def unknown_choice(where: str, found: str, valid: Iterable[str]) -> InputError:
    """The error for a name that is none of ``valid``: it suggests the nearest, and lists them unless they are many."""
    choices = list(valid)
    nearest = get_close_matches(found, choices, n=1)
    many = nearest and len(choices) > LONGEST_LIST
    return InputError(
        where,
        expected=f"one of {len(choices)} names" if many else "one of " + ", ".join(choices),
        found=repr(found),
        remedy=f"Did you mean {nearest[0]!r}?" if nearest else "",
    )


def is_interruption(error: BaseException) -> bool:
    """Whether somebody pressed Ctrl+C: inside a compiled kernel that arrives as a SystemError that it caused."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)
