"""Annotations of a camera view: picture layers and a list of instances with their boxes, from passes of CYCLES.

This module restores the scene afterwards. `blender/annotating` defines what an instance is and how it is described.
"""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import bpy
import numpy as np

from blendwright.blender.scene.pictures.looking import Looking, layer_named, object_indices
from blendwright.tool_api.annotations import Labels, PictureLayer
from blendwright.tool_api.scene import Kind
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault

# The largest number in a picture with 16 bits per pixel; 0 stands for the background.
MAX_INSTANCES = 65_535
# Names of the passes that hold the location and the random number of the object behind each pixel.
LOCATION_PASS, RANDOM_PASS = "blendwright_place", "blendwright_random"


class Annotating(Looking):
    """The part of the Scene port that annotates."""

    def annotate(
        self, labels: Labels, camera: Any, files: Mapping[PictureLayer, Sequence[str]], scratch: str
    ) -> dict[str, Any]:
        from blendwright.blender.annotating import description, layer_files
        from blendwright.blender.annotating.camera_model import camera_model
        from blendwright.blender.annotating.instances import find_things, numbers_of
        from blendwright.blender.looking.sight import NOWHERE

        scene, depsgraph = self.active, self.depsgraph()
        model = camera_model(scene, camera, depsgraph)
        shown = find_things(scene, depsgraph, labels)
        things = shown.things
        if len(things) > MAX_INSTANCES:
            message = f"there are {len(things)} instances, and a picture can distinguish at most {MAX_INSTANCES}"
            raise StepError.of(Fault.LIMIT_EXCEEDED, message, cure="Give fewer objects a category.")

        locations = randoms = None
        with _indexed() as indices_of:
            passes = ("use_pass_z", "use_pass_object_index", "use_pass_normal")
            layers = self.render_passes(scratch, camera, passes)
            if shown.needs_telling_apart():
                with self._distinguishing_instances():
                    marks = self.render_passes(scratch, camera, ("use_pass_object_index",))
                locations = _color_layer(marks, LOCATION_PASS, "RGB")
                randoms = layer_named(marks, RANDOM_PASS)

        depths, indices = layer_named(layers, "Depth"), object_indices(layers)
        is_hit = depths < NOWHERE
        numbers = numbers_of(shown, indices_of, np.where(is_hit, indices, 0), locations, randoms)

        if "INSTANCES" in files:
            layer_files.write_numbers(files["INSTANCES"][0], numbers)
        if "CATEGORIES" in files:
            categories = np.array([0, *(thing.category for thing in things)])
            layer_files.write_numbers(files["CATEGORIES"][0], categories[numbers])
        if "DEPTH" in files:
            layer_files.write_numbers(files["DEPTH"][0], layer_files.millimetres(depths, is_hit))
            layer_files.write_metres(files["DEPTH"][1], depths, is_hit)
        if "NORMALS" in files:
            normals = _color_layer(layers, "Normal", "XYZ")
            layer_files.write_numbers(files["NORMALS"][0], layer_files.normal_colors(normals, is_hit, model))

        # `self.depsgraph()` is called again below, since rendering made Blender evaluate the scene again.
        seen = description.Seen(model, np.asarray(depths, np.float64), is_hit, numbers)
        return {
            "width": model.width,
            "height": model.height,
            "camera": description.camera(camera.name, model),
            "instances": description.instances(things, seen, labels, self.depsgraph()),
        }

    @contextmanager
    def _distinguishing_instances(self) -> Generator[None]:
        """Give every surface a material that writes its object's location and random number into passes."""
        with ExitStack() as temporary:
            material = temporary.enter_context(self.temporary(Kind.MATERIAL))
            _mark(material)
            for layer in self.active.view_layers:
                temporary.enter_context(_outputs(layer))
                temporary.enter_context(self.temporarily(layer, material_override=material))
            yield


def _color_layer(layers: Mapping[str, Any], name: str, channels: str) -> Any:
    """Return the three channels of a pass as one array of height, width and channel."""
    return np.stack([layer_named(layers, name, channel=channel) for channel in channels], axis=2)


def _mark(material: Any) -> None:
    if bpy.app.version < (5, 0, 0):
        material.use_nodes = True
    tree = material.node_tree
    tree.nodes.clear()
    info = tree.nodes.new("ShaderNodeObjectInfo")
    surface = tree.nodes.new("ShaderNodeOutputMaterial").inputs["Surface"]
    tree.links.new(tree.nodes.new("ShaderNodeEmission").outputs[0], surface)
    for name, output, socket in ((LOCATION_PASS, "Location", "Color"), (RANDOM_PASS, "Random", "Value")):
        aov = tree.nodes.new("ShaderNodeOutputAOV")
        aov.aov_name = name
        tree.links.new(info.outputs[output], aov.inputs[socket])


@contextmanager
def _outputs(layer: Any) -> Generator[None]:
    """Add the location and random passes, which materials write in addition to their light, to a view layer."""
    active_index = layer.active_aov_index
    for name, value_type in ((LOCATION_PASS, "COLOR"), (RANDOM_PASS, "VALUE")):
        output = layer.aovs.add()
        output.name, output.type = name, value_type
    try:
        yield
    finally:
        for name in (LOCATION_PASS, RANDOM_PASS):
            layer.aovs.remove(layer.aovs[name])
        layer.active_aov_index = active_index


@contextmanager
def _indexed() -> Generator[dict[int, int]]:
    """Number all objects from 1 on by `pass_index`, and yield these numbers by the pointer of the object.

    A write in bulk triggers no update, but a render copies all data and therefore uses the new numbers."""
    objects: Any = bpy.data.objects
    previous = np.empty(len(objects), np.int32)
    objects.foreach_get("pass_index", previous)
    objects.foreach_set("pass_index", np.arange(1, len(objects) + 1, dtype=np.int32))
    try:
        yield {obj.as_pointer(): number for number, obj in enumerate(objects, 1)}
    finally:
        objects.foreach_set("pass_index", previous)
