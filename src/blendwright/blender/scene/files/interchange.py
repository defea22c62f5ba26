"""Files of other formats, in and out: the operators that Blender offers nothing else for.

Responsible for: calling them so that they depend on nothing but their arguments and touch one file. Which names may arrive is
the tool's to judge.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import MappingProxyType
from typing import Any

import bpy

from blendwright.blender.scene.code.hidden_drivers import refuse_hidden_drivers
from blendwright.blender.scene.code.scripts import silenced
from blendwright.blender.scene.files.file_facts import facts_of
from blendwright.blender.scene.files.imported_blocks import RESULTS, ImportTracker, link_imported, pack_painted_images
from blendwright.blender.scene.files.imported_paths import make_absolute
from blendwright.blender.scene.reader import SceneReader
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.tool_api.file_port import Arrival, Carried
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.wire.file_facts import FileFacts

_ops: Any = bpy.ops

# Options that not every Blender version knows are dropped where they are unknown.
IMPORTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gltf": ("import_scene.gltf", {"import_scene_as_collection": False, "import_scene_extras": False}),
    "obj": ("wm.obj_import", {"mtl_name_collision_mode": "MAKE_UNIQUE"}),
    "stl": ("wm.stl_import", {}),
    "ply": ("wm.ply_import", {}),
    "usd": (
        "wm.usd_import",
        {"set_frame_range": False, "create_world_material": False, "mtl_name_collision_mode": "MAKE_UNIQUE",
         "import_textures_mode": "IMPORT_PACK", "tex_name_collision_mode": "USE_EXISTING"},
    ),
    "fbx": (
        # Blender 5.0 has a new importer; there the old one fails on lights.
        "wm.fbx_import" if bpy.app.version >= (5, 0, 0) else "import_scene.fbx",
        {"use_image_search": False, "mtl_name_collision_mode": "MAKE_UNIQUE"},
    ),
    "alembic": ("wm.alembic_import", {"set_frame_range": False, "as_background_job": False}),
}  # fmt: skip
EXPORTERS: dict[str, tuple[str, dict[str, Any]]] = {
    "gltf": (
        "export_scene.gltf",
        {"export_format": "GLB", "export_cameras": True, "export_lights": True, "export_extras": True, "export_apply": True,
         "will_save_settings": False},
    ),
    "obj": ("wm.obj_export", {"export_materials": False}),
    "stl": ("wm.stl_export", {}),
    "ply": ("wm.ply_export", {}),
    "usd": (
        "wm.usd_export",
        {"export_textures": False, "export_textures_mode": "KEEP", "relative_paths": False, "convert_world_material": False},
    ),
    # Modifiers as the viewport shows them, as in the other formats.
    "fbx": (
        "export_scene.fbx",
        {"path_mode": "COPY", "embed_textures": True, "use_mesh_modifiers_render": False, "add_leaf_bones": False,
         "apply_scale_options": "FBX_SCALE_UNITS", "use_custom_props": True},
    ),
    "alembic": ("wm.alembic_export", {"evaluation_mode": "VIEWPORT", "as_background_job": False}),
}  # fmt: skip
# What a profile changes: a game engine wants triangles, a printer millimetres.
PROFILE_EXPORTS: dict[tuple[str, str], dict[str, Any]] = {
    ("game", "fbx"): {"use_triangles": True, "mesh_smooth_type": "FACE"},
    ("film", "usd"): {"evaluation_mode": "VIEWPORT"},
    ("print", "stl"): {"global_scale": 1000.0, "use_scene_unit": False},
}
PROFILE_IMPORTS: dict[tuple[str, str], dict[str, Any]] = {("print", "stl"): {"global_scale": 0.001}}
# The one form of USD that holds its pictures.
WITH_PICTURES = {"export_textures": True, "export_textures_mode": "NEW", "relative_paths": True}
ENDINGS = {
    "JPEG": ".jpg",
    "OPEN_EXR": ".exr",
    "HDR": ".hdr",
    "TARGA": ".tga",
    "TIFF": ".tif",
    "BMP": ".bmp",
    "WEBP": ".webp",
}
CHANNELS = ("location", "rotation_quaternion", "rotation_axis_angle", "rotation_euler", "scale")
EXPORT_COLLECTION = f"{RESERVED_PREFIX}export"


class Interchange(SceneReader):
    """The part of the Scene port that reads and writes files of other formats."""

    def blend_contents(self, path: str) -> Mapping[Kind, Sequence[str]]:
        with reporting_broken_file(path), bpy.data.libraries.load(path, link=False) as (source, _):
            return {kind: sorted(getattr(source, kind.value, ())) for kind in Kind}

    def import_file(
        self, path: str, form: str, home: Any, contents: Mapping[Kind, Sequence[str]] | None = None
    ) -> Sequence[Arrival]:
        requested: list[Any] = []

        def import_once() -> None:
            requested.clear()
            with reporting_broken_file(path):
                if form == "blend":
                    requested.extend(_append(path, contents or {}))
                else:
                    _import(path, form)

        self._stale = True
        tracker = ImportTracker()
        renamed = _import_with_original_names(tracker, import_once)
        new = tracker.new()
        reject_unsupported(new)
        refuse_hidden_drivers("/path")
        link_imported(self.active, home, new, requested)
        make_absolute(new, Path(path).parent, self._origin(path))
        pack_painted_images("/path")
        self._state.forget_names()
        names = [(kind, str(block.name), renamed.get(block.session_uid)) for kind, block in new]
        return [Arrival(Kind(kind), name, origin or name) for kind, name, origin in names]

    def _origin(self, staged: str) -> Path:
        """The directory of the file that the core has copied to `staged`."""
        return next((Path(named).parent for named, copy in self._files.items() if copy == staged), Path(staged).parent)

    def file_facts(self, objects: Sequence[Any]) -> FileFacts:
        return facts_of(self.depsgraph(), objects)

    def export_file(
        self, path: str, form: str, objects: Sequence[Any] | None, profile: str | None = None
    ) -> Sequence[Carried]:
        if form != "blend":
            _export(path, form, objects or (), profile)
            return ()
        # A file must not carry tombstones.
        self._state.purge()
        # What is touched is hashed again after the step: a scene that was not put back as it was would not be kept.
        with silenced(self.undo_log.touch) as carried:
            if objects is None:
                self._state.save(Path(path))
            else:
                bpy.data.libraries.write(path, set(objects), fake_user=True, path_remap="ABSOLUTE")
        return carried


def _import_with_original_names(tracker: ImportTracker, import_once: Callable[[], None]) -> dict[int, str]:
    """Import; when a name may have been taken, once more with the way cleared. Returns original names by session id."""
    import_once()
    suspects = tracker.suspects()
    if not suspects:
        return {}
    tracker.discard()
    with tracker.with_names_free(suspects) as renamed:
        import_once()
    return renamed


def _import(path: str, form: str, options: Mapping[str, Any] = MappingProxyType({})) -> None:
    layer = bpy.context.view_layer
    # Importers link to the active collection, which may be one that an excluded layer hides.
    layer.active_layer_collection = layer.layer_collection
    name, usual = IMPORTERS[form]
    caches: Any = bpy.data.cache_files
    caches_before = {cache.session_uid for cache in caches}
    _call(name, filepath=path, **{**usual, **options})
    # Only what moves is read from the file again; of the rest Blender notes where it came from.
    bpy.data.batch_remove([each for each in caches if each.session_uid not in caches_before and not each.users])


def _append(path: str, contents: Mapping[Kind, Sequence[str]]) -> list[Any]:
    """Append datablocks with all that they need; returns the collections among those requested."""
    libraries: Any = bpy.data.libraries
    libraries_before = {library.session_uid for library in libraries}
    with bpy.data.libraries.load(path, link=False) as (_, target):
        for kind, names in contents.items():
            setattr(target, kind.value, list(names))
    # Blender keeps a record of where it appended from; the place is the worker's scratch and means nothing later.
    for library in list(libraries):
        if library.session_uid not in libraries_before and not library.users_id:
            libraries.remove(library)
    return [block for block in getattr(target, "collections", ()) if block is not None]


def read_back(path: str, form: str, profile: str) -> FileFacts:
    """What a file holds, brought into the scene of this process, which is used up by it."""
    with reporting_broken_file(path):
        _import(path, form, PROFILE_IMPORTS.get((profile, form), {}))
    bpy.context.view_layer.update()
    return facts_of(bpy.context.evaluated_depsgraph_get(), bpy.data.objects)


def _export(path: str, form: str, objects: Sequence[Any], profile: str | None) -> None:
    """Exporters know selection, visibility or a collection; only the last can be had without touching the scene."""
    group: Any = bpy.data.collections.new(EXPORT_COLLECTION)
    try:
        for obj in objects:
            group.objects.link(obj)
        name, options = EXPORTERS[form]
        options = options | PROFILE_EXPORTS.get((profile or "", form), {})
        options |= WITH_PICTURES if path.endswith(".usdz") else {}
        with _named_textures() if form == "fbx" else nullcontext(), _kept_channels():
            _call(name, filepath=path, check_existing=False, collection=group.name, **options)
    finally:
        bpy.data.collections.remove(group)


@contextmanager
def _kept_channels() -> Generator[None]:
    """Have every animated object where it was: while the GLB exporter goes through tracks, it puts objects back to where constraints
    have them (5.2)."""
    objects: Any = bpy.data.objects
    animated = [obj for obj in objects if obj.library is None and obj.animation_data is not None]
    kept = [(obj, [tuple(getattr(obj, name)) for name in CHANNELS]) for obj in animated]
    try:
        yield
    finally:
        for obj, values in kept:
            for name, value in zip(CHANNELS, values, strict=True):
                if tuple(getattr(obj, name)) != value:
                    setattr(obj, name, value)


@contextmanager
def _named_textures() -> Generator[None]:
    """Give every packed or generated image a file of its own name: FBX embeds one content for each path, and these may have none."""
    paths: dict[Any, str] = {}
    images: Any = bpy.data.images
    written: list[Path] = []
    try:
        for number, image in enumerate(list(images)):
            generated = image.source == "GENERATED" and image.packed_file is None
            if image.library is not None or image.type in RESULTS or not (generated or image.packed_file):
                continue
            if generated:
                ending = ".png"
            else:
                ending = ENDINGS.get(image.file_format, ".png")
            stem = bpy.path.clean_name(image.name).removesuffix(ending.replace(".", "_"))
            name = f"{stem or 'image'}{f'_{number}' if number else ''}{ending}"
            paths[image] = image.filepath_raw
            if generated:
                written.append(_write_generated(image, name))
            if generated:
                image.filepath_raw = str(written[-1])
            else:
                image.filepath_raw = f"//{name}"
        yield
    finally:
        for image, path in paths.items():
            image.filepath_raw = path
        for file in written:
            file.unlink(missing_ok=True)


def _write_generated(image: Any, name: str) -> Path:
    """A file with the pixels of an image that are computed. Of a copy: an image that is saved is another sort of image."""
    file = Path(bpy.app.tempdir) / name
    copy = image.copy()
    try:
        copy.filepath_raw, copy.file_format = str(file), "PNG"
        copy.save()
    finally:
        bpy.data.images.remove(copy)
    return file


def _call(name: str, **options: Any) -> None:
    group, verb = name.split(".")
    operator = getattr(getattr(_ops, group), verb)
    supported = operator.get_rna_type().properties.keys()
    result = operator(**{option: value for option, value in options.items() if option in supported})
    if "FINISHED" not in result:
        raise RuntimeError(f"{name} was cancelled")


def reject_unsupported(new: Sequence[tuple[str, Any]], *, linked: bool = True) -> None:
    """Raises StepError for kinds that nothing here knows, and with `linked` for what lies in another file."""
    unsupported = sorted({kind for kind, _ in new} - {kind.value for kind in Kind})
    if unsupported:
        message = f"the file brings {', '.join(unsupported)}, which are not supported"
        cure = "Leave them out of the file, or name what to append without them."
        raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=cure)
    if linked:
        foreign = next((block.name for _, block in new if block.library), None)
    else:
        foreign = None
    if foreign is not None:
        message = f"the file links '{foreign}' from another file"
        cure = "Make everything local in the file first."
        raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=cure)


@contextmanager
def reporting_broken_file(path: str) -> Generator[None]:
    """Operators answer a broken file with a RuntimeError that holds a whole trace; its last line says what is wrong."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        lines = [line.strip() for line in str(error).replace(path, Path(path).name).splitlines() if line.strip()]
        reason = next(
            (line for line in reversed(lines) if not line.startswith(("Location:", "File "))), type(error).__name__
        )
        raise StepError.of(
            Fault.EXECUTION_FAILED,
            f"Blender cannot read the file: {reason[:300]}",
            at="/path",
            cure="Make sure that it is whole, of the format that its name says, and needs no other file beside it.",
        ) from error
