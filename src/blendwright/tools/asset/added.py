"""What a call tells of an asset that was added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from blendwright.tool_api import Kind
from blendwright.tool_api.arguments import Result
from blendwright.tools.asset.origin import Origin

MOST_NAMES = 200


class AssetAdded(Result):
    """What was added, and where it comes from: the receipt keeps this."""

    asset: str = Field(description="The file or folder.")
    sha256: str = Field(description="Hash of the file, or of the pictures of the folder.")
    mode: str = Field(description="How it was added.")
    objects: list[str] = Field(description=f"New objects, at most {MOST_NAMES}.")
    materials: list[str] = Field(description="New materials.")
    counts: dict[str, int] = Field(description="How many new datablocks there are, what came along included, by kind.")
    library: str = Field(default="", description="The file that the data stays in, where it is linked.")
    renamed: dict[str, str] = Field(description="What has another name than in its file.")
    reused: bool = Field(default=False, description="Whether an instance shows data that was there already.")
    author: str = Field(default="", description="Who made it.")
    license: str = Field(description="What one may do with it; empty where nothing says so: ask before you publish.")
    source: str = Field(default="", description="Where it comes from.")
    copyright: str = Field(default="", description="Whose it is.")


class Told:
    """What is known of an asset before it is in the scene."""

    def __init__(self, asset: str, sha256: str, mode: str, origin: Origin) -> None:
        self.asset = asset
        self.sha256 = sha256
        self.mode = mode
        self.origin = origin

    def result(
        self, names: Sequence[tuple[Kind, str]], renamed: Mapping[str, str] | None = None, own: Origin | None = None
    ) -> AssetAdded:
        origin = (own or Origin()).otherwise(self.origin)
        counts: dict[str, int] = {}
        for kind, _ in names:
            counts[kind.value] = counts.get(kind.value, 0) + 1
        return AssetAdded(
            asset=self.asset,
            sha256=self.sha256,
            mode=self.mode,
            objects=sorted(name for kind, name in names if kind is Kind.OBJECT)[:MOST_NAMES],
            materials=sorted(name for kind, name in names if kind is Kind.MATERIAL)[:MOST_NAMES],
            counts=dict(sorted(counts.items())),
            renamed=dict(sorted((renamed or {}).items())[:MOST_NAMES]),
            author=origin.author,
            license=origin.license,
            source=origin.source,
            copyright=origin.copyright,
        )
