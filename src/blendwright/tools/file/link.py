from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, Name, ReadPath, Result, optional
from blendwright.tool_api.mentions import CollectionName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Revert
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Tool
from blendwright.tools.checks import differs, missing_target_collection, target_collection
from blendwright.tools.file.contents import MAX_NAMES, by_kind, missing_contents
from blendwright.tools.file.formats import form_of

CRATE = ("mesh.create_primitive", {"kind": "cube", "name": "Crate", "collection": "Props"})
PROPS = ("collection.create", {"name": "Props"})
LIBRARY = ("file.export", {"path": "props.blend"})
NO_CRATE = ("object.delete", {"object": "Crate"})
NO_PROPS = ("collection.delete", {"name": "Props"})


class Link(Args):
    """A datablock of a .blend file to link."""

    kind: Literal["collections", "objects"] = Field(
        description="collections: an empty of the same name shows the collection and can be moved and copied. "
        "objects: the object stays at its position in the file."
    )
    name: Name = Field(description="Its name in the file.")


class LinkArgs(Args):
    path: ReadPath = Field(description="The .blend file to link from.")
    link: Annotated[list[Link], Field(min_length=1, max_length=100)] = Field(description="Datablocks to link.")
    collection: CollectionName | None = optional(
        "Collection for the linked objects and empties. Default: the scene's own collection."
    )

    @field_validator("path")
    @classmethod
    def _blend(cls, path: str) -> str:
        if not path.lower().endswith(".blend") or form_of(path) != "blend":
            raise PydanticCustomError("link_format", "only .blend files can be linked; import others with file.import")
        return path


class Linked(Result):
    """The datablocks that a call linked."""

    library: str = Field(description="The file that contains the data.")
    instances: list[str] = Field(description="Names of the new empties that show linked collections.")
    linked: dict[str, list[str]] = Field(
        description="Names of everything that is now linked from that file, including dependencies, by kind; at most "
        f"{MAX_NAMES} of each."
    )
    counts: dict[str, int] = Field(description="Number of these datablocks by kind.")


class LinkFile(Tool[LinkArgs, Linked]):
    """Link collections or objects of a .blend file. The data stays in that file.

    Linked data cannot be changed in the scene; only the empty that shows a collection can. file.make_local makes linked
    data part of the scene, and file.import appends a copy at once. If the file changes later, the scene shows the new
    contents, and `blendwright externals` reports it. A file that itself links from other files is refused.
    """

    name = "file.link"
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("file_read", "object_write")
    )
    makes_others = True
    examples = (
        Example(
            {"path": "props.blend", "link": [{"kind": "collections", "name": "Props"}]},
            PROPS, CRATE, LIBRARY, NO_CRATE, NO_PROPS,
        ),
        Example({"path": "props.blend", "link": [{"kind": "objects", "name": "Crate"}]}, PROPS, CRATE, LIBRARY, NO_CRATE, NO_PROPS),
    )  # fmt: skip

    def check(self, scene: Scene, args: LinkArgs) -> Findings:
        yield from missing_target_collection(scene, args.collection)
        named = [(entry.kind, entry.name) for entry in args.link]
        yield from missing_contents(named, scene.blend_contents(scene.input_file(args.path)), "/link")
        for index, entry in enumerate(args.link):
            if entry.kind == "collections":
                yield from scene.name_conflicts(Kind.OBJECT, entry.name, f"/link/{index}/name")

    def apply(self, scene: Scene, args: LinkArgs) -> Linked:
        contents = by_kind((entry.kind, entry.name) for entry in args.link)
        target = target_collection(scene, args.collection)
        instances: list[str] = []
        for block in scene.link_file(scene.input_file(args.path), args.path, contents):
            if scene.kind_of(block) is Kind.OBJECT:
                target.objects.link(block)
                continue
            empty = scene.create(Kind.OBJECT, block.name, None)
            empty.instance_type, empty.instance_collection = "COLLECTION", block
            target.objects.link(empty)
            instances.append(empty.name)
        names: dict[str, list[str]] = {}
        for kind, name in scene.linked(args.path):
            names.setdefault(kind.value, []).append(name)
        return Linked(
            library=args.path,
            instances=instances,
            linked={kind: kind_names[:MAX_NAMES] for kind, kind_names in names.items()},
            counts={kind: len(kind_names) for kind, kind_names in names.items()},
        )

    def verify(self, scene: Scene, args: LinkArgs, result: Linked) -> Findings:
        yield from differs("the library", True, args.path in scene.libraries(), "/path")
        for name in result.instances:
            empty = scene.find(Kind.OBJECT, name)
            shown_name = None
            if empty is not None and empty.instance_collection is not None:
                shown_name = empty.instance_collection.name
            yield from differs(f"the collection that '{name}' shows", name, shown_name, "/link")
