"""The argument `image` of calls that read or change the scene: whether and how the answer includes a picture.

The picture saves a call of scene_image. It is taken after a change has succeeded, so a failing picture undoes
nothing: the answer reports the reason.
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

# A short schema, because the list of tools already contains the schema of scene_image.
EITHER: dict[str, Any] = {"anyOf": [{"type": "boolean"}, {"type": "object"}]}
RequestedPicture = Annotated[bool | dict[str, Any], WithJsonSchema(EITHER)]
DESCRIBED = "true, or scene_image arguments {views, engine …}; compare 'before' shows the change."
# The value of `compare` for the scene before the change, in addition to commits and files.
BEFORE = "before"
CHECKER = ModelChecker(ImageArgs, ImageArgs.model_json_schema(), "Pass true, or the arguments of scene_image.")


def read_request(image: bool | dict[str, Any]) -> bool | ImageArgs:
    """Return how to take the picture. Raises Refusal for arguments that scene_image would refuse, before anything
    runs.
    """
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
    """Return the response of a successful change with the requested picture. `before` is the commit before the
    change.
    """
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
    elif look.outcome.ok:
        seen = (look.outcome.result or {}).get("seen")
        if seen:
            outcome = outcome.with_(result={**(outcome.result or {}), "seen": seen})
    return replace(response, images=look.images, outcome=outcome)


def _look(request: ImageArgs, opened: OpenScene, pace: LookPace, options: RunOptions) -> ToolResponse:
    try:
        return Look(opened, pace, options).take(request, allowed_seconds(opened, request))
    except BlendwrightError as error:
        return error_failure(error)  # the change stays committed


def _usual_look(opened: OpenScene, options: RunOptions) -> ToolResponse:
    """Render through the scene's camera, or from the front right above if there is no camera."""
    outcome = opened.outcome("render.preview", {"render_shape": True, "artifact": "after.png"}, options)
    # If the policy or the user refused the first picture, do not ask for another one.
    if not outcome.ok and outcome.fault is not Fault.POLICY_BLOCKED:
        outcome = opened.outcome("render.preview", {"view": "ISO", "artifact": "after.png"}, options)
    if not outcome.ok:
        return ToolResponse(outcome)
    return ToolResponse(outcome, (from_outcome(outcome),))


def _notes(look: Outcome) -> list[str]:
    """Return notes about the picture, or the reason why there is none."""
    if not look.ok:
        note = f"no picture: {look.message}"
        if look.findings and look.findings[0].cure:
            note += f" {look.findings[0].cure}"
        return [note]

    result = look.result or {}
    notes: list[str] = list(result.get("notes") or ())
    if result.get("reduced"):
        notes.append(f"the picture: {result['reduced']}")
    return notes
