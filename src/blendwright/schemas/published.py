"""The JSON Schemas that are published, as they lie in the package. Data only: who checks by them is elsewhere."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ENDING = ".json"


def names() -> tuple[str, ...]:
    """All of them, like `macro.v1`: what they describe, and the version of the schema."""
    file_names = (entry.name for entry in FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in file_names if name.endswith(ENDING)))


@cache
def schema(name: str) -> dict[str, Any]:
    """A published schema, by its file's name without the ending."""
    return json.loads((FOLDER / f"{name}{ENDING}").read_text(encoding="utf-8"))
