"""Rules for single objects: scale, mesh, number of triangles, and texture resolution."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.surfaces import Surfaces
from blendwright.tools.auditing.flaws import Flaw, Repair, no_repairs
from blendwright.tools.auditing.parts import Part
from blendwright.tools.object.apply_transform import ApplyTransform, ApplyTransformArgs

# Largest deviation from a scale of 1 that counts as a rounding error of single precision.
SCALE_TOLERANCE = 1e-4
# Name of the modifier that a repair adds.
FEWER_FACES = "Audit Decimate"


@dataclass(frozen=True, slots=True)
class TextureDemand:
    """The allowed range of texture pixels per metre of surface, for a square image."""

    image_size: int
    least: float
    most: float


def scale_flaws(scene: Scene, parts: Sequence[Part]) -> Iterator[Flaw]:
    for part in parts:
        if part.obj.type not in ("MESH", "CURVE", "SURFACE", "FONT"):
            continue
        x, y, z = part.obj.scale
        if x == y == z == 1.0:
            continue
        measure = {"x": rounded(x), "y": rounded(y), "z": rounded(z)}
        if x * y * z < 0.0:
            yield Flaw("negative_scale", part.name, measure, repairs=_scaling(scene, part))
        if any(abs(abs(value) - 1.0) > SCALE_TOLERANCE for value in (x, y, z)):
            yield Flaw("unapplied_scale", part.name, measure, repairs=_scaling(scene, part))


def _scaling(scene: Scene, part: Part) -> Callable[[], Sequence[Repair]]:
    """Return a function that lists the call which applies the object's scale, or no call if it would be refused."""

    def repairs() -> Sequence[Repair]:
        if part.obj.modifiers:  # many modifiers use the object's local units
            return ()
        args = {"object": part.name, "location": False, "rotation": False}
        findings = list(ApplyTransform().check(scene, ApplyTransformArgs.model_validate(args)))
        if findings:
            return ()
        return [(ApplyTransform.name, args)]

    return repairs


def mesh_flaws(parts: Sequence[Part]) -> Iterator[Flaw]:
    for part in parts:
        if part.obj.type != "MESH" or not part.has_faces:
            continue  # a mesh of edges only is a drawing or a path
        facts = part.facts
        if facts.volume is not None and facts.volume < 0.0:
            yield Flaw("inside_out", part.name, {"volume": rounded(facts.volume)}, repairs=_cleaning(part, "normals"))
        if facts.flipped_edges:
            yield Flaw("flipped_normals", part.name, {"edges": facts.flipped_edges}, repairs=_cleaning(part, "normals"))
        if facts.crowded_edges:
            yield Flaw("non_manifold", part.name, {"edges": facts.crowded_edges})
        if facts.open_edges and not facts.flat:
            yield Flaw("open_edges", part.name, {"edges": facts.open_edges})
        if facts.loose_vertices or facts.loose_edges:
            measure = {"vertices": facts.loose_vertices, "edges": facts.loose_edges}
            yield Flaw("loose", part.name, measure, repairs=_cleaning(part, "loose"))
        if facts.empty_faces:
            yield Flaw("degenerate", part.name, {"faces": facts.empty_faces}, repairs=_cleaning(part, "degenerate"))


def _cleaning(part: Part, *work: str) -> Callable[[], Sequence[Repair]]:
    """Return a function that lists the mesh.clean call for these tasks, or no call if modifiers may be the cause."""
    if part.obj.modifiers:
        return no_repairs
    tasks = {name: name in work for name in ("degenerate", "loose", "normals")}
    return lambda: [("mesh.clean", {"object": part.name, "weld_distance": 0.0, **tasks})]


def budget_flaws(parts: Sequence[Part], total: int | None, per_object: int | None) -> Iterator[Flaw]:
    triangles = sum(part.facts.triangles for part in parts)
    if total is not None and triangles > total:
        yield Flaw("polygon_budget", "", {"triangles": triangles, "budget": total})
    for part in parts:
        if per_object is not None and part.facts.triangles > per_object:
            measure = {"triangles": part.facts.triangles, "budget": per_object}
            yield Flaw("polygon_budget", part.name, measure, repairs=lambda part=part: _decimated(part, per_object))


def _decimated(part: Part, budget: int) -> Sequence[Repair]:
    if part.obj.type != "MESH" or FEWER_FACES in part.obj.modifiers:
        return ()
    # Rounded down with a margin, because the modifier stops at the first step below the ratio.
    ratio = math.floor(0.98 * budget / part.facts.triangles * 1e4) / 1e4
    settings = {"type": "DECIMATE", "decimate_type": "COLLAPSE", "ratio": ratio}
    return [("modifier.add", {"object": part.name, "name": FEWER_FACES, "settings": settings})]


def texture_flaws(parts: Sequence[Part], surfaces: Surfaces, demand: TextureDemand) -> Iterator[Flaw]:
    for part in parts:
        if part.obj.type != "MESH" or not part.has_faces:
            continue
        uv = surfaces.uv_facts(part.obj)
        if uv is None:
            yield Flaw("texel_density", part.name, {"uv_maps": 0})
        elif uv.world_area > 0.0:
            density = demand.image_size * math.sqrt(uv.uv_area / uv.world_area)
            if not demand.least <= density <= demand.most:
                measure = {"pixels_per_metre": rounded(density), "least": demand.least, "most": demand.most}
                yield Flaw("texel_density", part.name, measure)


def rounded(value: float) -> float:
    """Return a value with five significant digits, and without a negative zero."""
    return float(f"{value:.5g}") + 0.0


def objects_of_scene(scene: Scene) -> list[Block]:
    """Return all objects of the scene, visible or not, sorted by name."""
    return sorted(scene.active.objects, key=lambda obj: obj.name)
