"""Results that the tools of placing share."""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import Result


class Moved(Result):
    """Objects that a tool has put in place."""

    objects: list[str] = Field(description="Names of all objects, in their order.")
    moved: list[str] = Field(description="Names of those that were not there already.")
