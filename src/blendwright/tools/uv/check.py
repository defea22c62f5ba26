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
# A larger share of overlap, stretch factor or ratio of densities is reported as a problem.
MAX_OVERLAP, MAX_STRETCH, MAX_UNEVENNESS = 0.002, 2.0, 2.0
# Allowed relative difference of measured values between runs.
TOLERANCE = 1e-4


class CheckArgs(Args):
    object: ObjectName = Field(description="Name of the mesh object; modifiers are ignored.")
    uv_map: UvMapName = Field(default=DEFAULT, description="Name of its UV map.")
    texture_size: int = Field(
        default=1024, ge=1, le=65_536, description="Width of the texture in pixels, for densities."
    )
    size: int = Field(default=512, ge=64, le=2048, description="Width of the picture of the layout in pixels.")
    artifact: PngName = Field(default="uv_layout.png", description="Name of the picture among the artifacts.")


class UvChecked(Result):
    """Measured values of a UV map."""

    object: str = Field(description="Name of the object.")
    uv_map: str = Field(description="Name of the map.")
    islands: int = Field(description="Number of connected parts of the layout.")
    overlap: float = Field(description="Share of the used area that several faces use.")
    outside_faces: int = Field(description="Number of faces that extend outside the tile.")
    flipped_faces: int = Field(description="Number of faces that are mirrored in the layout.")
    empty_faces: int = Field(description="Number of faces without area in the layout.")
    coverage: float = Field(description="Area of the layout, in tiles.")
    stretch_mean: float = Field(description="Mean ratio of the scales in two directions of a face; 1 is no stretch.")
    stretch_worst: float = Field(description="Largest ratio of the scales in two directions of a face.")
    density: float = Field(description="Texels per metre.")
    density_least: float = Field(description="Texels per metre of the island with the fewest.")
    density_most: float = Field(description="Texels per metre of the island with the most.")
    problems: list[str] = Field(description="Problems that a texture would show; empty for a good map.")
    artifact: str = Field(description="Name of the picture: islands in colours, overlaps in red.")


class CheckUvs(Reads[CheckArgs, UvChecked]):
    """Check a UV map: overlaps, stretch, faces outside the tile, texel density, islands; with a picture of the layout."""

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
        width = args.size
        measures = scene.measure_uvs(obj, args.uv_map, world_matrix(scene, obj), args.texture_size, picture, width)
        return UvChecked(
            object=args.object,
            uv_map=args.uv_map,
            islands=measures.islands,
            overlap=round(measures.overlap, 4),
            outside_faces=measures.outside_faces,
            flipped_faces=measures.flipped_faces,
            empty_faces=measures.empty_faces,
            coverage=round(measures.coverage, 4),
            stretch_mean=round(measures.stretch_mean, 3),
            stretch_worst=round(measures.stretch_worst, 3),
            density=round(measures.density, 2),
            density_least=round(measures.density_least, 2),
            density_most=round(measures.density_most, 2),
            problems=list(_problems(measures)),
            artifact=args.artifact,
        )


def _problems(measures: UvMeasures) -> Iterator[str]:
    least, most = measures.density_least, measures.density_most
    if measures.overlap > MAX_OVERLAP:
        yield f"{measures.overlap:.1%} of the layout overlaps: use uv.pack, or uv.unwrap with method smart"
    if measures.outside_faces:
        yield f"{measures.outside_faces} faces extend outside the tile: use uv.pack"
    if measures.empty_faces:
        yield f"{measures.empty_faces} faces have no area in the layout: use mesh.clean, then uv.unwrap again"
    if measures.stretch_worst > MAX_STRETCH:
        yield f"the worst stretch is {measures.stretch_worst:.1f} times: mark more seams with mesh.edit"
    if least > 0.0 and most / least > MAX_UNEVENNESS:
        yield f"the texel density varies from {least:.0f} to {most:.0f} per metre: use uv.pack with even"
