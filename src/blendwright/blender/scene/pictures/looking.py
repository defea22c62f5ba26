"""A closer look at a render: the object and depth behind each pixel, from passes of CYCLES with one ray per pixel.

This module restores the scene afterwards. It writes the pass indices of objects without recording them, and restores them.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.pictures.rendering import Rendering
from blendwright.tool_api.pictures import CloserLook, PictureComparison, Sight
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

EXR: dict[str, Any] = {"file_format": "OPEN_EXR_MULTILAYER", "color_depth": "32", "exr_codec": "NONE"}
# Settings for one ray through the center of each pixel, without bounces.
ONE_RAY: dict[str, Any] = {
    "device": "CPU", "samples": 1, "seed": 0, "max_bounces": 0, "time_limit": 0.0, "pixel_filter_type": "BOX",
    "filter_width": 0.01, "use_adaptive_sampling": False, "use_animated_seed": False, "use_denoising": False,
}  # fmt: skip
# Render settings that are switched off, since they would change or cut the passes.
DISABLED_SETTINGS = (
    "use_compositing", "use_sequencer", "use_stamp", "use_motion_blur", "use_border", "use_crop_to_border", "use_freestyle",
    "use_persistent_data",
)  # fmt: skip
VISIBLE_TYPES = frozenset(
    {"MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"}
)
# The largest reference picture, in pixels.
MAX_REFERENCE_PIXELS = 64_000_000


class Looking(Rendering):
    """The part of the Scene port that describes and compares renders."""

    def look_closer(self, form: CloserLook, file: str, camera: Any | None) -> Sight:
        from blendwright.blender.looking import labels, png_files, sight
        from blendwright.blender.looking.lettering import lettering

        seen = self._seen(file, camera)
        summary = sight.sight(seen)
        match form:
            case "NAMES":
                picture = png_files.on_background(_required(png_files.read_picture(file)))
                with lettering() as letters:
                    labels.draw_labels(picture, sight.labels(summary), letters)
            case "MASK":
                picture = sight.mask_picture(seen)
            case _:
                picture = sight.depth_picture(seen)
        png_files.write_png(file, picture)
        return summary

    def compare_picture(
        self,
        file: str,
        reference: str,
        camera: Any | None,
        *,
        objects: Sequence[Any],
        captions: Mapping[str, str],
    ) -> PictureComparison:
        from blendwright.blender.looking import comparison, png_files
        from blendwright.blender.looking.lettering import lettering

        reference_picture = png_files.read_picture(reference, MAX_REFERENCE_PIXELS)
        if reference_picture is None:
            fix = "Name a picture that Blender can read, with at most 64 million pixels."
            raise StepError.of(Fault.EXECUTION_FAILED, "Blender cannot read the picture", at="/reference", cure=fix)
        picture = png_files.on_background(_required(png_files.read_picture(file)))
        height, width = picture.shape[:2]
        reference_picture = png_files.resized(reference_picture, width, height)

        seen = self._seen(file, camera)
        outline = seen.anything
        if objects:
            names = {obj.name for obj in objects}
            numbers = [number for number, name in enumerate(seen.names, 1) if name in names]
            outline = outline & np.isin(seen.numbers, numbers)

        wanted, source = comparison.silhouette(reference_picture)
        plain = png_files.on_background(reference_picture)
        if wanted is not None and not objects and comparison.look_alike(plain, picture):
            wanted = outline  # The silhouette of the reference is an estimate and less exact than the outline.
        with lettering() as letters:
            drawn = comparison.panels(plain, picture, outline, wanted, list(captions))
            png_files.write_png(file, comparison.sheet(drawn, captions, letters))
        return comparison.compared(plain, picture, outline, wanted, source)

    def contact_sheet(self, file: str, pictures: Sequence[tuple[str | None, str]]) -> None:
        from blendwright.blender.looking import contact_sheets, png_files
        from blendwright.blender.looking.lettering import lettering

        with lettering() as letters:
            png_files.write_png(file, contact_sheets.contact_sheet(pictures, letters))

    def _seen(self, file: str, camera: Any | None) -> Any:
        """Render at the current resolution and return the object number and depth behind each pixel, as `SightArrays`."""
        from blendwright.blender.looking.sight import SightArrays

        with _numbered(self.active) as (names, expected):
            layers = self.render_passes(f"{file}.passes.exr", camera, ("use_pass_z", "use_pass_object_index"))
        return SightArrays(object_indices(layers), layer_named(layers, "Depth"), names, expected)

    def render_passes(self, file: str, camera: Any | None, passes: Sequence[str]) -> dict[str, Any]:
        """Render at the current resolution with one ray through the center of each pixel, and return the passes by channel name.

        Uses `file` for the render and deletes it. Raises StepError if Blender wrote no readable passes."""
        from blendwright.blender.looking.exr_layers import read_layers

        scene = self.active
        with ExitStack() as temporary:
            render = {"engine": "CYCLES", **dict.fromkeys(DISABLED_SETTINGS, False)}
            temporary.enter_context(self.temporarily(scene.render, **render))
            temporary.enter_context(self.temporarily(scene.cycles, **ONE_RAY))
            temporary.enter_context(self.temporarily((camera or scene.camera).data.dof, use_dof=False))
            for layer in scene.view_layers:
                temporary.enter_context(self.temporarily(layer, **dict.fromkeys(passes, True)))
            self.render_still(file, camera=camera, output=EXR)
        try:
            return read_layers(file)
        except (OSError, ValueError) as error:
            raise StepError.of(Fault.EXECUTION_FAILED, f"Blender wrote no passes: {error}") from error
        finally:
            Path(file).unlink(missing_ok=True)


def layer_named(layers: Mapping[str, Any], *names: str, channel: str = "") -> Any:
    """Return a channel of the first view layer's pass with one of these names. An empty `channel` takes the pass's first channel.

    Raises StepError if there is no such pass."""
    for name, values in sorted(layers.items()):
        parts = name.split(".")
        if parts[-2] in names and channel in ("", parts[-1]):
            return values
    raise StepError.of(Fault.EXECUTION_FAILED, f"Blender wrote other passes: {', '.join(sorted(layers))}")


def object_indices(layers: Mapping[str, Any]) -> Any:
    return np.rint(layer_named(layers, "IndexOB", "Object Index")).astype(np.int64)


def _required(picture: Any | None) -> Any:
    if picture is None:
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender cannot read the picture that it wrote")
    return picture


@contextmanager
def _numbered(scene: Any) -> Generator[tuple[list[str], frozenset[str]]]:
    """Number the visible types of objects from 1 on by `pass_index`, and all other objects 0.

    Yields the names in the order of the numbers, and the names of the objects that a render of the scene should show.
    A write in bulk triggers no update, but a render copies all data and therefore uses the new numbers."""
    objects: Any = bpy.data.objects
    previous = np.empty(len(objects), np.int32)
    objects.foreach_get("pass_index", previous)
    numbers = np.zeros(len(objects), np.int32)
    names: list[str] = []
    for index, obj in enumerate(objects):
        if obj.type in VISIBLE_TYPES:
            names.append(obj.name)
            numbers[index] = len(names)
    objects.foreach_set("pass_index", numbers)
    try:
        yield names, frozenset(obj.name for obj in scene.objects if obj.type in VISIBLE_TYPES and not obj.hide_render)
    finally:
        objects.foreach_set("pass_index", previous)
