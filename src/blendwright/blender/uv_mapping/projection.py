"""UVs as seen from a direction or through a camera. Blender's operator for this needs a window."""

from typing import Any

import numpy as np

# View -> the right and up directions of its picture.
VIEWS: dict[str, tuple[tuple[int, int, int], tuple[int, int, int]]] = {
    "front": ((1, 0, 0), (0, 0, 1)),
    "back": ((-1, 0, 0), (0, 0, 1)),
    "right": ((0, 1, 0), (0, 0, 1)),
    "left": ((0, -1, 0), (0, 0, 1)),
    "top": ((1, 0, 0), (0, 1, 0)),
    "bottom": ((1, 0, 0), (0, -1, 0)),
}


def seen_from(mesh: Any, world: Any, view: str) -> Any:
    """Return the UVs of a parallel projection as a flat array, fitted into the tile with its proportions."""
    right, up = VIEWS[view]
    flat = _world_positions(mesh, world) @ np.array([right, up], float).T
    low, size = flat.min(axis=0), float(np.ptp(flat, axis=0).max()) or 1.0
    middle = (1.0 - np.ptp(flat, axis=0) / size) / 2.0
    return _per_corner(mesh, (flat - low) / size + middle)


def seen_through(mesh: Any, world: Any, camera: Any, depsgraph: Any, width: int, height: int) -> Any:
    """Return UVs that project a camera's picture onto the mesh, as a flat array."""
    matrix = np.array(camera.calc_matrix_camera(depsgraph, x=width, y=height) @ camera.matrix_world.inverted_safe())
    positions = _world_positions(mesh, world)
    seen = np.column_stack([positions, np.ones(len(positions))]) @ matrix.T
    depth = np.where(np.abs(seen[:, 3:]) < 1e-9, 1e-9, seen[:, 3:])
    return _per_corner(mesh, seen[:, :2] / depth / 2.0 + 0.5)


def _world_positions(mesh: Any, world: Any) -> Any:
    """Return the positions of the vertices in the world."""
    positions = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", positions)
    matrix = np.array(world)
    return positions.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def _per_corner(mesh: Any, uvs: Any) -> Any:
    """Return UVs per face corner as a flat array, from UVs per vertex."""
    vertices = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", vertices)
    return uvs[vertices].astype(np.float32).ravel()
