"""The names in the scene that is open, looked up in its Blender before a plan runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from blendwright.engine.scene.host import SceneHost
from blendwright.tool_api.scene import Kind
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.scene.expect import Expect, Expectation
from blendwright.tools.scene.find import FindObjects
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.wire.methods import StepAnswer, StepRequest
from blendwright.workspace.names.port import Name, NameProblem

SECONDS = 10.0
PAGE = 100
COLLECTIONS = Kind.COLLECTION.blocks
# What can be expected of a scene, by kind.
WORDS = {Kind[word.upper()].blocks: word for word in ("object", "material", "mesh", "light", "camera", "world", "image",
         "action", "node_group")}  # fmt: skip


class SceneNames:
    """A name source: asks the Blender that holds the scene. Where none does, no name has a problem."""

    def __init__(self, scene: SceneHost) -> None:
        self._scene = scene

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        if not self._scene.ready:
            return {}
        asked = names[: 10 * PAGE]
        problems = dict(self._missing([name for name in asked if name[0] in WORDS]))
        problems |= dict(self._missing_collections([name for kind, name in asked if kind == COLLECTIONS]))
        return problems

    def _missing(self, asked: Sequence[Name]) -> Iterator[tuple[Name, NameProblem]]:
        for start in range(0, len(asked), PAGE):
            page = asked[start : start + PAGE]
            expected = [Expectation(kind=WORDS[kind], name=name).model_dump(mode="json") for kind, name in page]  # pyright: ignore[reportArgumentType]
            answer = _step(self._scene, Expect(), {"expectations": expected, "moment": "before"})
            for finding in _findings(answer):
                yield page[int(finding.pointer.split("/")[2])], _problem(finding)

    def _missing_collections(self, names: Iterable[str]) -> Iterator[tuple[Name, NameProblem]]:
        """Ask one by one, with a tool that also takes the scene's own collection by its name."""
        for name in names:
            for finding in _findings(_step(self._scene, FindObjects(), {"collection": name, "limit": 1})):
                yield (COLLECTIONS, name), _problem(finding)


def _problem(finding: Finding) -> NameProblem:
    message = f"{finding.message}, and nothing in the plan makes it before"
    return NameProblem(Fault.TARGET_NOT_FOUND, message, finding.cure)


def _step(scene: SceneHost, tool: AnyTool, args: dict[str, Any]) -> StepAnswer:
    canonical = tool.args_model.model_validate(args).model_dump(mode="json")
    return scene.step(StepRequest(tool=tool.name, version=tool.version, args=canonical), deadline=SECONDS, cancel=None)


def _findings(answer: StepAnswer) -> Iterator[Finding]:
    found = (Finding.from_json(dict(one)) for one in answer["findings"])
    return (finding for finding in found if finding.fault is Fault.TARGET_NOT_FOUND)
