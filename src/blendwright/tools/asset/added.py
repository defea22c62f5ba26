"""Result of adding an asset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import Field

from blendwright.tool_api import Kind
from blendwright.tool_api.arguments import Result
from blendwright.tools.asset.origin import Origin

MAX_NAMES = 200


class AssetAdded(Result):
    """The datablocks that were added and the asset's origin. The receipt contains this result."""

    asset: str = Field(description="The added file or folder.")
    sha256: str = Field(description="SHA-256 of the file, or of the pictures of the folder.")
    mode: str = Field(description="Mode in which it was added.")
    objects: list[str] = Field(description=f"New objects, at most {MAX_NAMES}.")
    materials: list[str] = Field(description="New materials.")
    counts: dict[str, int] = Field(description="Number of new datablocks by kind, including dependencies.")
    library: str = Field(default="", description="For mode link: the file that contains the data.")
    renamed: dict[str, str] = Field(description="Datablocks that were renamed: name in the file -> name in the scene.")
    reused: bool = Field(default=False, description="True if the instance shows data of an earlier import.")
    author: str = Field(default="", description="Author of the asset.")
    license: str = Field(description="Licence of the asset; empty if unknown. Then ask before you publish.")
    source: str = Field(default="", description="Address or title of its source.")
    copyright: str = Field(default="", description="Copyright notice.")


class AssetFacts:
    """Facts about an asset that are known before it is added."""

    def __init__(self, asset: str, sha256: str, mode: str, origin: Origin) -> None:
        self.asset = asset
        self.sha256 = sha256
        self.mode = mode
        self.origin = origin

    def result(
        self, names: Sequence[tuple[Kind, str]], renamed: Mapping[str, str] | None = None, own: Origin | None = None
    ) -> AssetAdded:
        """Return the result for the added datablocks. `own` is the origin stated in the datablocks; it takes
        precedence.
        """
        origin = (own or Origin()).otherwise(self.origin)
        counts: dict[str, int] = {}
        for kind, _ in names:
            counts[kind.value] = counts.get(kind.value, 0) + 1
        return AssetAdded(
            asset=self.asset,
            sha256=self.sha256,
            mode=self.mode,
            objects=sorted(name for kind, name in names if kind is Kind.OBJECT)[:MAX_NAMES],
            materials=sorted(name for kind, name in names if kind is Kind.MATERIAL)[:MAX_NAMES],
            counts=dict(sorted(counts.items())),
            renamed=dict(sorted((renamed or {}).items())[:MAX_NAMES]),
            author=origin.author,
            license=origin.license,
            source=origin.source,
            copyright=origin.copyright,
        )
