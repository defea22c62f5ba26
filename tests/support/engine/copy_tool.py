"""A tool that reads a file and writes another one, for tests of the files of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from blendwright.engine.files.access import FileAccess
from blendwright.tool_api.arguments import Args, ReadPath, Result, WritePath
from blendwright.tool_api.promises import SAFE_IDEMPOTENT_WRITE
from blendwright.tool_api.scene import Kind, Scene
from blendwright.tool_api.tool import Example, Tool
from blendwright.values.findings import Finding


class CopyArgs(Args):
    source: ReadPath | None = Field(default=None, description="What to read.")
    target: WritePath | None = Field(default=None, description="What to write.")
    overwrite: bool = False


class Nothing(Result):
    pass


class Copy(Tool[CopyArgs, Nothing]):
    """Read a file and write another one."""

    name = "trial.copy"
    destructive_with = ("overwrite",)
    promises = SAFE_IDEMPOTENT_WRITE.writes_to(Kind.OBJECT).needs("file_read")
    examples = (Example({}),)

    def check(self, scene: Scene, args: CopyArgs) -> Iterator[Finding]:
        yield from ()

    def apply(self, scene: Scene, args: CopyArgs) -> Nothing:
        return Nothing()

    def verify(self, scene: Scene, args: CopyArgs, result: Nothing) -> Iterator[Finding]:
        yield from ()


TOOL = Copy()


def arguments(**args: Any) -> dict[str, Any]:
    return TOOL.args_model.model_validate(args).model_dump(mode="json")


def normalised(access: FileAccess, **args: Any) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    return access.normalised(TOOL, arguments(**args))
