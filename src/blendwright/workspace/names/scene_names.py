"""What a plan uses and neither makes nor finds: looked up in the scene that is open, before anything of the plan runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from blendwright.engine.scene.host import SceneHost
from blendwright.plan.implied_order import Use
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.scene.expect import Expect, Expectation
from blendwright.tools.scene.find import FindObjects
from blendwright.values.faults import Fault
from blendwright.values.findings import MOST_FINDINGS, Finding
from blendwright.wire.methods import StepAnswer, StepRequest

SECONDS = 10.0
PAGE = 100
COLLECTIONS = Kind.COLLECTION.blocks
# What can be expected of a scene, by kind.
WORDS = {Kind[word.upper()].blocks: word for word in ("object", "material", "mesh", "light", "camera", "world", "image",
         "action", "node_group")}  # fmt: skip


def missing_uses(scene: SceneHost, uses: Sequence[Use]) -> tuple[Finding, ...]:
    """A finding for each use of what is not in the scene, with its place in the plan. Asks the Blender that holds the scene; where
    none does, nothing is known."""
    if not scene.ready or not uses:
        return ()
    asked = list(dict.fromkeys((use.mention.kind, use.mention.name) for use in uses))[: 10 * PAGE]
    unmet = dict(_unmet_names(scene, [one for one in asked if one[0] in WORDS]))
    unmet |= dict(_unmet_collections(scene, [name for kind, name in asked if kind == COLLECTIONS]))
    found: list[Finding] = []
    for operation, mention in uses:
        finding = unmet.get((mention.kind, mention.name))
        if finding is not None:
            message = f"{finding.message}, and nothing in the plan makes it before"
            found.append(operation.in_arguments(Finding(Fault.TARGET_NOT_FOUND, message, mention.at, finding.cure)))
    return tuple(dict.fromkeys(found))[:MOST_FINDINGS]


_Unmet = tuple[tuple[str, str], Finding]


def _unmet_names(scene: SceneHost, asked: Sequence[tuple[str, str]]) -> Iterator[_Unmet]:
    for start in range(0, len(asked), PAGE):
        page = asked[start : start + PAGE]
        expected = [Expectation(kind=WORDS[kind], name=name).model_dump(mode="json") for kind, name in page]  # pyright: ignore[reportArgumentType]
        for finding in _findings(_step(scene, Expect(), {"expectations": expected, "moment": "before"})):
            yield page[int(finding.pointer.split("/")[2])], finding


def _unmet_collections(scene: SceneHost, names: Iterable[str]) -> Iterator[_Unmet]:
    """One by one, and by a tool that takes the scene's own collection by its name too."""
    for name in names:
        for finding in _findings(_step(scene, FindObjects(), {"collection": name, "limit": 1})):
            yield (COLLECTIONS, name), finding


def _step(scene: SceneHost, tool: AnyTool, args: dict[str, Any]) -> StepAnswer:
    canonical = tool.args_model.model_validate(args).model_dump(mode="json")
    return scene.step(StepRequest(tool=tool.name, version=tool.version, args=canonical), deadline=SECONDS, cancel=None)


def _findings(answer: StepAnswer) -> Iterator[Finding]:
    found = (Finding.from_json(dict(one)) for one in answer["findings"])
    return (finding for finding in found if finding.fault is Fault.TARGET_NOT_FOUND)
