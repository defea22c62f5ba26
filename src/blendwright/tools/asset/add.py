from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from blendwright.tool_api import Block, Example, Findings, Kind, Scene, Tool
from blendwright.tool_api.arguments import Args, AssetPath, Name, Vector3, optional
from blendwright.tool_api.file_port import Arrival
from blendwright.tool_api.mentions import CollectionName, ObjectName
from blendwright.tool_api.promises import SAFE_ONE_TIME_WRITE, Determinism, Idempotence, Revert
from blendwright.tools.asset.added import AssetAdded, AssetFacts
from blendwright.tools.asset.linking import link_asset
from blendwright.tools.asset.origin import Origin, read_origin
from blendwright.tools.asset.placing import MARK, at_asset, free_name, marked_collection, own_words, put_in_place
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
DELETED_CRATE = ("object.delete", {"object": "Crate"})
DELETED_RED = ("material.delete", {"name": "Red"})
GLB = ("file.export", {"path": "crate.glb"})
LIBRARY = ("file.export", {"path": "crate.blend"})


class AddArgs(Args):
    asset: AssetPath = Field(
        description="The asset as listed by asset.search, or a file or PBR folder within the allowed roots."
    )
    name: Name | None = optional("Name of the datablock in a .blend file; for a PBR folder, name of the new material.")
    kind: BlendKind | None = optional("Kind of that datablock, if several have the name.")
    mode: Literal["append", "instance", "link"] = Field(
        default="append",
        description="append: copy the data into the scene. instance: add an empty that shows the asset; several "
        "instances share one copy of the data. link: the data stays in its .blend file.",
    )
    location: Vector3 | None = optional("Position in metres.")
    rotation_euler_deg: Vector3 | None = optional("Rotation about X, Y and Z in degrees, in XYZ order.")
    scale: Vector3 | None = optional("Scale along X, Y and Z.")
    collection: CollectionName | None = optional("Collection to link it to. Default: the scene's own collection.")
    assign_to: Annotated[list[ObjectName], Field(min_length=1, max_length=1000)] | None = optional(
        "Objects whose materials are replaced with the added material."
    )
    on_collision: Literal["refuse", "rename"] = Field(
        default="refuse", description="If a name is in use: refuse the call, or rename the added datablock."
    )


