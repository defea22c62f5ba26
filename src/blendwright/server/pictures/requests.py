"""`image` of a call that changes or reads the scene: whether a picture comes with the answer, and how it is taken.

A look that is asked for with it costs no call of its own. It is taken as scene_image takes it, after a change stands, so one that fails
takes nothing back: the answer says why there is none.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from pydantic import WithJsonSchema

from blendwright.engine.options import RunOptions
from blendwright.schemas.check import ModelChecker
from blendwright.server.answers.response import ToolResponse, error_failure
from blendwright.server.pictures.pictures import from_outcome
from blendwright.server.pictures.quality import LookPace
from blendwright.server.tools.scene_image import ImageArgs, Look, allowed_seconds
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from blendwright.workspace.open_scene import OpenScene

# What such an object may hold is said in words: the schema of scene_image is in the list already.
EITHER: dict[str, Any] = {"anyOf": [{"type": "boolean"}, {"type": "object"}]}
RequestedPicture = Annotated[bool | dict[str, Any], WithJsonSchema(EITHER)]
DESCRIBED = "true, or {views, engine …} as in scene_image; compare 'before': with what was there."
# What `compare` names besides commits and files: the scene before the change.
BEFORE = "before"
CHECKER = ModelChecker(ImageArgs, ImageArgs.model_json_schema(), "It is true, or takes what scene_image takes.")


def read_request(image: bool | dict[str, Any]) -> bool | ImageArgs:
    """How to look. Raises Refusal for what scene_image would refuse, before anything runs."""
    if isinstance(image, bool):
        return image
    look, problems = CHECKER.validate(image)
    if problems or not isinstance(look, ImageArgs):
        raise Refusal([finding.under("/image") for finding in problems])
    return look


def with_picture(
    response: ToolResponse,
    request: bool | ImageArgs,
    opened: OpenScene,
    pace: LookPace,
    options: RunOptions,
    before: int | None,
) -> ToolResponse:
    """The response of a change that stands, with the picture that was asked for; `before` is the commit that it began with."""
    if request is False:
        return response
    if isinstance(request, ImageArgs) and request.compare == BEFORE and before is not None:
        request = request.model_copy(update={"compare": str(before)})
    if request is True:
        look = _usual_look(opened, options)
    else:
        look = _look(request, opened, pace, options)
    outcome = response.outcome.with_(notes=(*response.outcome.notes, *_notes(look.outcome)))
    if look.outcome.ok and isinstance(request, ImageArgs) and request.compare is not None:
        outcome = outcome.with_(result={**(outcome.result or {}), "compared": look.outcome.result})
    elif look.outcome.ok and (seen := (look.outcome.result or {}).get("seen")):
        outcome = outcome.with_(result={**(outcome.result or {}), "seen": seen})
    return replace(response, images=look.images, outcome=outcome)


def _look(request: ImageArgs, opened: OpenScene, pace: LookPace, options: RunOptions) -> ToolResponse:
    try:
        return Look(opened, pace, options).take(request, allowed_seconds(opened, request))
    except BlendwrightError as error:
        return error_failure(error)  # the change stands, whatever becomes of its picture


def _usual_look(opened: OpenScene, options: RunOptions) -> ToolResponse:
    """Through the scene's camera, or from the front right above where it has none."""
    outcome = opened.outcome("render.preview", {"render_shape": True, "artifact": "after.png"}, options)
    # Whoever does not want a picture is not asked for another one.
    if not outcome.ok and outcome.fault is not Fault.POLICY_BLOCKED:
        outcome = opened.outcome("render.preview", {"view": "ISO", "artifact": "after.png"}, options)
    return ToolResponse(outcome, (from_outcome(outcome),) if outcome.ok else ())


def _notes(look: Outcome) -> list[str]:
    """What may surprise about the picture, or why there is none."""
    if not look.ok:
        cures = [finding.cure for finding in look.findings[:1] if finding.cure]
        return [" ".join([f"no picture: {look.message}", *cures])]
    told = look.result or {}
    return [*(told.get("notes") or ()), *([f"the picture: {told['reduced']}"] if told.get("reduced") else ())]
