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
        default="", description="Words of names, tags, catalogues, folders or descriptions; all assets without any."
    )
    kind: AssetKind | None = optional(
        "Of a .blend file objects, collections, materials, worlds or node_groups; model for other files; textures for PBR folders."
    )
    tags: Annotated[list[Annotated[str, Field(min_length=1, max_length=64)]], Field(max_length=16)] = Field(
        default=[], description="Tags that it must have."
    )
    license: str | None = optional("Part of its licence, such as CC0.", max_length=100)
    limit: int = Field(default=12, ge=1, le=50, description="At most so many.")
    artifact: PngName = Field(
        default="assets.png", description="Name of the sheet of their pictures among the artifacts."
    )


class AssetFound(Result):
    asset: str = Field(description="What asset.add takes.")
    kind: str = Field(description="What it is.")
    name: str = Field(description="Its name; of a .blend file, that of the datablock.")
    description: str = Field(default="", description="What its author says of it.")
    author: str = Field(default="", description="Who made it.")
    license: str = Field(default="", description="What one may do with it; empty where nothing says so.")
    source: str = Field(default="", description="Where it comes from.")
    copyright: str = Field(default="", description="Whose it is.")
    catalog: str = Field(default="", description="Its catalogue in Blender's asset library.")
    tags: list[str] = Field(default=[], description="Its tags.")


class AssetsFound(Result):
    total: int = Field(description="How many fit.")
    libraries: list[str] = Field(description="The libraries that were looked into.")
    assets: list[AssetFound] = Field(description="The best of them, the best first.")
    artifact: str | None = Field(description="Name of the sheet with their pictures; None where none has one.")


class SearchAssets(Reads[SearchArgs, AssetsFound]):
    """Find assets in the user's libraries by words, tags and licence, with a sheet of their pictures.

    Libraries are the folders of [assets.directories]: assets of .blend files, models of other formats, folders of PBR pictures."""

    name = "asset.search"
    promises = READ_ONLY.needs("file_read")
    examples = (Example({"words": "oak chair"}), Example({"kind": "materials", "license": "CC0", "tags": ["wood"]}))

    def apply(self, scene: Scene, args: SearchArgs) -> AssetsFound:
        file = Path(scene.input_file(SEARCH))
        told: dict[str, Any] = json.loads(file.read_bytes())
        pictures: list[str | None] = [
            None if each["preview"] is None else str(file.parent / each["preview"]) for each in told["found"]
        ]
        artifact = None
        if any(pictures):
            artifact = args.artifact
            names = [f"{number}. {each['name']}" for number, each in enumerate(told["found"], 1)]
            scene.contact_sheet(scene.artifact(artifact), list(zip(pictures, names, strict=True)))
        fields = AssetFound.model_fields.keys()
        found = [
            AssetFound.model_validate({name: each[name] for name in fields & each.keys()}) for each in told["found"]
        ]
        return AssetsFound(total=told["total"], libraries=told["libraries"], assets=found, artifact=artifact)