class AddAsset(Tool[AddArgs, AssetAdded]):
    """Add an asset of a library: objects, collections, models, materials, worlds, node groups, PBR textures.

    Objects and collections can be appended, instanced or linked, and models appended or instanced; everything else is
    appended. A folder of PBR pictures becomes a material. The result and the receipt contain the asset's licence and
    source.
    """

    name = "asset.add"
    version = 2
    promises = (
        SAFE_ONE_TIME_WRITE.but(determinism=Determinism.NONDETERMINISTIC, revert=Revert.MEMFILE, replayable=False)
        .writes_to(*Kind)
        .needs("file_read", "object_write", "mesh_write", "material_write")
    )
    makes_others = True
    examples = (
        Example({"asset": "crate.blend", "name": "Crate"}, CRATE, LIBRARY, DELETED_CRATE),
        Example({"asset": "crate.glb", "location": [1, 2, 0]}, CRATE, GLB, DELETED_CRATE),
        Example({"asset": "crate.blend", "name": "Crate", "mode": "instance", "scale": [2, 2, 2]}, CRATE, LIBRARY, DELETED_CRATE),
        Example({"asset": "crate.blend", "name": "Crate", "mode": "link", "location": [1, 2, 0]}, CRATE, LIBRARY, DELETED_CRATE),
        Example(
            {"asset": "crate.blend", "name": "Red", "kind": "materials", "assign_to": ["Box"]},
            CRATE, RED, DRESSED, LIBRARY, DELETED_CRATE, DELETED_RED, ("mesh.create_primitive", {"kind": "cube", "name": "Box"}),
        ),
    )  # fmt: skip

    def idempotence_for(self, args: AddArgs) -> Idempotence:
        if args.on_collision == "rename":
            return Idempotence.ACCUMULATING
        return Idempotence.NON_IDEMPOTENT

    def determinism_for(self, args: AddArgs) -> Determinism:
        """Return NONDETERMINISTIC for formats other than .blend.

        Their importers let Blender order the edges of large meshes, and that order depends on the number of processor
        cores.
        """
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
            yield invalid("only data in a .blend file can be linked", "/mode", "Use mode append or instance.")
            return
        if Path(file).is_dir():
            for finding in FromTextures().check(scene, _textures(args)):
                yield Finding(finding.fault, finding.message, _AT.get(finding.pointer, "/asset"), finding.cure)
            yield from _material_only(args, "materials")
            return
        if Path(file).suffix.lower().removeprefix(".") not in IMPORTS:
            endings = ", ".join(f".{ending}" for ending in sorted(IMPORTS))
            fix = f"Name a folder of PBR pictures, or a file of one of these types: {endings}."
            yield invalid("this type of file cannot be added as an asset", "/asset", fix)
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
                    f"only objects and collections can be linked, and the asset contains {kind.value}",
                    "/mode",
                    "Use mode append.",
                )

    def apply(self, scene: Scene, args: AddArgs) -> AssetAdded:
        file = Path(scene.input_file(args.asset))
        facts = AssetFacts(args.asset, _digest(file), args.mode, read_origin(file))
        if file.is_dir():
            created = FromTextures().apply(scene, _textures(args))
            _assign(scene, args, scene.require(Kind.MATERIAL, created.material))
            images = [(Kind.IMAGE, texture.image) for texture in created.maps]
            return facts.result([(Kind.MATERIAL, created.material), *images])
        contents = None
        if form_of(str(file)) == "blend":
            _, contents = _pick(args, _contents(scene, str(file)))
        placing = contents is None or not contents.keys().isdisjoint((Kind.OBJECT, Kind.COLLECTION))
        if args.mode == "link" and contents is not None:
            return link_asset(scene, args, file, contents, facts)
        if args.mode == "instance" and placing:
            return self._instance(scene, args, file, contents, facts)
        arrivals = _import(scene, file, target_collection(scene, args.collection), contents)
        if not arrivals:
            message = "the asset contained no datablocks"
            raise StepError.of(Fault.EXECUTION_FAILED, message, at="/asset", cure="Check the content of its file.")
        renamed = [arrival for arrival in arrivals if arrival.name != arrival.origin]
        if renamed and args.on_collision == "refuse":
            raise StepError(collision([(arrival.kind, arrival.origin) for arrival in renamed], "/asset"))

        objects = [arrival.name for arrival in arrivals if arrival.kind is Kind.OBJECT]
        put_in_place(scene, args, [scene.require(Kind.OBJECT, name) for name in objects])
        origin = _origin_of(scene, arrivals)
        if args.assign_to:
            _assign(scene, args, scene.require(Kind.MATERIAL, _assigned_material(args, arrivals)))
        names = [(arrival.kind, arrival.name) for arrival in arrivals]
        return facts.result(names, {arrival.origin: arrival.name for arrival in renamed}, origin)

    def _instance(
        self, scene: Scene, args: AddArgs, file: Path, contents: Mapping[Kind, Sequence[str]] | None, facts: AssetFacts
    ) -> AssetAdded:
        """Add an empty that instances a collection outside of the scene, which holds the imported data.

        If an earlier call imported the same asset, reuse its collection.
        """
        mark = f"{facts.sha256} {args.name or ''}".strip()
        home = marked_collection(scene, mark)
        names: list[tuple[Kind, str]] = []
        renamed: dict[str, str] = {}
        origin = Origin()
        wanted = args.name or file.stem
        if home is None:
            home = scene.create(Kind.COLLECTION, free_name(scene, Kind.COLLECTION, f"{wanted} (asset)", rename=True))
            arrivals = _import(scene, file, home, contents)
            origin = _origin_of(scene, arrivals)
            # Data inside an instance may be renamed even with on_collision "refuse": no caller refers to its names.
            renamed = {arrival.origin: arrival.name for arrival in arrivals if arrival.name != arrival.origin}
            home = scene.require(Kind.COLLECTION, home.name)
            home[MARK] = mark
            home[MARK_ORIGIN] = json.dumps([origin.author, origin.license, origin.source, origin.copyright])
            names = [(Kind.COLLECTION, home.name), *((arrival.kind, arrival.name) for arrival in arrivals)]
        else:
            origin = _stored_origin(home)
        title = free_name(scene, Kind.OBJECT, wanted, rename=args.on_collision == "rename" or bool(names))
        empty = scene.create(Kind.OBJECT, title, None)
        empty.instance_type, empty.instance_collection = "COLLECTION", home
        scene.link(target_collection(scene, args.collection), empty)
        put_in_place(scene, args, [empty])
        added = facts.result([(Kind.OBJECT, title), *names], renamed, origin)
        return added.model_copy(update={"reused": not names})

    def verify(self, scene: Scene, args: AddArgs, result: AssetAdded) -> Findings:
        if args.mode == "link":
            yield from differs("the library", True, args.asset in scene.libraries(), "/asset")
        for name in result.objects:
            yield from differs(f"the presence of '{name}'", True, scene.find(Kind.OBJECT, name) is not None, "/asset")
        for index, name in enumerate(args.assign_to or ()):
            slots = scene.require(Kind.OBJECT, name).material_slots
            has_material = any(slot.material and slot.material.name in result.materials for slot in slots)
            yield from differs("that it has the material", True, has_material, f"/assign_to/{index}")


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
    """Return the hash of a file, or of all files in a folder."""
    files = [file]
    if file.is_dir():
        files = sorted(file.iterdir())
    digest = hashlib.sha256()
    for path in files:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _origin_of(scene: Scene, arrivals: Sequence[Arrival]) -> Origin:
    """Return the origin that the asset data of imported datablocks states."""
    origin = Origin()
    for arrival in arrivals:
        origin = origin.otherwise(own_words(scene.require(arrival.kind, arrival.name)))
    return origin


