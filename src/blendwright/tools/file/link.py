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
from blendwright.tools.file.contents import MOST_NAMES, by_kind, missing_contents
from blendwright.tools.file.formats import form_of

CRATE = ("mesh.create_primitive", {"kind": "cube", "name": "Crate", "collection": "Props"})
PROPS = ("collection.create", {"name": "Props"})
LIBRARY = ("file.export", {"path": "props.blend"})
NO_CRATE = ("object.delete", {"object": "Crate"})
NO_PROPS = ("collection.delete", {"name": "Props"})


class Link(Args):
    """One datablock of a .blend file."""

    kind: Literal["collections", "objects"] = Field(
        description="collections: shown by an empty of their name, which can be moved and copied; objects: where "
        "they stand in their file."
    )
    name: Name = Field(description="Its name in the file.")


class LinkArgs(Args):
    path: ReadPath = Field(description=".blend file.")
    link: Annotated[list[Link], Field(min_length=1, max_length=100)] = Field(description="What.")
    collection: CollectionName | None = optional("Collection to put it into; the scene's own when left out.")

    @field_validator("path")
    @classmethod
    def _blend(cls, path: str) -> str:
        if not path.lower().endswith(".blend") or form_of(path) != "blend":
            raise PydanticCustomError("link_format", "only .blend files can be linked; import others with file.import")
        return path


class Linked(Result):
    """What was linked."""

    library: str = Field(description="The file that it stays in.")
    instances: list[str] = Field(description="Names of the new empties that show collections.")
    linked: dict[str, list[str]] = Field(
        description="Everything that is linked from that file now, what came along included, by kind; at most "
        f"{MOST_NAMES} of each."
    )
    counts: dict[str, int] = Field(description="How many that are, by kind.")


class LinkFile(Tool[LinkArgs, Linked]):
    """Link collections or objects of a .blend file, which stay in it.

    What is linked cannot be changed here; a collection is shown by an empty that can. file.make_local makes it part of the scene,
    file.import appends a copy at once. When the file has changed the scene shows what it holds then, and `blendwright externals`
    tells. A file that links from other files is refused."""

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
        home = target_collection(scene, args.collection)
        instances: list[str] = []
        for block in scene.link_file(scene.input_file(args.path), args.path, contents):
            if scene.kind_of(block) is Kind.OBJECT:
                home.objects.link(block)
                continue
            empty = scene.create(Kind.OBJECT, block.name, None)
            empty.instance_type, empty.instance_collection = "COLLECTION", block
            home.objects.link(empty)
            instances.append(empty.name)
        names: dict[str, list[str]] = {}
        for kind, name in scene.linked(args.path):
            names.setdefault(kind.value, []).append(name)
        return Linked(
            library=args.path,
            instances=instances,
            linked={kind: found[:MOST_NAMES] for kind, found in names.items()},
            counts={kind: len(found) for kind, found in names.items()},
        )

    def verify(self, scene: Scene, args: LinkArgs, result: Linked) -> Findings:
        yield from differs("the library", True, args.path in scene.libraries(), "/path")
        for name in result.instances:
            empty = scene.find(Kind.OBJECT, name)
            if empty is None:
                shown = None
            else:
                shown = empty.instance_collection
            yield from differs(f"what '{name}' shows", name, None if shown is None else shown.name, "/link")
