from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, AssetPath, Name, Vector3, optional
from blendwright.tool_api.file_port import Arrival
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Idempotence, Revert
from blendwright.tools.asset.added import AssetAdded, Told
from blendwright.tools.asset.linking import link_asset
from blendwright.tools.asset.origin import Origin, read_origin
from blendwright.tools.asset.placing import MARK, at_asset, free_name, own_words, put_in_place
from blendwright.tools.checks import differs, existing_object, invalid, missing_target_collection, target_collection
from blendwright.tools.file.contents import collision
from blendwright.tools.file.formats import IMPORTS, form_of, truncation_problems
from blendwright.tools.material.from_textures import FromTextures, FromTexturesArgs
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding, did_you_mean

BlendKind = Literal["objects", "collections", "materials", "worlds", "node_groups"]
KINDS: tuple[BlendKind, ...] = ("collections", "objects", "materials", "worlds", "node_groups")
MARK_ORIGIN = f"{MARK}_origin"
CRATE = ("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
RED = ("material.ensure_principled", {"name": "Red", "base_color": [0.8, 0.1, 0.1]})
DRESSED = ("material.assign", {"object": "Crate", "material": "Red"})
GONE = ("object.delete", {"object": "Crate"})
NO_RED = ("material.delete", {"name": "Red"})
GLB, LIBRARY = (("file.export", {"path": f"crate.{ending}"}) for ending in ("glb", "blend"))


class AddArgs(Args):
    asset: AssetPath = Field(description="As asset.search names it, or a file or PBR folder in the roots.")
    name: Name | None = optional("Which datablock of a .blend file; of a PBR folder, the new material's name.")
    kind: BlendKind | None = optional("Kind of that datablock, where several have the name.")
    mode: Literal["append", "instance", "link"] = Field(
        default="append",
        description="instance: an empty that shows the asset, whose data is in the scene once; link: its data stays in its .blend file.",
    )
    location: Vector3 | None = optional("Where to put it, in metres.")
    rotation_euler_deg: Vector3 | None = optional("How to turn it.")
    scale: Vector3 | None = optional("How to scale it.")
    collection: CollectionName | None = optional("Collection to put it into; the scene's own when left out.")
    assign_to: Annotated[list[ObjectName], Field(min_length=1, max_length=1000)] | None = optional(
        "Objects that get a material that is added, instead of the materials they have."
    )
    on_collision: Literal["refuse", "rename"] = Field(
        default="refuse", description="When a name is taken: refuse, or rename what is added."
    )


class AddAsset(Tool[AddArgs, AssetAdded]):
    """Add an asset of a library: objects, collections, models, materials, worlds, node groups, PBR textures.

    Objects and collections are appended, instanced or linked, models appended or instanced, the rest is appended; a folder of PBR
    pictures becomes a material. Its licence and source are told, and kept in the receipt."""

    name = "asset.add"
    version = 2
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("file_read", "object_write", "mesh_write", "material_write")
    )
    makes_others = True
    examples = (
        Example({"asset": "crate.blend", "name": "Crate"}, CRATE, LIBRARY, GONE),
        Example({"asset": "crate.glb", "location": [1, 2, 0]}, CRATE, GLB, GONE),
        Example({"asset": "crate.blend", "name": "Crate", "mode": "instance", "scale": [2, 2, 2]}, CRATE, LIBRARY, GONE),
        Example({"asset": "crate.blend", "name": "Crate", "mode": "link", "location": [1, 2, 0]}, CRATE, LIBRARY, GONE),
        Example(
            {"asset": "crate.blend", "name": "Red", "kind": "materials", "assign_to": ["Box"]},
            CRATE, RED, DRESSED, LIBRARY, GONE, NO_RED, ("mesh.create_primitive", {"kind": "cube", "name": "Box"}),
        ),
    )  # fmt: skip

    def idempotence_for(self, args: AddArgs) -> Idempotence:
        if args.on_collision == "rename":
            return Idempotence.ACCUMULATING
        return Idempotence.NON_IDEMPOTENT

    def determinism_for(self, args: AddArgs) -> Determinism:
        """Importers of other formats leave the edges of large meshes to Blender, whose order depends on the processor's cores."""
        ending = Path(args.asset).suffix.lower()
        if ending in ("", ".blend"):
            return Determinism.DETERMINISTIC
        return Determinism.NONDETERMINISTIC

    def check(self, scene: Scene, args: AddArgs) -> Findings:
        yield from missing_target_collection(scene, args.collection)
        for index, name in enumerate(args.assign_to or ()):
            yield from existing_object(scene, name, f"/assign_to/{index}", "MESH", "CURVE", "SURFACE", "FONT", "META")
        file = scene.input_file(args.asset)
        if args.mode == "link" and Path(file).suffix.lower() != ".blend":
            yield invalid("only what is in a .blend file can be linked", "/mode", "Append it, or make it an instance.")
            return
        if Path(file).is_dir():
            for finding in FromTextures().check(scene, _textures(args)):
                yield Finding(finding.fault, finding.message, _AT.get(finding.pointer, "/asset"), finding.cure)
            yield from _material_only(args, "materials")
            return
        if Path(file).suffix.lower().removeprefix(".") not in IMPORTS:
            known = ", ".join(f".{each}" for each in sorted(IMPORTS))
            yield invalid(
                "this is no asset that can be added", "/asset", f"Known are folders of PBR pictures, and {known}."
            )
            return
        yield from truncation_problems(file, form_of(file))
        if form_of(file) != "blend":
            yield from _material_only(args, "objects")
            return
        try:
            (kind, _), _ = _pick(args, _contents(scene, file))
        except StepError as error:
            yield error.finding
        else:
            yield from _material_only(args, kind.value)
            if args.mode == "link" and kind not in (Kind.OBJECT, Kind.COLLECTION):
                yield invalid(
                    f"only objects and collections are linked, and this brings {kind.value}", "/mode", "Append it."
                )

    def apply(self, scene: Scene, args: AddArgs) -> AssetAdded:
        file = Path(scene.input_file(args.asset))
        told = Told(args.asset, _digest(file), args.mode, read_origin(file))
        if file.is_dir():
            made = FromTextures().apply(scene, _textures(args))
            _assign(scene, args, scene.require(Kind.MATERIAL, made.material))
            return told.result([(Kind.MATERIAL, made.material), *((Kind.IMAGE, each.image) for each in made.maps)])
        contents = None
        if form_of(str(file)) == "blend":
            _, contents = _pick(args, _contents(scene, str(file)))
        placing = contents is None or not contents.keys().isdisjoint((Kind.OBJECT, Kind.COLLECTION))
        if args.mode == "link" and contents is not None:
            return link_asset(scene, args, file, contents, told)
        if args.mode == "instance" and placing:
            return self._instance(scene, args, file, contents, told)
        arrivals = _import(scene, file, target_collection(scene, args.collection), contents)
        renamed = [each for each in arrivals if each.name != each.origin]
        if not arrivals:
            raise StepError.of(
                Fault.EXECUTION_FAILED, "the asset brought nothing", at="/asset", cure="Look into its file."
            )
        if renamed and args.on_collision == "refuse":
            raise StepError(collision([(each.kind, each.origin) for each in renamed], "/asset"))
        put_in_place(
            scene, args, [scene.require(Kind.OBJECT, each.name) for each in arrivals if each.kind is Kind.OBJECT]
        )
        origin = Origin()
        for each in arrivals:
            origin = origin.otherwise(own_words(scene.require(each.kind, each.name)))
        materials = [each.name for each in arrivals if each.kind is Kind.MATERIAL]
        if args.assign_to:
            wanted = next(
                (each.name for each in arrivals if each.kind is Kind.MATERIAL and each.origin == args.name), None
            )
            _assign(scene, args, scene.require(Kind.MATERIAL, wanted or materials[0]))
        names = [(each.kind, each.name) for each in arrivals]
        return told.result(names, {each.origin: each.name for each in renamed}, origin)

    def _instance(
        self, scene: Scene, args: AddArgs, file: Path, contents: Mapping[Kind, Sequence[str]] | None, told: Told
    ) -> AssetAdded:
        """An empty that shows a collection outside of the scene, which holds what the asset brought; one that is there is used again."""
        mark = f"{told.sha256} {args.name or ''}".strip()
        home = next((each for each in scene.blocks(Kind.COLLECTION) if each.get(MARK) == mark), None)
        names: list[tuple[Kind, str]] = []
        renamed: dict[str, str] = {}
        origin = Origin()
        wanted = args.name or file.stem
        if home is None:
            home = scene.create(Kind.COLLECTION, free_name(scene, Kind.COLLECTION, f"{wanted} (asset)", rename=True))
            arrivals = _import(scene, file, home, contents)
            for each in arrivals:
                origin = origin.otherwise(own_words(scene.require(each.kind, each.name)))
            # What is inside of an instance is out of the way: nobody minds its names.
            renamed = {each.origin: each.name for each in arrivals if each.name != each.origin}
            home = scene.require(Kind.COLLECTION, home.name)
            home[MARK] = mark
            home[MARK_ORIGIN] = json.dumps([origin.author, origin.license, origin.source, origin.copyright])
            names = [(Kind.COLLECTION, home.name), *((each.kind, each.name) for each in arrivals)]
        else:
            origin = _noted(home)
        title = free_name(scene, Kind.OBJECT, wanted, rename=args.on_collision == "rename" or bool(names))
        empty = scene.create(Kind.OBJECT, title, None)
        empty.instance_type, empty.instance_collection = "COLLECTION", home
        scene.link(target_collection(scene, args.collection), empty)
        put_in_place(scene, args, [empty])
        added = told.result([(Kind.OBJECT, title), *names], renamed, origin)
        return added.model_copy(update={"reused": not names})

    def verify(self, scene: Scene, args: AddArgs, result: AssetAdded) -> Findings:
        if args.mode == "link":
            yield from differs("the library", True, args.asset in scene.libraries(), "/asset")
        for name in result.objects:
            yield from differs(f"the presence of '{name}'", True, scene.find(Kind.OBJECT, name) is not None, "/asset")
        for index, name in enumerate(args.assign_to or ()):
            slots = [slot.material.name for slot in scene.require(Kind.OBJECT, name).material_slots if slot.material]
            yield from differs(
                "whether it has the material", True, bool({*slots} & {*result.materials}), f"/assign_to/{index}"
            )


