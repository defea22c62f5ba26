from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from blendwright.tool_api import Args, Example, Result, Scene
from blendwright.tool_api.arguments import FileRole, optional
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.tool import Reads
from blendwright.tools.render.rendering import PngName

AssetKind = Literal["objects", "collections", "materials", "worlds", "node_groups", "model", "textures", "blend"]
SEARCH = "search"


class SearchArgs(Args):
    words: Annotated[str, Field(max_length=200), FileRole(SEARCH)] = Field(
        default="",
        description="Search words for names, tags, catalogues, folders and descriptions. Without words, all assets "
        "match.",
    )
    kind: AssetKind | None = optional(
        "Kind of asset. In .blend files: objects, collections, materials, worlds or node_groups. model: other files. "
        "textures: PBR folders."
    )
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(max_length=16)] = Field(
        default=[], description="Tags that an asset must have."
    )
    license: str | None = optional("Part of the licence text, such as CC0.", max_length=100)
    limit: int = Field(default=12, ge=1, le=50, description="Maximum number of assets to return.")
    artifact: PngName = Field(
        default="assets.png", description="Artifact name for the contact sheet of preview pictures."
    )


class AssetFound(Result):
    asset: str = Field(description="Value for the argument asset of asset.add.")
    kind: str = Field(description="Kind of asset.")
    name: str = Field(description="Name of the asset; in a .blend file, name of the datablock.")
    description: str = Field(default="", description="Description by its author.")
    author: str = Field(default="", description="Author of the asset.")
    license: str = Field(default="", description="Licence of the asset; empty if unknown.")
    source: str = Field(default="", description="Address or title of its source.")
    copyright: str = Field(default="", description="Copyright notice.")
    catalog: str = Field(default="", description="Its catalogue in Blender's asset library.")
    tags: list[str] = Field(default=[], description="Its tags.")


class AssetsFound(Result):
    total: int = Field(description="Number of assets that match.")
    libraries: list[str] = Field(description="The libraries that were searched.")
    assets: list[AssetFound] = Field(description="The best matches, best first.")
    artifact: str | None = Field(
        description="Name of the contact sheet of their pictures, or null if none has a picture."
    )


class SearchAssets(Reads[SearchArgs, AssetsFound]):
    """Find assets in the user's libraries by words, tags and licence, with a contact sheet of their pictures.

    Libraries are the folders in [assets.directories]. They contain assets in .blend files, models of other formats, and
    folders of PBR pictures.
    """

    name = "asset.search"
    promises = READ_ONLY.needs("file_read")
    examples = (Example({"words": "oak chair"}), Example({"kind": "materials", "license": "CC0", "tags": ["wood"]}))

    def apply(self, scene: Scene, args: SearchArgs) -> AssetsFound:
        file = Path(scene.input_file(SEARCH))
        answer: dict[str, Any] = json.loads(file.read_bytes())
        fields = AssetFound.model_fields.keys()
        assets: list[AssetFound] = []
        pictures: list[tuple[str | None, str]] = []
        for number, entry in enumerate(answer["found"], 1):
            assets.append(AssetFound.model_validate({name: entry[name] for name in fields & entry.keys()}))
            picture = None
            if entry["preview"] is not None:
                picture = str(file.parent / entry["preview"])
            pictures.append((picture, f"{number}. {entry['name']}"))

        artifact = None
        if any(picture for picture, _ in pictures):
            artifact = args.artifact
            scene.contact_sheet(scene.artifact(artifact), pictures)
        return AssetsFound(total=answer["total"], libraries=answer["libraries"], assets=assets, artifact=artifact)
