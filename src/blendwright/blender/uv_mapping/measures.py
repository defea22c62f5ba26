"""Measures of a UV map: islands, overlaps, stretch, faces outside the tile, texel density."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from blendwright.tool_api.mesh_port import UvMeasures

# The distance of UVs below which they count as equal.
SAME = 1e-5
# The distance from the tile above which a UV counts as outside.
OUTSIDE = 1e-4
# The number of texels along the tile in the search for overlaps.
GRID = 512
# The minimum area of a triangle with a shape.
MIN_AREA = 1e-12
# The minimum area in square metres of a face that needs UVs: a square of a tenth of a millimetre.
MIN_FACE_AREA = 1e-8


@dataclass
class UvMap:
    """The triangles of a mesh with their corners in space and in the map."""

    places: Any
    uvs: Any
    faces: Any
    islands: Any
    island_count: int
    edges: Any


def read_map(mesh: Any, uv_map: str, world: Any) -> UvMap:
    """Return the triangles of a UV map, with positions transformed by the matrix `world`."""
    loops = len(mesh.loops)
    uvs = np.empty(loops * 2, np.float32)
    mesh.uv_layers[uv_map].data.foreach_get("uv", uvs)
    uvs = uvs.reshape(-1, 2).astype(np.float64)
    positions = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", positions)
    matrix = np.array(world)
    places = positions.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]
    mesh.calc_loop_triangles()
    count = len(mesh.loop_triangles)
    corners, faces = np.empty(count * 3, np.int32), np.empty(count, np.int32)
    mesh.loop_triangles.foreach_get("loops", corners)
    mesh.loop_triangles.foreach_get("polygon_index", faces)
    vertices = np.empty(loops, np.int32)
    mesh.loops.foreach_get("vertex_index", vertices)
    starts, totals = np.empty(len(mesh.polygons), np.int32), np.empty(len(mesh.polygons), np.int32)
    mesh.polygons.foreach_get("loop_start", starts)
    mesh.polygons.foreach_get("loop_total", totals)
    following = np.arange(1, loops + 1)
    following[starts + totals - 1] = starts
    of_face = np.repeat(np.arange(len(starts)), totals)
    islands, number = _islands(vertices, uvs, following, of_face, len(starts))
    corners = corners.reshape(-1, 3)
    edges = np.stack([uvs, uvs[following]], axis=1)
    return UvMap(places[vertices[corners]], uvs[corners], faces, islands, number, edges)


def _islands(vertices: Any, uvs: Any, following: Any, of_face: Any, faces: int) -> tuple[Any, int]:
    """Return the island of each face, and the number of islands. Faces are joined if both ends of an edge have the same UVs."""
    keys: Any = np.empty((len(uvs), 3), np.int64)
    keys[:, 0], keys[:, 1:] = vertices, np.round(uvs / SAME)
    corner: Any = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    ends = np.sort(np.column_stack([corner, corner[following]]), axis=1)
    parents = list(range(faces))

    def root(face: int) -> int:
        while parents[face] != face:
            parents[face] = parents[parents[face]]
            face = parents[face]
        return face

    first_faces: dict[tuple[int, int], int] = {}
    for (start, end), face in zip(ends.tolist(), of_face.tolist(), strict=True):
        neighbour = first_faces.setdefault((start, end), face)
        face_root, neighbour_root = root(face), root(neighbour)
        if face_root != neighbour_root:
            parents[max(face_root, neighbour_root)] = min(face_root, neighbour_root)
    roots = np.array([root(face) for face in range(faces)], np.int64)
    island_roots, numbers = np.unique(roots, return_inverse=True)
    return numbers.reshape(-1), len(island_roots)


def measured(uv_map: UvMap, texture_size: int) -> UvMeasures:
    """Return the measures of a map. Areas are sums over triangles, in the world and in the tile."""
    sides = uv_map.places[:, 1:] - uv_map.places[:, :1]
    areas: Any = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1) / 2.0
    flat = uv_map.uvs[:, 1:] - uv_map.uvs[:, :1]
    signed = (flat[:, 0, 0] * flat[:, 1, 1] - flat[:, 0, 1] * flat[:, 1, 0]) / 2.0
    uv_areas = np.abs(signed)
    covered = layers(uv_map.uvs, GRID)
    filled, doubled = int(np.count_nonzero(covered)), int(np.count_nonzero(covered > 1))
    outside = np.any((uv_map.uvs < -OUTSIDE) | (uv_map.uvs > 1 + OUTSIDE), axis=(1, 2))
    usable = (uv_areas > MIN_AREA) & (areas > MIN_AREA)
    stretch = _stretch(sides[usable], flat[usable])
    weights = areas[usable]
    per_island = _densities(uv_map, areas, uv_areas, texture_size)
    total_area = float(areas.sum())
    overlap = density = 0.0
    if filled:
        overlap = doubled / filled
    if total_area > MIN_AREA:
        density = texture_size * float(np.sqrt(uv_areas.sum() / total_area))
    stretch_mean = stretch_worst = 1.0
    if len(stretch):
        stretch_mean = float(np.average(stretch, weights=weights))
        stretch_worst = float(stretch.max())
    return UvMeasures(
        islands=uv_map.island_count,
        overlap=overlap,
        outside_faces=len(np.unique(uv_map.faces[outside])),
        flipped_faces=len(np.unique(uv_map.faces[signed < -MIN_AREA])),
        empty_faces=len(np.unique(uv_map.faces[(uv_areas <= MIN_AREA) & (areas > MIN_FACE_AREA)])),
        coverage=float(uv_areas.sum()),
        stretch_mean=stretch_mean,
        stretch_worst=stretch_worst,
        density=density,
        density_least=min(per_island, default=0.0),
        density_most=max(per_island, default=0.0),
    )


def _stretch(sides: Any, flat: Any) -> Any:
    """Return for each triangle the ratio of its largest to its smallest scale in the map; 1 if angles are kept."""
    if not len(sides):
        return np.empty(0)
    length: Any = np.linalg.norm(sides[:, 0], axis=1)
    across = np.einsum("ij,ij->i", sides[:, 0], sides[:, 1]) / length
    height = np.sqrt(np.maximum(np.einsum("ij,ij->i", sides[:, 1], sides[:, 1]) - across**2, 0.0))
    # Columns of the linear map from the flat triangle to the tile.
    along = flat[:, 0] / length[:, None]
    up = (flat[:, 1] - along * across[:, None]) / np.maximum(height, 1e-20)[:, None]
    a, b, c = (along**2).sum(1), (along * up).sum(1), (up**2).sum(1)
    spread = np.sqrt(np.maximum(((a - c) / 2.0) ** 2 + b**2, 0.0))
    middle = (a + c) / 2.0
    return np.sqrt((middle + spread) / np.maximum(middle - spread, 1e-20))


def _densities(uv_map: UvMap, areas: Any, uv_areas: Any, texture_size: int) -> Sequence[float]:
    """Return the texel density of each island, in texels per metre."""
    island = uv_map.islands[uv_map.faces]
    real = np.bincount(island, areas, uv_map.island_count)
    mapped = np.bincount(island, uv_areas, uv_map.island_count)
    has_area = real > MIN_FACE_AREA
    densities = texture_size * np.sqrt(mapped[has_area] / real[has_area])
    return densities.tolist()


def layers(uvs: Any, grid: int) -> Any:
    """Return the number of triangles over each texel's centre, over the tile or over the whole map if that is larger."""
    low, high = np.zeros(2), np.ones(2)
    if len(uvs):
        low = np.minimum(uvs.min(axis=(0, 1)), 0.0)
        high = np.maximum(uvs.max(axis=(0, 1)), 1.0)
    scale = grid / float((high - low).max())
    return counted_layers((uvs - low) * scale, grid, grid)


