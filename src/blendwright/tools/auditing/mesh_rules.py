"""Rules about single objects: their scale, their mesh, how many triangles it has, and how much texture it gets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.surfaces import Surfaces
from blendwright.tools.auditing.flaws import Flaw, Repair, no_repairs
from blendwright.tools.auditing.parts import Part
from blendwright.tools.object.apply_transform import ApplyTransform, ApplyTransformArgs

# Scales this close to 1 are what arithmetic in single precision leaves.
ONE = 1e-4
# A name that no modifier has yet.
FEWER_FACES = "Audit Decimate"


@dataclass(frozen=True, slots=True)
class TextureDemand:
    """How many pixels a metre of surface is to have, of a square image."""

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
        if any(abs(abs(value) - 1.0) > ONE for value in (x, y, z)):
            yield Flaw("unapplied_scale", part.name, measure, repairs=_scaling(scene, part))


def _scaling(scene: Scene, part: Part) -> Callable[[], Sequence[Repair]]:
    """A call that makes the geometry as large as it is shown; none where that would be refused."""

    def repairs() -> Sequence[Repair]:
        if part.obj.modifiers:  # many work in the object's own units
            return ()
        args = {"object": part.name, "location": False, "rotation": False}
        refused = list(ApplyTransform().check(scene, ApplyTransformArgs.model_validate(args)))
        if refused:
            return ()
        return [(ApplyTransform.name, args)]

    return repairs


def mesh_flaws(parts: Sequence[Part]) -> Iterator[Flaw]:
    for part in parts:
        if part.obj.type != "MESH" or not part.has_faces:
            continue  # a mesh of edges alone is a drawing or a path, and means to be one
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
    """A call that does this to the mesh and nothing else; none where modifiers may have made what is wrong."""
    if part.obj.modifiers:
        return no_repairs
    tasks = {name: name in work for name in ("degenerate", "loose", "normals")}
    return lambda: [("mesh.clean", {"object": part.name, "weld_distance": 0.0, **tasks})]


def budget_flaws(parts: Sequence[Part], total: int | None, each: int | None) -> Iterator[Flaw]:
    triangles = sum(part.facts.triangles for part in parts)
    if total is not None and triangles > total:
        yield Flaw("polygon_budget", "", {"triangles": triangles, "budget": total})
    for part in parts:
        if each is not None and part.facts.triangles > each:
            measure = {"triangles": part.facts.triangles, "budget": each}
            yield Flaw("polygon_budget", part.name, measure, repairs=lambda part=part: _decimated(part, each))


def _decimated(part: Part, budget: int) -> Sequence[Repair]:
    if part.obj.type != "MESH" or FEWER_FACES in part.obj.modifiers:
        return ()
    # Rounded down, with something to spare: collapsing stops at the first step below the ratio.
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
    """With as many digits as single precision and a reader have use for."""
    return float(f"{value:.5g}") + 0.0


def objects_of_scene(scene: Scene) -> list[Block]:
    """All objects of the scene, shown or not, by name."""
    return sorted(scene.active.objects, key=lambda obj: obj.name)
