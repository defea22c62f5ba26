from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from blendwright.tool_api import Args, Result, Scene
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.mesh_port import UvMeasures
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.checks import required_object
from blendwright.tools.render.rendering import PngName
from blendwright.tools.uv.maps import DEFAULT, UvMapName, mesh_with_faces, missing_map
from blendwright.tools.world_space import world_matrix

BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box"})
UVS = ("uv.unwrap", {"object": "Box"})
# What is worth a word.
MOST_OVERLAP, MOST_STRETCH, MOST_UNEVEN = 0.002, 2.0, 2.0
TOLERANCE = 1e-4


class CheckArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; its own mesh, without modifiers.")
    uv_map: UvMapName = Field(default=DEFAULT, description="Name of its UV map.")
    texture_size: int = Field(default=1024, ge=1, le=65_536, description="Pixels along the texture, for densities.")
    size: int = Field(default=512, ge=64, le=2048, description="Pixels along the picture of the layout.")
    artifact: PngName = Field(default="uv_layout.png", description="Name of the picture among the artifacts.")


class UvChecked(Result):
    """A UV map as it is."""

    object: str = Field(description="Name of the object.")
    uv_map: str = Field(description="Name of the map.")
    islands: int = Field(description="Connected parts of the layout.")
    overlap: float = Field(description="Share of the used area that is used twice or more.")
    outside_faces: int = Field(description="Faces that reach out of the tile.")
    flipped_faces: int = Field(description="Faces that are mirrored in the layout.")
    empty_faces: int = Field(description="Faces without area in the layout.")
    coverage: float = Field(description="Area of the layout, in tiles.")
    stretch_mean: float = Field(
        description="How much longer one direction is drawn than the other, on average; 1 is none."
    )
    stretch_worst: float = Field(description="The same where it is worst.")
    density: float = Field(description="Texels per metre.")
    density_least: float = Field(description="That of the island with the fewest.")
    density_most: float = Field(description="That of the island with the most.")
    problems: list[str] = Field(description="What a texture would show; empty for a good map.")
    artifact: str = Field(description="Name of the picture: islands in colours, overlaps in red.")


class CheckUvs(Reads[CheckArgs, UvChecked]):
    """Check a UV map: overlaps, stretch, what is out of the tile, texel density, islands; with a picture of the layout."""

    name = "uv.check"
    promises = READ_ONLY.needs("scene_read")
    examples = (Example({"object": "Box", "texture_size": 2048}, BOX, UVS),)

    def tolerance_for(self, args: CheckArgs) -> float:
        return TOLERANCE

    def check(self, scene: Scene, args: CheckArgs) -> Findings:
        obj = yield from mesh_with_faces(scene, args.object)
        if obj is not None:
            yield from missing_map(obj, args.uv_map)

    def apply(self, scene: Scene, args: CheckArgs) -> UvChecked:
        obj = required_object(scene, args.object, "/object")
        picture = scene.artifact(args.artifact)
        found = scene.measure_uvs(obj, args.uv_map, world_matrix(scene, obj), args.texture_size, picture, args.size)
        return UvChecked(
            object=args.object,
            uv_map=args.uv_map,
            islands=found.islands,
            overlap=round(found.overlap, 4),
            outside_faces=found.outside_faces,
            flipped_faces=found.flipped_faces,
            empty_faces=found.empty_faces,
            coverage=round(found.coverage, 4),
            stretch_mean=round(found.stretch_mean, 3),
            stretch_worst=round(found.stretch_worst, 3),
            density=round(found.density, 2),
            density_least=round(found.density_least, 2),
            density_most=round(found.density_most, 2),
            problems=list(_problems(found)),
            artifact=args.artifact,
        )


def _problems(found: UvMeasures) -> Iterator[str]:
    if found.overlap > MOST_OVERLAP:
        yield f"{found.overlap:.1%} of the layout overlaps: uv.pack, or uv.unwrap with method smart"
    if found.outside_faces:
        yield f"{found.outside_faces} faces reach out of the tile: uv.pack"
    if found.empty_faces:
        yield f"{found.empty_faces} faces have no area in the layout: uv.unwrap again, mesh.clean first"
    if found.stretch_worst > MOST_STRETCH:
        yield f"stretched {found.stretch_worst:.1f} times at worst: mark more seams with mesh.edit"
    if found.density_least > 0.0 and found.density_most / found.density_least > MOST_UNEVEN:
        yield f"texel density from {found.density_least:.0f} to {found.density_most:.0f} per metre: uv.pack with even"