_AT = {"/name": "/name"}


def _contents(scene: Scene, file: str) -> Mapping[Kind, Sequence[str]]:
    with at_asset():
        return scene.blend_contents(file)


def _import(scene: Scene, file: Path, home: Block, contents: Mapping[Kind, Sequence[str]] | None) -> Sequence[Arrival]:
    with at_asset():
        return scene.import_file(str(file), form_of(str(file)), home, contents)


def _textures(args: AddArgs) -> FromTexturesArgs:
    return FromTexturesArgs(name=args.name or Path(args.asset).name, folder=args.asset)


def _digest(file: Path) -> str:
    found = hashlib.sha256()
    for each in sorted(file.iterdir()) if file.is_dir() else [file]:
        if each.is_file():
            found.update(each.read_bytes())
    return found.hexdigest()


def _material_only(args: AddArgs, kind: str) -> Findings:
    """What does not go together."""
    if args.assign_to is not None and kind != "materials":
        yield invalid(f"only materials are assigned, and this brings {kind}", "/assign_to", "Leave it out.")
    if kind not in ("objects", "collections"):
        for argument in ("location", "rotation_euler_deg", "scale"):
            if getattr(args, argument) is not None:
                yield invalid(f"{kind} have no place in the scene", f"/{argument}", "Leave it out.")


