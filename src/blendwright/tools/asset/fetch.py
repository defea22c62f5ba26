from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from blendwright.tool_api import Args, Example, Findings, Result, Scene, Tool
from blendwright.tool_api.arguments import FileRole, WritePath
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE, Determinism
from blendwright.tools.checks import differs, invalid

# File roles: the download that the engine provides, and the .json file next to the asset that describes its origin.
ONLINE, ORIGIN = "online", "origin"


class FetchArgs(Args):
    asset: Annotated[str, Field(min_length=1, max_length=200), FileRole(ONLINE)] = Field(
        description="Id of the asset in the online catalogue."
    )
    path: WritePath = Field(
        description="File to write, with the same extension as in the catalogue. A .json file next to it describes "
        "its origin."
    )


class AssetFetched(Result):
    """The downloaded asset. The receipt contains this result."""

    path: str = Field(description="Path of the file, for use in asset.add.")
    sha256: str = Field(description="SHA-256 of the file, equal to the one in the catalogue.")
    bytes: int = Field(description="Size in bytes.")
    name: str = Field(description="Name of the asset.")
    author: str = Field(description="Author of the asset.")
    license: str = Field(description="Licence of the asset; empty if the catalogue does not state it.")
    source: str = Field(description="Address or title of its source.")


class FetchAsset(Tool[FetchArgs, AssetFetched]):
    """Download an asset of the online catalogue that the user has set up.

    The file goes to a path within the roots. Its format must be known and its hash must match the catalogue. Only
    available if [assets.online] names a catalogue and the policy allows the network.
    """

    name = "asset.fetch"
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to()
        .needs("file_write", "network")
    )
    examples = (Example({"asset": "oak-chair", "path": "downloads/chair.glb"}),)

    def check(self, scene: Scene, args: FetchArgs) -> Findings:
        description = _description(scene)
        ending = Path(description["file_name"]).suffix.lower()
        if Path(args.path).suffix.lower() != ending:
            yield invalid(f"the asset is a {ending} file", "/path", f"Use a name that ends in {ending}.")

    def apply(self, scene: Scene, args: FetchArgs) -> AssetFetched:
        description, target = _description(scene), Path(scene.output_file(args.path))
        shutil.copyfile(Path(scene.input_file(ONLINE)).with_name("download"), target)
        about = {
            name: description[name]
            for name in ("name", "description", "author", "license", "source", "copyright", "tags")
        }
        Path(scene.output_file(ORIGIN)).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", "utf-8")
        fields = AssetFetched.model_fields.keys() & description.keys()
        return AssetFetched(path=args.path, **{name: description[name] for name in fields})

    def verify(self, scene: Scene, args: FetchArgs, result: AssetFetched) -> Findings:
        yield from differs("its size", result.bytes, Path(scene.output_file(args.path)).stat().st_size, "/path")


def _description(scene: Scene) -> dict[str, Any]:
    """Return the catalogue's description of the downloaded asset."""
    return json.loads(Path(scene.input_file(ONLINE)).read_bytes())
