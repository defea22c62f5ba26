"""Tool scene.set_color_management"""

from __future__ import annotations

from collections.abc import Sequence

from blendwright.tool_api.arguments import Args, optional
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings
from blendwright.tools.checks import invalid
from blendwright.tools.settings import SceneChanged, SetsSceneSettings, Setting, Settings, write_settings
from blendwright.values.findings import did_you_mean

NO_LOOK = "None"


class SetColorManagementArgs(Args):
    view_transform: str | None = optional("Conversion of light to colours: AgX, Standard, Filmic, Raw …")
    look: str | None = optional("Contrast of the view transform, such as Medium High Contrast; None for no look.")
    exposure: float | None = optional("Exposure in stops.", ge=-32.0, le=32.0)
    gamma: float | None = optional("Gamma correction; 1 has no effect.", ge=0.01, le=5.0)


class SetColorManagement(SetsSceneSettings[SetColorManagementArgs]):
    """Set the conversion of light to colours: view transform, look, exposure, gamma. Omitted arguments change nothing."""

    name = "scene.set_color_management"
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.SCENE).needs("scene_write")
    examples = (
        Example({"view_transform": "AgX", "look": "Medium High Contrast", "exposure": 0.5}),
        Example({"view_transform": "Standard", "gamma": 1.2}, ("scene.set_color_management", {"look": "Punchy"})),
    )

    def problems(self, scene: Scene, args: SetColorManagementArgs, target: Block) -> Findings:
        view = target.view_settings
        if args.view_transform is not None:
            names = scene.choices(view, "view_transform")
            if args.view_transform not in names:
                cure = did_you_mean(args.view_transform, names, otherwise=f"Known names: {', '.join(names)}.")
                yield invalid(f"this Blender has no view transform '{args.view_transform}'", "/view_transform", cure)
                return
        looks = _looks(scene, args, view)
        if args.look is not None and _look(args.look, looks) is None:
            name = args.view_transform or view.view_transform
            cure = did_you_mean(args.look, looks, otherwise=f"Known looks: {', '.join(looks)}.")
            yield invalid(f"{name} has no look '{args.look}'", "/look", cure)

    def apply(self, scene: Scene, args: SetColorManagementArgs) -> SceneChanged:
        view = scene.active.view_settings
        before = view.look
        if args.view_transform is not None and args.view_transform != view.view_transform:
            # Each view transform has its own looks, and the look must be valid at each moment, also during undo.
            scene.set(view, "look", NO_LOOK)
        changed = write_settings(scene, self.settings(scene, args, scene.active))
        return SceneChanged(scene=scene.active.name, changed=changed or before != view.look)

    def settings(self, scene: Scene, args: SetColorManagementArgs, target: Block) -> Settings:
        view = target.view_settings
        if args.view_transform is not None:
            yield Setting(view, "view_transform", args.view_transform, "/view_transform")
        if args.look is not None:
            yield Setting(view, "look", _look(args.look, _looks(scene, args, view)), "/look")
        for name in ("exposure", "gamma"):
            if getattr(args, name) is not None:
                yield Setting(view, name, getattr(args, name), f"/{name}")


def _looks(scene: Scene, args: SetColorManagementArgs, view: Block) -> Sequence[str]:
    """Return the looks of the requested view transform, or of the present one."""
    if args.view_transform in (None, view.view_transform):
        return scene.choices(view, "look")
    with scene.temporarily(view, look=NO_LOOK), scene.temporarily(view, view_transform=args.view_transform):
        return scene.choices(view, "look")


def _look(name: str, looks: Sequence[str]) -> str | None:
    """Return Blender's full name of a look, which may start with the view transform, or None for an unknown look."""
    return next((look for look in looks if name in (look, look.partition(" - ")[2])), None)