def _pick(args: AddArgs, contents: Mapping[Kind, Sequence[str]]) -> tuple[tuple[Kind, str], dict[Kind, list[str]]]:
    kinds = [Kind(each) for each in ([args.kind] if args.kind else KINDS)]
    if args.name is not None:
        kind = next((each for each in kinds if args.name in contents.get(each, ())), None)
        if kind is None:
            names = [name for each in kinds for name in contents.get(each, ())]
            cure = did_you_mean(
                args.name, names, otherwise=f"It holds {', '.join(names[:10]) or 'nothing of the kind'}."
            )
            message = f"the file holds no {kinds[0].label if args.kind else 'asset'} named '{args.name}'"
            raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, "/name", cure, "outside_scene"))
        return (kind, args.name), {kind: [args.name]}
    for kind in kinds:
        names = list(contents.get(kind, ()))
        if len(names) == 1:
            return (kind, names[0]), {kind: names}
        if names:
            cure = f"Name one: {', '.join(names[:20])}."
            raise StepError(Finding(Fault.ARGS_INVALID, f"the file holds {len(names)} {kind.value}", "/name", cure))
    raise StepError(Finding(Fault.ARGS_INVALID, "the file holds nothing to add", "/asset", "Choose another one."))


def _noted(home: Block) -> Origin:
    """What was noted with the data of an instance; nothing where somebody else has changed the note."""
    try:
        author, license, source, copyright = map(str, json.loads(home.get(MARK_ORIGIN, "")))
    except (ValueError, TypeError):
        return Origin()
    return Origin(author=author, license=license, source=source, copyright=copyright)


def _assign(scene: Scene, args: AddArgs, material: Block) -> None:
    for name in args.assign_to or ():
        data = scene.edit(scene.require(Kind.OBJECT, name).data)
        data.materials.clear()
        data.materials.append(material)
