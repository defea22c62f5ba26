"""Results that several tools share."""

from __future__ import annotations

from pydantic import Field

from blendwright.tool_api.arguments import Result


class ObjectMade(Result):
    """An object that a tool created, or found just as it should be."""

    object: str = Field(description="Name of the object.")
    data: str | None = Field(default=None, description="Name of the object's data, when it has any.")
    created: bool = Field(description="False when an equal object was there already and nothing was written.")


class ObjectChanged(Result):
    """An object that a tool changed."""

    object: str = Field(description="Name of the object.")
    changed: bool = Field(description="False when everything was as asked already.")


class Removed(Result):
    """What a tool deleted."""

    removed: list[str] = Field(description="Names of the deleted datablocks, as kind/name.")


class ObjectRenamed(Result):
    """An object that a tool gave another name."""

    object: str = Field(description="Name of the object now.")
    data: str | None = Field(description="Name of its data now, when it has any of its own.")
    changed: bool = Field(description="False when everything was named as asked already.")


class SceneChanged(Result):
    """A scene whose settings a tool changed."""

    scene: str = Field(description="Name of the scene.")
    changed: bool = Field(description="False when everything was as asked already.")
