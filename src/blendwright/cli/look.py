"""The command `blendwright look`: pictures of the scene, and comparisons with a reference picture or an earlier commit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from blendwright.cli.options import AsJson, Blender, Scene, Workspace, png_name
from blendwright.cli.output import Exit, SafeConsole, fail, note_remarks, present
from blendwright.cli.progress import waiting
from blendwright.tools.render.viewpoint import NamedView
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.views.before_and_after import LookBack, look_back
from blendwright.views.export import write_picture
from blendwright.views.queries import take_picture

# The choices of the tools, in lower case as users type them.
Shown = Literal["shaded", "names", "depth", "mask"]
Side = Literal["front", "back", "right", "left", "top", "bottom", "iso", "side", "three_quarter"]
Engine = Literal["workbench", "cycles"]


def look(
    image: Annotated[
        Path,
        typer.Option(
            "--image", metavar="PNG", help="Write the picture there, replacing what is there.", callback=png_name
        ),
    ] = Path("look.png"),
    view: Annotated[
        Side | None,
        typer.Option(
            "--view", metavar="SIDE", help="Look from this side; else through a camera.", case_sensitive=False
        ),
    ] = None,
    camera: Annotated[
        str | None,
        typer.Option("--camera", metavar="NAME", help="Look through this camera; the scene's own by default."),
    ] = None,
    show: Annotated[
        Shown,
        typer.Option("--show", help="Shaded, with names, depths, or a colour for each object.", case_sensitive=False),
    ] = "shaded",
    reference: Annotated[
        Path | None, typer.Option("--reference", metavar="FILE", help="Compare with this picture.")
    ] = None,
    before: Annotated[
        str | None, typer.Option("--before", metavar="N", help="Compare with the scene of this commit.")
    ] = None,
    after: Annotated[str, typer.Option("--after", metavar="N", help="The later commit of --before.")] = "HEAD",
    engine: Annotated[
        Engine,
        typer.Option(
            "--engine",
            help="cycles shows light and shadow, and is black without a light; slower.",
            case_sensitive=False,
        ),
    ] = "workbench",
    width: Annotated[
        int, typer.Option("--width", metavar="N", help="Width in pixels, of each panel.", min=16, max=2048)
    ] = 640,
    workspace: Workspace = ".blendwright",
    scene: Scene = None,
    blender: Blender = None,
    json: AsJson = False,
) -> int:
    """Take a picture of the scene: shaded, with names, depths or a mask, beside a reference, or before and after a commit."""
    if before is not None and (reference is not None or scene is not None or show != "shaded"):
        cure = "Give --before without --reference, --scene and --show."
        raise Refusal.of(Fault.ARGS_INVALID, "before and after are shaded scenes of one workspace", cure)
    if view is None:
        side = None
    else:
        side = cast("NamedView", view.upper())
    if before is not None:
        with waiting("taking both pictures", show=not json):
            seen = look_back(
                workspace,
                before,
                after,
                LookBack(side, camera, cast("Any", engine.upper()), min(width, 1024)),
                blender=blender,
            )
        write_picture(seen.sheet, image)
        answer = {**seen.to_json(), "image": str(image)}
    else:
        args: dict[str, Any] = {"engine": engine.upper(), "width": width}
        if side is not None:
            args["view"] = side
        if camera is not None:
            args["camera"] = camera
        if reference is None:
            tool = "render.preview"
            height = max(16, width * 3 // 4)
            args |= {"height": height, "show": show.upper(), "render_shape": side is None}
        else:
            tool = "render.compare"
            args |= {"width": min(width, 1024), "reference": str(reference)}
        with waiting("taking the picture", show=not json):
            outcome, picture = take_picture(tool, args, workspace, scene, blender)
        if picture is None:
            if outcome.findings:
                cure = outcome.findings[0].cure
            else:
                cure = None
            fail("failed", outcome.message, cure, Exit.of_call(outcome))
        write_picture(picture, image)
        answer = {"ok": True, **dict(outcome.result or {}), "image": str(image)}
    return present(json, lambda: answer, lambda out: _show(out, answer))


def _show(out: SafeConsole, answer: dict[str, Any]) -> None:
    out.columns(
        ((entry["object"], "bold"), f"{entry['share']:.1%}", (f"{entry['nearest']:g} m", "dim"), entry["color"])
        for entry in answer.get("seen") or ()
    )
    if answer.get("unseen"):
        out.show(f"not to be seen: {', '.join(answer['unseen'])}", "dim")
    if "silhouette_iou" in answer:
        if answer["silhouette_iou"] is None:
            outline = "no outline found"
        else:
            outline = f"outlines agree by {answer['silhouette_iou']:.1%}"
        out.show(f"{outline}; {answer['differing']:.1%} of the pixels differ, colours by {answer['difference']:.2%}")
    out.show(f"wrote {answer['image']}")
    note_remarks(answer.get("notes") or ())
