"""JSON and YAML that anybody may have written: what is nested too deeply is a ValueError, like other damage."""

from __future__ import annotations

import json
from typing import Any

import yaml

TOO_DEEP = "nested too deeply"


def parse_json(text: str | bytes) -> Any:
    """What a JSON text says; a ValueError where it is none."""
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error


def parse_yaml(text: str) -> Any:
    """What a YAML text says; a YAMLError or a ValueError where it is none."""
    try:
        return yaml.safe_load(text)
    except RecursionError as error:
        raise ValueError(TOO_DEEP) from error
