"""The exceptions that the command line prints as one line: input that users can fix, and a lost process."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

LONGEST_LIST = 24
"""The most names listed in a message that also suggests one; more would bury the suggestion."""


class InputError(ValueError):
    """The user's input cannot be used; the message is one line that says where, what and how to fix it.

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
        # exceptions with keyword-only arguments cannot be pickled by default, which workers need
        return _rebuild, (self.where, self.expected, self.found, self.remedy)


class LostProcessError(RuntimeError):
    """Another process of the same training died; the command line reports it and exits with code 1."""


def _rebuild(where: str, expected: str, found: str, remedy: str) -> InputError:
    return InputError(where, expected=expected, found=found, remedy=remedy)


def unknown_choice(where: str, found: str, valid: Iterable[str]) -> InputError:
    """Make the error for a name not in ``valid``: it suggests the nearest, and lists them unless there are too many."""
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
    """Return whether Ctrl+C was pressed: in a compiled kernel, it causes a SystemError."""
    return isinstance(error, KeyboardInterrupt) or isinstance(error.__cause__, KeyboardInterrupt)
