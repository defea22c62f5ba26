"""The names in the open scene, looked up in its Blender before a plan runs."""

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

# The time limit of one query.
QUERY_SECONDS = 10.0
# The number of names in one query.
NAMES_PER_QUERY = 100
COLLECTIONS = Kind.COLLECTION.blocks
# The word of `scene.expect` for each kind of datablock that it can check.
EXPECTED_KINDS = {Kind[word.upper()].blocks: word for word in ("object", "material", "mesh", "light", "camera", "world", "image",
         "action", "node_group")}  # fmt: skip


class SceneNames:
    """A name source that asks the Blender that holds the scene. If no Blender holds it, no name has a problem."""

    def __init__(self, scene: SceneHost) -> None:
        self._scene = scene

    def problems(self, names: Sequence[Name]) -> Mapping[Name, NameProblem]:
        if not self._scene.ready:
            return {}
        checked = names[: 10 * NAMES_PER_QUERY]
        problems = dict(self._missing([name for name in checked if name[0] in EXPECTED_KINDS]))
        problems |= dict(self._missing_collections([name for kind, name in checked if kind == COLLECTIONS]))
        return problems

    def _missing(self, asked: Sequence[Name]) -> Iterator[tuple[Name, NameProblem]]:
        for start in range(0, len(asked), NAMES_PER_QUERY):
            page = asked[start : start + NAMES_PER_QUERY]
            expectations: list[dict[str, Any]] = []
            for kind, name in page:
                expectation = Expectation(kind=EXPECTED_KINDS[kind], name=name)  # pyright: ignore[reportArgumentType]
                expectations.append(expectation.model_dump(mode="json"))
            answer = _step(self._scene, Expect(), {"expectations": expectations, "moment": "before"})
            for finding in _findings(answer):
                yield page[int(finding.pointer.split("/")[2])], _problem(finding)

    def _missing_collections(self, names: Iterable[str]) -> Iterator[tuple[Name, NameProblem]]:
        """Query the collections one by one, with a tool that also accepts the scene's own collection by name."""
        for name in names:
            for finding in _findings(_step(self._scene, FindObjects(), {"collection": name, "limit": 1})):
                yield (COLLECTIONS, name), _problem(finding)


def _problem(finding: Finding) -> NameProblem:
    message = f"{finding.message}, and no earlier operation of the plan makes it"
    return NameProblem(Fault.TARGET_NOT_FOUND, message, finding.cure)


def _step(scene: SceneHost, tool: AnyTool, args: dict[str, Any]) -> StepAnswer:
    canonical = tool.args_model.model_validate(args).model_dump(mode="json")
    return scene.step(
        StepRequest(tool=tool.name, version=tool.version, args=canonical), deadline=QUERY_SECONDS, cancel=None
    )


def _findings(answer: StepAnswer) -> Iterator[Finding]:
    for entry in answer["findings"]:
        finding = Finding.from_json(dict(entry))
        if finding.fault is Fault.TARGET_NOT_FOUND:
            yield finding
