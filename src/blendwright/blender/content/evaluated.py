"""The evaluated state of an object, after modifiers, constraints, drivers and animation: its matrix and measures of its geometry.

Measures do not depend on the order of vertices, because some modifiers change it at every evaluation.
"""

from itertools import chain
from typing import Any

import numpy as np

from blendwright.blender.scene.geometry.evaluation import COUNTS, Evaluation

# Types of objects with geometry.
_GEOMETRY = frozenset({"MESH", "CURVE", "SURFACE", "FONT", "META", "CURVES", "POINTCLOUD", "VOLUME", "GREASEPENCIL"})


class Measures(Evaluation):
    """Measures of evaluated objects of the current scene."""

    def of(self, obj: Any) -> dict[str, Any] | None:
        """Return the values of an object; None if the scene does not evaluate it."""
        evaluated = self.evaluated(obj)
        if not evaluated.is_evaluated:
            return None
        values: dict[str, Any] = {"matrix_world": [*chain.from_iterable(evaluated.matrix_world)]}
        if obj.type in _GEOMETRY:
            facts = self.geometry_facts(obj)
        else:
            facts = None
        if facts is not None:
            values |= {name: getattr(facts, name) for name in COUNTS}
            values |= {"instances": facts.loose_instances, "bounds_min": facts.low, "bounds_max": facts.high}
        if evaluated.type == "MESH" and evaluated.data is not None:
            values |= _mesh_measures(evaluated.data)
        return values


def _mesh_measures(mesh: Any) -> dict[str, Any]:
    count = len(mesh.vertices)
    if not count:
        return {}
    positions = np.empty(count * 3, np.float32)
    mesh.vertices.foreach_get("co", positions)
    points = positions.reshape(-1, 3).astype(np.float64)
    areas = np.empty(len(mesh.polygons), np.float32)
    mesh.polygons.foreach_get("area", areas)
    with np.errstate(over="ignore", invalid="ignore"):
        center, spread = points.mean(axis=0), points.std(axis=0)
    return {
        "vertex_center": center.tolist(),
        "vertex_spread": spread.tolist(),
        "area": float(areas.sum(dtype=np.float64)),
    }
