"""What render.preview and render.still share: which camera can be used, and the picture that a render leaves."""

from __future__ import annotations

from collections.abc import Iterator

from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tools.checks import wrong_type
from blendwright.tools.render.pictures import Rendered, read_picture
from blendwright.values.errors import StepError
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

AT = "/camera"


def camera_problems(scene: Scene, name: str | None, cure: str) -> Iterator[Finding]:
    """Why there is no camera to look through; without a name the scene's own is meant."""
    if name is None:
        if scene.active.camera is None:
            yield Finding(Fault.SCENE_CONFLICT, "the scene has no camera", AT, cure)
        return
    yield from scene.missing(Kind.OBJECT, name, AT)
    camera = scene.find(Kind.OBJECT, name)
    if camera is not None:
        yield from wrong_type(camera, ("CAMERA",), AT)


def render_picture(
    scene: Scene, file: str, camera: Block | None, engine: str, *, artifact: str | None, path: str | None = None
) -> Rendered:
    """Render to a file that the worker writes; `artifact` or `path` is what the caller knows it by."""
    scene.render_still(file, camera=camera)
    picture = read_picture(file)
    if picture is None:
        at = "/artifact" if path is None else "/path"
        raise StepError.of(Fault.EXECUTION_FAILED, "Blender wrote no picture", at=at)
    return Rendered(
        artifact=artifact,
        path=path,
        width=picture.width,
        height=picture.height,
        engine=engine,
        pixels_sha256=picture.pixels_sha256,
    )
