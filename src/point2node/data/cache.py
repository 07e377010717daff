"""Where prepared stores go that nobody asked for by name."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def cache_folder() -> Path:
    """``$POINT2NODE_CACHE``, or the place that the operating system has for caches."""
    chosen = os.environ.get("POINT2NODE_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "point2node"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "point2node"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "point2node"
