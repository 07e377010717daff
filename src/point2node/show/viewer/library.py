"""The library behind the app: one that is missing ends as one clear line."""

from __future__ import annotations

from importlib.util import find_spec

from point2node.core.errors import InputError


def check_library() -> None:
    """Refuse to go on without viser, with the line that installs it."""
    if find_spec("viser") is None:
        raise InputError(
            "point2node view",
            expected="the library viser to be installed",
            found="none",
            remedy="Run: pip install 'point2node[view]'",
        )
