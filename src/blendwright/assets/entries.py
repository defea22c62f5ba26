"""One asset of a library as the index knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AssetEntry:
    """`asset` is what asset.add takes: the library's name and the path in it. `kind` is one of a .blend file's (`objects`, `collections`,
    `materials`, `worlds`, `node_groups`), then `name` is the datablock's; `model` for a file of another format; `textures` for a folder
    of PBR pictures; `blend` for a file that could not be looked into. `preview` is the name of a picture in the cache."""

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
        """Without what is empty."""
        return {name: value for name, value in asdict(self).items() if value}

    @classmethod
    def from_json(cls, told: Mapping[str, Any]) -> AssetEntry:
        values: dict[str, Any] = {**told, "tags": tuple(told.get("tags", ()))}
        return cls(**values)
