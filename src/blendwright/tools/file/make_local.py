from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from blendwright.tool_api.arguments import AnyPath, Args, Result
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Revert
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import conflict, differs
from blendwright.tools.file.contents import MOST_NAMES, Renamed, collision
from blendwright.tools.file.link import CRATE, LIBRARY, NO_CRATE, NO_PROPS, PROPS
from blendwright.values.findings import did_you_mean

LINKED = ("file.link", {"path": "props.blend", "link": [{"kind": "collections", "name": "Props"}]})


class MakeLocalArgs(Args):
    library: AnyPath = Field(description="The .blend file: its path, or its name where that is enough.")
    on_collision: Literal["refuse", "rename"] = Field(
        default="refuse", description="When a name is taken: refuse, or rename what was linked (the result lists it)."
    )


class MadeLocal(Result):
    library: str = Field(description="The file that nothing is linked from any more.")
    counts: dict[str, int] = Field(description="How many datablocks are part of the scene now, by kind.")
    renamed: list[Renamed] = Field(max_length=MOST_NAMES, description="What has another name than in its file.")


class MakeLocal(Tool[MakeLocalArgs, MadeLocal]):
    """Make what is linked from a .blend file part of the scene."""

    name = "file.make_local"
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("file_read", "object_write", "mesh_write", "material_write")
    )
    makes_others = True
    examples = (Example({"library": "props.blend"}, PROPS, CRATE, LIBRARY, NO_CRATE, NO_PROPS, LINKED),)

    def check(self, scene: Scene, args: MakeLocalArgs) -> Findings:
        found = _matching(scene, args.library)
        if len(found) == 1:
            taken = [(kind, name) for kind, name in scene.linked(found[0]) if scene.find(kind, name) is not None]
            if taken and args.on_collision == "refuse":
                yield collision(taken, "/library")
            return
        libraries = scene.libraries()
        if not libraries:
            yield conflict("nothing is linked", "/library", "Link something with file.link first.")
        elif not found:
            cure = did_you_mean(args.library, libraries, otherwise=f"Linked are: {', '.join(libraries[:5])}.")
            yield conflict(f"nothing is linked from '{args.library}'", "/library", cure)
        else:
            yield conflict("several linked files have that name", "/library", f"Say which: {', '.join(found[:5])}.")

    def apply(self, scene: Scene, args: MakeLocalArgs) -> MadeLocal:
        (library,) = _matching(scene, args.library)
        came = scene.make_local(library)
        counts = Counter(arrival.kind.value for arrival in came)
        renamed = [each for each in came if each.name != each.origin]
        return MadeLocal(
            library=library,
            counts=dict(sorted(counts.items())),
            renamed=[Renamed(kind=each.kind, old=each.origin, new=each.name) for each in renamed[:MOST_NAMES]],
        )

    def verify(self, scene: Scene, args: MakeLocalArgs, result: MadeLocal) -> Findings:
        yield from differs("whether it is still linked", False, result.library in scene.libraries(), "/library")


def _matching(scene: Scene, name: str) -> list[str]:
    return [path for path in scene.libraries() if path == name or path.endswith("/" + name.removeprefix("./"))]
