"""Files of other formats, in and out: the operators that Blender offers nothing else for.

Responsible for: calling them so that they depend on nothing but their arguments and touch one file. Which names may arrive is
the tool's to judge.
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy

from blendwright.blender.scene.imported_blocks import ImportTracker, link_imported, pack_painted_images
from blendwright.blender.scene.imported_paths import make_absolute
from blendwright.blender.scene.reader import SceneReader
from blendwright.blender.scene.scripts import silenced
from blendwright.blender.scene.state import RESERVED_PREFIX
from blendwright.tool_api.file_port import Arrival, Carried
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

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
}  # fmt: skip
EXPORT_COLLECTION = f"{RESERVED_PREFIX}export"


class Interchange(SceneReader):
    """The part of the Scene port that reads and writes files of other formats."""

    def blend_contents(self, path: str) -> Mapping[Kind, Sequence[str]]:
        with _reporting_broken_file(path), bpy.data.libraries.load(path, link=False) as (source, _):
            return {kind: sorted(getattr(source, kind.value, ())) for kind in Kind}

    def import_file(
        self, path: str, form: str, home: Any, contents: Mapping[Kind, Sequence[str]] | None = None
    ) -> Sequence[Arrival]:
        requested: list[Any] = []

        def import_once() -> None:
            requested.clear()
            with _reporting_broken_file(path):
                if form == "blend":
                    requested.extend(_append(path, contents or {}))
                else:
                    _import(path, form)

        self._stale = True
        tracker = ImportTracker()
        renamed = _import_with_original_names(tracker, import_once)
        new = tracker.new()
        _reject_unsupported(new)
        link_imported(self.active, home, new, requested)
        make_absolute(new, Path(path).parent, self._origin(path))
        pack_painted_images("/path")
        self._state.forget_names()
        names = [(kind, str(block.name), renamed.get(block.session_uid)) for kind, block in new]
        return [Arrival(Kind(kind), name, origin or name) for kind, name, origin in names]

    def _origin(self, staged: str) -> Path:
        """The directory of the file that the core has copied to `staged`."""
        return next((Path(named).parent for named, copy in self._files.items() if copy == staged), Path(staged).parent)

    def export_file(self, path: str, form: str, objects: Sequence[Any] | None) -> Sequence[Carried]:
        if form != "blend":
            _export(path, form, objects or ())
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


def _import(path: str, form: str) -> None:
    layer = bpy.context.view_layer
    # Importers link to the active collection, which may be one that an excluded layer hides.
    layer.active_layer_collection = layer.layer_collection
    name, options = IMPORTERS[form]
    _call(name, filepath=path, **options)


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


def _export(path: str, form: str, objects: Sequence[Any]) -> None:
    """Exporters know selection, visibility or a collection; only the last can be had without touching the scene."""
    group: Any = bpy.data.collections.new(EXPORT_COLLECTION)
    try:
        for obj in objects:
            group.objects.link(obj)
        name, options = EXPORTERS[form]
        _call(name, filepath=path, check_existing=False, collection=group.name, **options)
    finally:
        bpy.data.collections.remove(group)


def _call(name: str, **options: Any) -> None:
    group, verb = name.split(".")
    operator = getattr(getattr(_ops, group), verb)
    supported = operator.get_rna_type().properties.keys()
    result = operator(**{option: value for option, value in options.items() if option in supported})
    if "FINISHED" not in result:
        raise RuntimeError(f"{name} was cancelled")


def _reject_unsupported(new: Sequence[tuple[str, Any]]) -> None:
    unsupported = sorted({kind for kind, _ in new} - {kind.value for kind in Kind})
    if unsupported:
        message = f"the file brings {', '.join(unsupported)}, which are not supported"
        cure = "Leave them out of the file, or name what to append without them."
        raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=cure)
    linked = next((block.name for _, block in new if block.library), None)
    if linked is not None:
        message = f"the file links '{linked}' from another file"
        cure = "Make everything local in the file first."
        raise StepError.of(Fault.EXECUTION_FAILED, message, at="/path", cure=cure)


@contextmanager
def _reporting_broken_file(path: str) -> Generator[None]:
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
