"""Single settings of datablocks: written through the port one by one, or at once where all is new, and read back.

Knows nothing of what the settings mean; the tools' own tables say that.
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
    """One property that is to have a value. `at` is the argument that asks for it."""

    target: Block
    attribute: str
    value: Any
    at: str


Settings: TypeAlias = Iterable[Setting]


def write_settings(scene: Scene, settings: Settings, *, owner: Block | None = None) -> bool:
    """Write all of them; True when one of them was not so before. `owner` as in `Scene.set`."""
    changed = False
    for setting in settings:
        before = _plain(getattr(setting.target, setting.attribute))
        scene.set(setting.target, setting.attribute, setting.value, owner=owner)
        changed = changed or before != _plain(getattr(setting.target, setting.attribute))
    return changed


def animation_conflicts(scene: Scene, settings: Settings) -> Findings:
    """Where a value would not last, because keyframes or a driver have the property."""
    for setting in settings:
        holder = setting.target.id_data
        if holder.animation_data is not None:
            try:
                path = setting.target.path_from_id(setting.attribute)
            except ValueError:  # what has no path has no keyframes
                continue
            yield from channel_conflicts(scene, holder, path, setting.at)


def initialize_settings(settings: Settings) -> None:
    """Write all of them to datablocks that are new, of which nobody has to keep what was before."""
    for setting in settings:
        setattr(setting.target, setting.attribute, setting.value)


def settings_differ(settings: Settings) -> Findings:
    """Where what Blender holds is not what was asked for."""
    for setting in settings:
        label = f"its {setting.attribute.replace('_', ' ')}"
        yield from differs(label, setting.value, _plain(getattr(setting.target, setting.attribute)), setting.at)


def _plain(value: Any) -> Any:
    """A value that stays what it is when the property changes: Blender's arrays are views."""
    if isinstance(value, str) or not hasattr(value, "__len__"):
        return value
    return tuple(cast("Iterable[Any]", value))


# ---------------------------------------------------------------------- families of tools that set settings


class ObjectChanged(Result):
    """An object that a tool changed."""

    object: str = Field(description="Name of the object.")
    changed: bool = Field(description="False when everything was as asked already.")


class SceneChanged(Result):
    """A scene whose settings a tool changed."""

    scene: str = Field(description="Name of the scene.")
    changed: bool = Field(description="False when everything was as asked already.")


class SetsSettings(Tool[A, R], Generic[A, R], family=True):
    """Gives settings of something that is there the values that were asked for; what is left out stays as it is.

    Refused where keyframes or drivers would overwrite a value; every value is read back."""

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        """For `check`: what the settings belong to; findings and None when there is no such thing."""
        raise NotImplementedError

    def target(self, scene: Scene, args: A) -> Block:
        """For `apply` and `verify`: what the settings belong to."""
        raise NotImplementedError

    def settings(self, scene: Scene, args: A, target: Any) -> Settings:
        """The settings that the arguments ask for."""
        raise NotImplementedError

    def problems(self, scene: Scene, args: A, target: Any) -> Findings:
        """What else speaks against these arguments for this target."""
        return ()

    def result(self, scene: Scene, args: A, target: Any, changed: bool) -> R:
        """The answer, after all was written."""
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
    """Sets settings of an object or of its data. `object` is its argument, of one of `object_types`; of any type where none is stated."""

    object_types: ClassVar[tuple[str, ...]] = ()

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        return (yield from existing_object(scene, cast("Any", args).object, "/object", *self.object_types))

    def target(self, scene: Scene, args: A) -> Block:
        return required_object(scene, cast("Any", args).object, "/object")

    def result(self, scene: Scene, args: A, target: Block, changed: bool) -> R:
        return cast("R", ObjectChanged(object=target.name, changed=changed))


class SetsSceneSettings(SetsSettings[A, SceneChanged], Generic[A], family=True):
    """Sets settings of the scene."""

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        yield from ()
        return scene.active

    def target(self, scene: Scene, args: A) -> Block:
        return scene.active

    def result(self, scene: Scene, args: A, target: Block, changed: bool) -> SceneChanged:
        return SceneChanged(scene=target.name, changed=changed)
