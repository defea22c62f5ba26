"""Single settings of datablocks: writing them through the scene port or directly into new datablocks, and comparing
them.

This module does not know what the settings mean; each tool has its own table for that.
"""

from collections.abc import Generator, Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar, cast

from pydantic import Field

from blendwright.tool_api import Args, Block, Findings, Result, Scene, Tool
from blendwright.tools.animation_data import channel_conflicts
from blendwright.tools.checks import differs, existing_object, required_object
from blendwright.values.findings import Finding

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Result)


@dataclass(frozen=True, slots=True)
class Setting:
    """A property and the value it should have. `at` is the JSON pointer of the argument that requests it."""

    target: Block
    attribute: str
    value: Any
    at: str


Settings: TypeAlias = Iterable[Setting]


def write_settings(scene: Scene, settings: Settings, *, owner: Block | None = None) -> bool:
    """Write all settings. Return True if this changed a value. For `owner`, see `Scene.set`."""
    changed = False
    for setting in settings:
        before = _plain(getattr(setting.target, setting.attribute))
        scene.set(setting.target, setting.attribute, setting.value, owner=owner)
        changed = changed or before != _plain(getattr(setting.target, setting.attribute))
    return changed


def animation_conflicts(scene: Scene, settings: Settings) -> Findings:
    """Yield findings for settings that keyframes or drivers would overwrite."""
    for setting in settings:
        holder = setting.target.id_data
        if holder.animation_data is not None:
            try:
                path = setting.target.path_from_id(setting.attribute)
            except ValueError:  # a property without a path cannot have keyframes
                continue
            yield from channel_conflicts(scene, holder, path, setting.at)


def initialize_settings(settings: Settings) -> None:
    """Write all settings to new datablocks, directly and without recording previous values."""
    for setting in settings:
        setattr(setting.target, setting.attribute, setting.value)


def settings_differ(settings: Settings) -> Findings:
    """Yield findings where Blender's value differs from the requested one."""
    for setting in settings:
        label = f"its {setting.attribute.replace('_', ' ')}"
        yield from differs(label, setting.value, _plain(getattr(setting.target, setting.attribute)), setting.at)


def _plain(value: Any) -> Any:
    """Return a copy that does not change with the property: Blender's arrays are views."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value
    return tuple(cast("Iterable[Any]", value))


# ---------------------------------------------------------------------- families of tools that set settings


class ObjectChanged(Result):
    """The object that a tool changed."""

    object: str = Field(description="Name of the object.")
    changed: bool = Field(description="False if all values were already as requested.")


class SceneChanged(Result):
    """The scene whose settings a tool changed."""

    scene: str = Field(description="Name of the scene.")
    changed: bool = Field(description="False if all values were already as requested.")


class SetsSettings(Tool[A, R], Generic[A, R], family=True):
    """Change settings of an existing target to the requested values; settings that are left out stay unchanged.

    The call is refused if keyframes or drivers would overwrite a value. `verify` reads every value back.
    """

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        """Return the owner of the settings, or yield findings and return None if it is missing. For use in `check`."""
        raise NotImplementedError

    def target(self, scene: Scene, args: A) -> Block:
        """Return the owner of the settings. For use in `apply` and `verify`."""
        raise NotImplementedError

    def settings(self, scene: Scene, args: A, target: Any) -> Settings:
        """Return the settings that the arguments request."""
        raise NotImplementedError

    def problems(self, scene: Scene, args: A, target: Any) -> Findings:
        """Yield further findings about these arguments for this target."""
        return ()

    def result(self, scene: Scene, args: A, target: Any, changed: bool) -> R:
        """Return the result of the call, after all settings were written."""
        raise NotImplementedError

    def check(self, scene: Scene, args: A) -> Findings:
        target = yield from self.find_target(scene, args)
        if target is None:
            return
        problems = list(self.problems(scene, args, target))
        yield from problems or animation_conflicts(scene, self.settings(scene, args, target))

    def apply(self, scene: Scene, args: A) -> R:
        target = self.target(scene, args)
        changed = write_settings(scene, self.settings(scene, args, target))
        return self.result(scene, args, target, changed)

    def verify(self, scene: Scene, args: A, result: R) -> Findings:
        yield from settings_differ(self.settings(scene, args, self.target(scene, args)))


class SetsObjectSettings(SetsSettings[A, R], Generic[A, R], family=True):
    """Change settings of an object or of its data.

    The tool has an argument `object`, which names an object of one of `object_types`, or of any type if that is empty.
    """

    object_types: ClassVar[tuple[str, ...]] = ()

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        return (yield from existing_object(scene, cast("Any", args).object, "/object", *self.object_types))

    def target(self, scene: Scene, args: A) -> Block:
        return required_object(scene, cast("Any", args).object, "/object")

    def result(self, scene: Scene, args: A, target: Block, changed: bool) -> R:
        return cast("R", ObjectChanged(object=target.name, changed=changed))


class SetsSceneSettings(SetsSettings[A, SceneChanged], Generic[A], family=True):
    """Change settings of the scene."""

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        yield from ()
        return scene.active

    def target(self, scene: Scene, args: A) -> Block:
        return scene.active

    def result(self, scene: Scene, args: A, target: Block, changed: bool) -> SceneChanged:
        return SceneChanged(scene=target.name, changed=changed)
