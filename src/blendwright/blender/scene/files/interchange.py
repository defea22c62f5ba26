"""Import and export of files in other formats, by Blender's operators.

This module calls the operators so that they depend only on their arguments and touch a single file. The tool decides which names
an import may bring.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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

# Operator and options by format. `_call` drops options that the current Blender version does not support.
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
        # In Blender 5.0 the old importer fails on lights, and a new one exists.
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
    # Export modifiers as the viewport shows them, as the other formats do.
    "fbx": (
        "export_scene.fbx",
        {"path_mode": "COPY", "embed_textures": True, "use_mesh_modifiers_render": False, "add_leaf_bones": False,
         "apply_scale_options": "FBX_SCALE_UNITS", "use_custom_props": True},
    ),
    "alembic": ("wm.alembic_export", {"evaluation_mode": "VIEWPORT", "as_background_job": False}),
}  # fmt: skip
# Export options by profile and format. For example, a game engine needs triangles, and a 3D printer needs millimeters.
PROFILE_EXPORTS: dict[tuple[str, str], dict[str, Any]] = {
    ("game", "fbx"): {"use_triangles": True, "mesh_smooth_type": "FACE"},
    ("film", "usd"): {"evaluation_mode": "VIEWPORT"},
    ("print", "stl"): {"global_scale": 1000.0, "use_scene_unit": False},
}
PROFILE_IMPORTS: dict[tuple[str, str], dict[str, Any]] = {("print", "stl"): {"global_scale": 0.001}}
# Options for USDZ, the only form of USD that contains its textures.
USDZ_OPTIONS = {"export_textures": True, "export_textures_mode": "NEW", "relative_paths": True}
# File suffix by Blender's name of the image format.
IMAGE_SUFFIXES = {
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
        """Return the directory of the original file that the core copied to `staged`."""
        for original, copy in self._files.items():
            if copy == staged:
                return Path(original).parent
        return Path(staged).parent

    def file_facts(self, objects: Sequence[Any]) -> FileFacts:
        return facts_of(self.depsgraph(), objects)

    def export_file(
        self, path: str, form: str, objects: Sequence[Any] | None, profile: str | None = None
    ) -> Sequence[Carried]:
        if form != "blend":
            _export(path, form, objects or (), profile)
            return ()
        # A file must not contain tombstones.
        self._state.purge()
        # The step hashes touched datablocks again, so it fails if the scene was not restored.
        with silenced(self.undo_log.touch) as carried:
            if objects is None:
                self._state.save(Path(path))
            else:
                bpy.data.libraries.write(path, set(objects), fake_user=True, path_remap="ABSOLUTE")
        return carried


def _import_with_original_names(tracker: ImportTracker, import_once: Callable[[], None]) -> dict[int, str]:
    """Import, and import again with the names free if a datablock of the scene may have occupied a name.

    Returns the original names of the new datablocks that were renamed, by session id."""
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
    # Importers link to the active collection, and an excluded layer may hide that one.
    layer.active_layer_collection = layer.layer_collection
    name, default_options = IMPORTERS[form]
    caches: Any = bpy.data.cache_files
    caches_before = {cache.session_uid for cache in caches}
    _call(name, filepath=path, **{**default_options, **options})

    # Only animated data uses its cache file; remove the cache files that Blender created without users.
    unused_caches = [cache for cache in caches if cache.session_uid not in caches_before and not cache.users]
    bpy.data.batch_remove(unused_caches)


def _append(path: str, contents: Mapping[Kind, Sequence[str]]) -> list[Any]:
    """Append datablocks with everything that they need, and return the requested collections."""
    libraries: Any = bpy.data.libraries
    libraries_before = {library.session_uid for library in libraries}
    with bpy.data.libraries.load(path, link=False) as (_, target):
        for kind, names in contents.items():
            setattr(target, kind.value, list(names))
    # Blender keeps a library that records the source of the append. That path is in the worker's scratch directory and soon invalid.
    for library in list(libraries):
        if library.session_uid not in libraries_before and not library.users_id:
            libraries.remove(library)
    return [block for block in getattr(target, "collections", ()) if block is not None]


def read_back(path: str, form: str, profile: str) -> FileFacts:
    """Import a file into the scene of this process and return the facts about it. The process cannot be used for another scene."""
    with reporting_broken_file(path):
        _import(path, form, PROFILE_IMPORTS.get((profile, form), {}))
    bpy.context.view_layer.update()
    return facts_of(bpy.context.evaluated_depsgraph_get(), bpy.data.objects)


def _export(path: str, form: str, objects: Sequence[Any], profile: str | None) -> None:
    """Export objects through a temporary collection.

    Exporters can also filter by selection or visibility, but setting these would change the scene."""
    group: Any = bpy.data.collections.new(EXPORT_COLLECTION)
    try:
        for obj in objects:
            group.objects.link(obj)
        name, options = EXPORTERS[form]
        options = options | PROFILE_EXPORTS.get((profile or "", form), {})
        if path.endswith(".usdz"):
            options |= USDZ_OPTIONS
        with ExitStack() as temporary:
            if form == "fbx":
                temporary.enter_context(_named_textures())
            temporary.enter_context(_preserved_channels())
            _call(name, filepath=path, check_existing=False, collection=group.name, **options)
    finally:
        bpy.data.collections.remove(group)


@contextmanager
def _preserved_channels() -> Generator[None]:
    """Restore the transform channels of every animated local object after the block.

    The GLB exporter of Blender 5.2 moves objects to where their constraints place them while it visits animation tracks."""
    objects: Any = bpy.data.objects
    saved: list[tuple[Any, str, tuple[float, ...]]] = []
    for obj in objects:
        if obj.library is None and obj.animation_data is not None:
            saved += [(obj, name, tuple(getattr(obj, name))) for name in CHANNELS]
    try:
        yield
    finally:
        for obj, name, value in saved:
            if tuple(getattr(obj, name)) != value:
                setattr(obj, name, value)


@contextmanager
def _named_textures() -> Generator[None]:
    """Give every packed or generated image a distinct file path for the length of the block.

    FBX embeds one content per path, and such images may have no path."""
    paths: dict[Any, str] = {}
    images: Any = bpy.data.images
    written: list[Path] = []
    try:
        for number, image in enumerate(list(images)):
            generated = image.source == "GENERATED" and image.packed_file is None
            if image.library is not None or image.type in RESULTS or not (generated or image.packed_file):
                continue
            suffix = ".png"
            if not generated:
                suffix = IMAGE_SUFFIXES.get(image.file_format, ".png")
            stem = bpy.path.clean_name(image.name).removesuffix(suffix.replace(".", "_")) or "image"
            if number:
                stem = f"{stem}_{number}"
            name = f"{stem}{suffix}"

            paths[image] = image.filepath_raw
            if generated:
                file = _write_generated(image, name)
                written.append(file)
                image.filepath_raw = str(file)
            else:
                image.filepath_raw = f"//{name}"
        yield
    finally:
        for image, path in paths.items():
            image.filepath_raw = path
        for file in written:
            file.unlink(missing_ok=True)


def _write_generated(image: Any, name: str) -> Path:
    """Write the computed pixels of an image to a temporary PNG file and return its path.

    Saves a copy of the image, since saving would turn the image itself from a generated one into a file."""
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
        raise RuntimeError(f"Blender cancelled the operator {name}")


def reject_unsupported(new: Sequence[tuple[str, Any]], *, linked: bool = True) -> None:
    """Raise StepError if new datablocks are of unsupported kinds or, with `linked`, are linked from another file."""
    unsupported = sorted({kind for kind, _ in new} - {kind.value for kind in Kind})
    if unsupported:
        message = f"the file contains {', '.join(unsupported)}, which are not supported"
        fix = "Remove them from the file, or name datablocks to append that do not need them."
        raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=fix)

    if not linked:
        return
    for _, block in new:
        if block.library:
            message = f"the file links '{block.name}' from another file"
            fix = "Make everything local in the file first."
            raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=fix)


@contextmanager
def reporting_broken_file(path: str) -> Generator[None]:
    """Convert errors of the block into a StepError that says why Blender cannot read the file at `path`.

    Operators raise a RuntimeError with a complete traceback for a broken file. Only its last line of text is reported."""
    try:
        yield
    except (RuntimeError, OSError) as error:
        lines = str(error).replace(path, Path(path).name).splitlines()
        message = f"Blender cannot read the file: {_last_reason(lines, type(error).__name__)[:300]}"
        fix = "Make sure that the file is complete, has the format of its suffix, and needs no other file next to it."
        raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=fix) from error


def _last_reason(lines: Sequence[str], default: str) -> str:
    for line in reversed(lines):
        text = line.strip()
        if text and not text.startswith(("Location:", "File ")):
            return text
    return default
