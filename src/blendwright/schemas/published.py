"""The published JSON Schemas, as stored in the package. This module only provides data."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent
ENDING = ".json"


def names() -> tuple[str, ...]:
    """Return the names of all published schemas, like `macro.v1`: the kind of document and the version of the schema."""
    file_names = (entry.name for entry in FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in file_names if name.endswith(ENDING)))


@cache
def schema(name: str) -> dict[str, Any]:
    """Return a published schema by its name."""
    return json.loads((FOLDER / f"{name}{ENDING}").read_text(encoding="utf-8"))
