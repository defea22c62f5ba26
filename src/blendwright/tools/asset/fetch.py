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

# What the core has brought, and where it takes what tells of it: beside the file, under its name and .json.
ONLINE, ORIGIN = "online", "origin"


class FetchArgs(Args):
    asset: Annotated[str, Field(min_length=1, max_length=200), FileRole(ONLINE)] = Field(
        description="Its id in the online catalogue."
    )
    path: WritePath = Field(
        description="File to write, with the ending of the catalogue's; a .json file beside it tells its origin."
    )


class AssetFetched(Result):
    """What was downloaded: the receipt keeps this."""

    path: str = Field(description="The file, which asset.add takes.")
    sha256: str = Field(description="Its hash, which is the catalogue's.")
    bytes: int = Field(description="Its size.")
    name: str = Field(description="What it is called.")
    author: str = Field(description="Who made it.")
    license: str = Field(description="What one may do with it; empty where the catalogue does not say.")
    source: str = Field(description="Where it comes from.")


class FetchAsset(Tool[FetchArgs, AssetFetched]):
    """Download an asset of the online catalogue that the user has set up.

    It goes to a file in the roots, of a known form and proven by its hash. Off unless [assets.online] names a catalogue and the policy
    allows the network."""

    name = "asset.fetch"
    promises = (
        SAFE_IDEMPOTENT_WRITE.but(determinism=Determinism.NONDETERMINISTIC, replayable=False)
        .writes_to()
        .needs("file_write", "network")
    )
    examples = (Example({"asset": "oak-chair", "path": "downloads/chair.glb"}),)

    def check(self, scene: Scene, args: FetchArgs) -> Findings:
        told = _told(scene)
        ending = Path(told["file_name"]).suffix.lower()
        if Path(args.path).suffix.lower() != ending:
            yield invalid(f"the asset is a {ending} file", "/path", f"Let the name end in {ending}.")

    def apply(self, scene: Scene, args: FetchArgs) -> AssetFetched:
        told, target = _told(scene), Path(scene.output_file(args.path))
        shutil.copyfile(Path(scene.input_file(ONLINE)).with_name("download"), target)
        about = {
            name: told[name] for name in ("name", "description", "author", "license", "source", "copyright", "tags")
        }
        Path(scene.output_file(ORIGIN)).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", "utf-8")
        fields = AssetFetched.model_fields.keys() & told.keys()
        return AssetFetched(path=args.path, **{name: told[name] for name in fields})

    def verify(self, scene: Scene, args: FetchArgs, result: AssetFetched) -> Findings:
        yield from differs("its size", result.bytes, Path(scene.output_file(args.path)).stat().st_size, "/path")


def _told(scene: Scene) -> dict[str, Any]:
    return json.loads(Path(scene.input_file(ONLINE)).read_bytes())
