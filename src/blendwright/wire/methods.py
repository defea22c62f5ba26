"""The methods of a worker's scene: the name of each, what its request holds, and what it answers.

The one list that both sides go by: the core to call them, the worker to provide them, each to check what it receives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, NotRequired, TypedDict, TypeVar

from blendwright.wire.shape_check import Check, shape
from blendwright.wire.step import ADDED_BY_CORE, StepAnswer, StepRequest, is_consistent

Request = TypeVar("Request", bound=Mapping[str, Any])
Answer = TypeVar("Answer", bound=Mapping[str, Any])


class NoArguments(TypedDict):
    """The request of a method that needs nothing."""


class FileRequest(TypedDict):
    """A .blend file, as a path inside the worker's scratch."""

    path: str


class SaveRequest(FileRequest):
    """Where to save; without `full` the hash is the one kept from step to step, not a full recomputation."""

    full: NotRequired[bool]


class HashRequest(TypedDict):
    """With `full` the hash is recomputed."""

    full: NotRequired[bool]


class RelocateRequest(FileRequest):
    """The paths of external files to replace, and the file to save the scene to."""

    new_paths: Mapping[str, str]


class SceneHash(TypedDict):
    """The fingerprint of the scene after the method."""

    hash: str


class Script(TypedDict):
    """Code that a scene carries; see `tool_api.scene.Carried`."""

    what: str
    kind: str
    name: str
    where: str


class ActiveItem(Script):
    """Something in a scene that runs by itself or names a file. The digest tells another content under the same name."""

    digest: str


class ExternalPath(TypedDict):
    """A path as it stands in the scene, with the datablock that has it."""

    kind: str
    name: str
    path: str


class ExportAnswer(SceneHash):
    """The scripts that were left out of the file."""

    cleaned: list[Script]


class SwapAnswer(SceneHash):
    """What is different in the scene that was opened, and what it carries."""

    changes: list[list[str]]
    active_content: list[ActiveItem]


class ExternalFilesAnswer(TypedDict):
    paths: list[ExternalPath]


class ActiveContentAnswer(TypedDict):
    active_content: list[ActiveItem]


@dataclass(frozen=True, slots=True, eq=False)
class Method(Generic[Request, Answer]):
    """One method that a worker answers."""

    name: str
    request_fits: Check
    """Whether this can be a request of the method."""
    answer_fits: Check
    """Whether this can be its answer."""


def _method(name: str, request: type[Request], answer: type[Answer]) -> Method[Request, Answer]:
    return Method(f"scene.{name}", shape(request), shape(answer))


RESET = _method("reset", NoArguments, SceneHash)
OPEN = _method("open", FileRequest, SceneHash)
SAVE = _method("save", SaveRequest, SceneHash)
EXPORT = _method("export", FileRequest, ExportAnswer)
SWAP = _method("swap", FileRequest, SwapAnswer)
HASH = _method("hash", HashRequest, SceneHash)
EXTERNAL_FILES = _method("external_files", NoArguments, ExternalFilesAnswer)
RELOCATE_FILES = _method("relocate_files", RelocateRequest, SceneHash)
ACTIVE_CONTENT = _method("active_content", NoArguments, ActiveContentAnswer)
STEP: Method[StepRequest, StepAnswer] = Method(
    "scene.step", shape(StepRequest), shape(StepAnswer, without=ADDED_BY_CORE, is_sound=is_consistent)
)

METHODS: dict[str, Method[Any, Any]] = {
    method.name: method
    for method in (RESET, OPEN, SAVE, EXPORT, SWAP, HASH, EXTERNAL_FILES, RELOCATE_FILES, ACTIVE_CONTENT, STEP)
}


def answer_fits(name: str, answer: Any) -> bool:
    """Whether this can be the answer of a method; of methods that are not listed here nothing is known."""
    method = METHODS.get(name)
    return method is None or method.answer_fits(answer)