def _assigned_material(args: AddArgs, arrivals: Sequence[Arrival]) -> str:
    """Return the name of the imported material that the caller named, else of the first one."""
    materials = [arrival for arrival in arrivals if arrival.kind is Kind.MATERIAL]
    for arrival in materials:
        if arrival.origin == args.name:
            return arrival.name
    return materials[0].name


def _material_only(args: AddArgs, kind: str) -> Findings:
    """Yield findings for arguments that do not apply to this kind of asset."""
    if args.assign_to is not None and kind != "materials":
        yield invalid(f"only materials can be assigned, and the asset contains {kind}", "/assign_to", "Leave it out.")
    if kind not in ("objects", "collections"):
        for argument in ("location", "rotation_euler_deg", "scale"):
            if getattr(args, argument) is not None:
                yield invalid(f"{kind} have no position in the scene", f"/{argument}", "Leave it out.")


def _pick(args: AddArgs, contents: Mapping[Kind, Sequence[str]]) -> tuple[tuple[Kind, str], dict[Kind, list[str]]]:
    """Return the kind and name of the datablock to add, and the contents to import. Raise StepError if it is unclear."""
    kinds = [Kind(value) for value in KINDS]
    if args.kind:
        kinds = [Kind(args.kind)]

    if args.name is not None:
        for kind in kinds:
            if args.name in contents.get(kind, ()):
                return (kind, args.name), {kind: [args.name]}
        names = list(chain.from_iterable(contents.get(kind, ()) for kind in kinds))
        label = "asset"
        if args.kind:
            label = kinds[0].label
        fix = did_you_mean(args.name, names, otherwise=f"It contains {', '.join(names[:10]) or 'none'}.")
        message = f"the file contains no {label} named '{args.name}'"
        raise StepError(Finding(Fault.TARGET_NOT_FOUND, message, "/name", fix, "outside_scene"))

    for kind in kinds:
        names = list(contents.get(kind, ()))
        if len(names) == 1:
            return (kind, names[0]), {kind: names}
        if names:
            fix = f"Name one: {', '.join(names[:20])}."
            raise StepError(Finding(Fault.ARGS_INVALID, f"the file contains {len(names)} {kind.value}", "/name", fix))
    raise StepError(Finding(Fault.ARGS_INVALID, "the file contains nothing to add", "/asset", "Choose another asset."))


def _stored_origin(home: Block) -> Origin:
    """Return the origin stored on an instanced collection, or an empty one if it is missing or not readable."""
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
