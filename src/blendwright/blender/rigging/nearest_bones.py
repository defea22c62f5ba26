"""The nearest bone of a vertex, of a connected part of a mesh, or of a whole mesh, in rest position."""

from typing import Any

import numpy as np


def nearest_weights(mesh: Any, to_armature: Any, armature: Any, per: str) -> dict[str, dict[int, float]]:
    """Return full weight for the nearest deforming bone, by bone name and vertex index. Of equally near bones the first one wins.

    `per` is `vertex`, `part` or `mesh`. `to_armature` is the matrix from the mesh to the armature.
    """
    bones = [bone for bone in armature.bones if bone.use_deform]
    distances = _distances(_positions(mesh, to_armature), bones)
    if per == "vertex":
        chosen = np.argmin(distances, axis=1)
    else:
        if per == "part":
            parts = _parts(mesh)
        else:
            parts = np.zeros(len(mesh.vertices), np.int64)
        totals = np.stack([np.bincount(parts, weights=column) for column in distances.T], axis=1)
        chosen = np.argmin(totals, axis=1)[parts]
    weights: dict[str, dict[int, float]] = {}
    for vertex, number in enumerate(chosen.tolist()):
        weights.setdefault(bones[number].name, {})[vertex] = 1.0
    # Return the bones in their order, independent of the order of the vertices.
    return {bone.name: weights[bone.name] for bone in bones if bone.name in weights}


def _positions(mesh: Any, matrix: Any) -> Any:
    """Return the positions of the vertices, transformed by a matrix."""
    flat = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", flat)
    into = np.array(matrix, np.float64)
    return flat.reshape(-1, 3).astype(np.float64) @ into[:3, :3].T + into[:3, 3]


def _distances(points: Any, bones: list[Any]) -> Any:
    """Return the distance of each point (row) to each bone (column)."""
    columns: list[Any] = []
    for bone in bones:
        head, tail = np.array(bone.head_local, np.float64), np.array(bone.tail_local, np.float64)
        along = tail - head
        share = np.clip((points - head) @ along / (along @ along), 0.0, 1.0)
        columns.append(np.linalg.norm(points - head - share[:, None] * along, axis=1))
    return np.stack(columns, axis=1)


def _parts(mesh: Any) -> Any:
    """Return the number of each vertex's connected part."""
    parents = list(range(len(mesh.vertices)))

    def root(vertex: int) -> int:
        while parents[vertex] != vertex:
            parents[vertex] = parents[parents[vertex]]
            vertex = parents[vertex]
        return vertex

    pairs = np.empty(len(mesh.edges) * 2, np.int32)
    mesh.edges.foreach_get("vertices", pairs)
    for start, end in pairs.reshape(-1, 2).tolist():
        first, second = root(start), root(end)
        parents[max(first, second)] = min(first, second)
    roots = [root(vertex) for vertex in range(len(parents))]
    return np.unique(roots, return_inverse=True)[1].reshape(-1)
