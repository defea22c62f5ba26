"""The data that the index keeps for an asset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AssetEntry:
    """The index entry of one asset.

    `asset` is the library's name and the path inside it, as asset.add expects it. `kind` is one of:
    - `objects`, `collections`, `materials`, `worlds` or `node_groups`: a datablock of a .blend file, with its name in `name`
    - `model`: a file of another format
    - `textures`: a folder of PBR pictures
    - `blend`: a .blend file that the index could not read

    `preview` is the file name of a picture in the cache, empty without one."""

    asset: str
    kind: str
    name: str
    description: str = ""
    author: str = ""
    license: str = ""
    source: str = ""
    copyright: str = ""
    catalog: str = ""
    tags: tuple[str, ...] = ()
    preview: str = ""

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are not empty."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> AssetEntry:
        values: dict[str, Any] = {**document, "tags": tuple(document.get("tags", ()))}
        return cls(**values)
