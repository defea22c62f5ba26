from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import AnyPath, Args, Result
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Revert
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs
from blendwright.tools.file.contents import MAX_NAMES, Renamed, collision
from blendwright.tools.file.link import CRATE, LIBRARY, NO_CRATE, NO_PROPS, PROPS
from blendwright.values.findings import did_you_mean

LINKED = ("file.link", {"path": "props.blend", "link": [{"kind": "collections", "name": "Props"}]})


class MakeLocalArgs(Args):
    library: AnyPath = Field(description="The linked .blend file: its path, or its name if that is unique.")
    on_collision: Literal["refuse", "rename"] = Field(
        default="refuse",
        description="If a name is in use: refuse the call, or rename the linked datablock (the result lists it).",
    )


class MadeLocal(Result):
    library: str = Field(description="The file that the scene no longer links from.")
    counts: dict[str, int] = Field(description="Number of datablocks that are now part of the scene, by kind.")
    renamed: list[Renamed] = Field(
        max_length=MAX_NAMES, description="Datablocks that have another name than in the file."
    )


class MakeLocal(Tool[MakeLocalArgs, MadeLocal]):
    """Make all data that is linked from a .blend file part of the scene."""

    name = "file.make_local"
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("file_read", "object_write", "mesh_write", "material_write")
    )
    makes_others = True
    examples = (Example({"library": "props.blend"}, PROPS, CRATE, LIBRARY, NO_CRATE, NO_PROPS, LINKED),)

    def check(self, scene: Scene, args: MakeLocalArgs) -> Findings:
        matches = _matching(scene, args.library)
        if len(matches) == 1:
            collisions = [(kind, name) for kind, name in scene.linked(matches[0]) if scene.find(kind, name) is not None]
            if collisions and args.on_collision == "refuse":
                yield collision(collisions, "/library")
            return
        libraries = scene.libraries()
        if not libraries:
            yield conflict("the scene has no linked files", "/library", "Link data with file.link first.")
        elif not matches:
            fix = did_you_mean(args.library, libraries, otherwise=f"Linked files: {', '.join(libraries[:5])}.")
            yield conflict(f"nothing is linked from '{args.library}'", "/library", fix)
        else:
            yield conflict(
                f"several linked files are named '{args.library}'",
                "/library",
                f"Give the path: {', '.join(matches[:5])}.",
            )

    def apply(self, scene: Scene, args: MakeLocalArgs) -> MadeLocal:
        (library,) = _matching(scene, args.library)
        arrivals = scene.make_local(library)
        counts = Counter(arrival.kind.value for arrival in arrivals)
        renamed = [
            Renamed(kind=arrival.kind, old=arrival.origin, new=arrival.name)
            for arrival in arrivals
            if arrival.name != arrival.origin
        ]
        return MadeLocal(
            library=library,
            counts=dict(sorted(counts.items())),
            renamed=renamed[:MAX_NAMES],
        )

    def verify(self, scene: Scene, args: MakeLocalArgs, result: MadeLocal) -> Findings:
        yield from differs("that the file is still linked", False, result.library in scene.libraries(), "/library")


def _matching(scene: Scene, name: str) -> list[str]:
    return [path for path in scene.libraries() if path == name or path.endswith("/" + name.removeprefix("./"))]
