"""The cases of the conformance suite: every example of every tool, and which promises apply to it. Needs no Blender."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import pytest
from pydantic import ValidationError

from blendwright.assets.index import AssetLibraries
from blendwright.assets.supply import LibrarySupply
from blendwright.tool_api.arguments import SUPPLIED, file_arguments
from blendwright.tool_api.promises import Determinism, Idempotence, Revert, SafetyLevel
from blendwright.tool_api.tool import AnyTool, Example
from blendwright.tools.catalog import tools
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

Promise = Callable[["Case"], bool]
MORE_EXAMPLES = (pytest.mark.slow, pytest.mark.more_examples)


@dataclass(frozen=True)
class Case:
    """One example of one tool."""

    tool: AnyTool
    index: int

    @property
    def id(self) -> str:
        return f"{self.tool.name}[{self.index}]"

    @property
    def example(self) -> Example:
        return self.tool.examples[self.index]

    @property
    def is_last(self) -> bool:
        return self.index == len(self.tool.examples) - 1

    @property
    def args(self) -> dict[str, Any]:
        return dict(self.example.args)

    @property
    def parsed(self) -> Any:
        """The example's arguments as the tool gets them."""
        return _parsed(self.tool, self.index)

    @property
    def writes(self) -> bool:
        return self.tool.safety_level is not SafetyLevel.READ_ONLY

    @property
    def determinism(self) -> Determinism:
        return self.tool.determinism_for(self.parsed)

    @property
    def idempotence(self) -> Idempotence:
        return self.tool.idempotence_for(self.parsed)

    @property
    def repeatable(self) -> bool:
        """Whether running it again elsewhere must give the same scene."""
        return self.determinism is not Determinism.NONDETERMINISTIC and self.tool.replayable_for(self.parsed)

    @property
    def seeded(self) -> bool:
        return self.determinism is Determinism.SEEDED

    def reverts_by(self, way: Revert) -> bool:
        return self.tool.revert is way

    def fits(self, version: tuple[int, int, int]) -> bool:
        """Whether the tool is for this Blender."""
        newest = self.tool.requires.blender_max
        return self.tool.requires.blender_min <= version and (newest is None or version < newest)


@cache
def _parsed(tool: AnyTool, index: int) -> Any:
    return tool.args_model.model_validate(dict(tool.examples[index].args))


@cache
def every_case() -> tuple[Case, ...]:
    return tuple(Case(tool, index) for tool in tools().values() for index in range(len(tool.examples)))


def cases(promise: Promise = lambda case: True, *, every: bool = False) -> pytest.MarkDecorator:
    """Parametrise a test over the cases to which a promise applies: of each tool the last one, and the others in make test-slow and
    make test-matrix. `every`: all of them in make test."""
    chosen = [case for case in every_case() if _applies(promise, case)]
    quick = {case.tool.name: case for case in chosen}
    return pytest.mark.parametrize(
        "case",
        [
            pytest.param(case, id=case.id, marks=() if every or quick[case.tool.name] is case else MORE_EXAMPLES)
            for case in chosen
        ],
    )


def _applies(promise: Promise, case: Case) -> bool:
    try:
        return promise(case)
    except ValidationError:
        return False  # the test of the arguments tells


def places(tool: AnyTool, args: Mapping[str, Any], room: Path, *roles: str) -> dict[str, str]:
    """Where the worker finds or leaves the files that arguments name, by role.

    All are in one directory, so that what one call of an example exports the next can import."""
    # Pictures of a folder are read, and so are assets.
    wanted = {*roles, *(("pictures", "asset") if "read" in roles else ())}
    named = [args.get(name) for name, role in file_arguments(tool.args_model).items() if role in wanted]
    found = {path: str(room / Path(path).name) for path in named if path is not None}
    if "read" in roles:
        found |= {role: supplied(role, args, room) for role in set(file_arguments(tool.args_model).values()) & SUPPLIED}
        found |= {"origin": str(room / "origin.json")} if "online" in found else {}
    return found


def supplied(role: str, args: Mapping[str, Any], room: Path) -> str:
    """What the core leaves for a call of the asset tools: those in the directory, or a download."""
    directory = room / role
    directory.mkdir(exist_ok=True)
    if role == "search":
        libraries = AssetLibraries({"room": room}, None)
        return LibrarySupply(libraries).supply(role, "words", {"words": "", "limit": 12, **args}, directory)
    (directory / "download").write_bytes(b"glTF")
    texts = dict.fromkeys(("name", "description", "author", "license", "source", "copyright"), "said")
    told: dict[str, Any] = {**texts, "tags": [], "sha256": "0", "bytes": 4, "file_name": "chair.glb"}
    (directory / "found.json").write_text(json.dumps(told))
    return str(directory / "found.json")


class Doubted:
    """A tool whose verification fails at the very end of a step that has done all its work."""

    def __init__(self, tool: AnyTool) -> None:
        self._tool = tool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    def verify(self, scene: Any, args: Any, result: Any) -> Iterable[Finding]:
        yield from self._tool.verify(scene, args, result)
        yield Finding(Fault.INTERNAL_ERROR, "doubted on purpose")


def doubted(tool: AnyTool) -> AnyTool:
    return cast("AnyTool", Doubted(tool))