def counted_layers(triangles: Any, width: int, height: int, numbers: Any = None) -> Any:
    """Return the number of triangles that cover each point of a grid.

    With `numbers` (one per triangle), return the number of the last triangle at each point, -1 without one.
    """
    if numbers is None:
        layer = np.zeros((height, width), np.int32)
    else:
        layer = np.full((height, width), -1, np.int32)
    for index, (a, b, c) in enumerate(triangles):
        area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(area) < 1e-9:
            continue
        x0, y0 = map(int, np.maximum(np.floor(np.minimum(np.minimum(a, b), c)), 0.0))
        x1, y1 = map(int, np.minimum(np.ceil(np.maximum(np.maximum(a, b), c)), (width, height)))
        if x0 >= x1 or y0 >= y1:
            continue
        x: Any = np.arange(x0, x1) + 0.5
        y: Any = (np.arange(y0, y1) + 0.5)[:, None]
        inside: Any = np.ones((y1 - y0, x1 - x0), bool)
        for p, q in ((a, b), (b, c), (c, a)):
            # A centre on an edge belongs to neither triangle, so neighbours do not overlap there.
            inside &= ((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0])) * np.sign(area) > 1e-9
        if numbers is None:
            layer[y0:y1, x0:x1] += inside
        else:
            layer[y0:y1, x0:x1][inside] = numbers[index]
    return layer
