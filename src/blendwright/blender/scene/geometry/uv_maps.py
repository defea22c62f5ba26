"""UV maps of a mesh: unwrapping, projecting, packing, measuring and drawing.

This module writes only the map, and records a pre-image of the mesh so that a revert restores it.
"""

from typing import Any

import numpy as np

from blendwright.blender.scene.tracking.recorded_writes import RecordedWrites
from blendwright.tool_api.mesh_port import UvMeasures
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault


class UvMaps(RecordedWrites):
    """The part of the Scene port that creates and measures UV maps."""

    def unwrap(self, obj: Any, uv_map: str, method: str, *, pack: bool, **settings: Any) -> None:
        from blendwright.blender.uv_mapping import operators

        uvs = operators.unwrapped(obj.data, method, uv_map, pack=pack, **settings)
        closed = 0
        if method in operators.ALONG_SEAMS:
            closed = operators.without_extent(obj.data, uvs)
        if closed:
            faces = f"{closed} of {len(obj.data.polygons)} faces of '{obj.name}'"
            message = f"{faces} cannot be unfolded: no seam opens them"
            fix = (
                'Mark seams with mesh.edit (op "mark", "seam": true), for example on sharp edges, or use method smart.'
            )
            raise StepError.of(Fault.SCENE_CONFLICT, message, at="/method", cure=fix)
        self._put(obj.data, uv_map, uvs)

    def project_uvs(self, obj: Any, uv_map: str, world: Any, view: str | None, camera: Any | None) -> None:
        from blendwright.blender.uv_mapping import projection

        if camera is None:
            uvs = projection.seen_from(obj.data, world, view or "front")
        else:
            render = self.active.render
            size = (render.resolution_x, render.resolution_y)
            uvs = projection.seen_through(obj.data, world, self.evaluated(camera), self.depsgraph(), *size)
        self._put(obj.data, uv_map, uvs)

    def pack_uvs(self, obj: Any, uv_map: str, margin: float, *, rotate: bool, even: bool, tight: bool = False) -> None:
        from blendwright.blender.uv_mapping import operators

        uvs = operators.packed(obj.data, uv_map, margin=margin, rotate=rotate, even=even, tight=tight)
        self._put(obj.data, uv_map, uvs)

    def _put(self, mesh: Any, uv_map: str, uvs: Any) -> None:
        layer = mesh.uv_layers.get(uv_map)
        if layer is not None:
            present = np.empty(len(uvs), np.float32)
            layer.data.foreach_get("uv", present)
            if np.array_equal(present, uvs):
                return
        self.edit(mesh)
        layer = mesh.uv_layers.get(uv_map) or mesh.uv_layers.new(name=uv_map, do_init=False)
        layer.data.foreach_set("uv", uvs)
        mesh.update()
        self._stale = True

    def measure_uvs(self, obj: Any, uv_map: str, world: Any, texture_size: int, picture: str, size: int) -> UvMeasures:
        from blendwright.blender.uv_mapping import measures
        from blendwright.blender.uv_mapping.picture import draw_layout

        layout = measures.read_map(obj.data, uv_map, world)
        draw_layout(layout, picture, size)
        return measures.measured(layout, texture_size)
