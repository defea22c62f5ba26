"""Families of tools: the `check`, `apply` and `verify` that tools of one sort share. A tool fills in what is its own.

`Reads` answers a question. `SetsSettings` gives settings of something that is there new values (`SetsObjectSettings` of an
object or its data, `SetsSceneSettings` of the scene). `CreatesObject` adds an object with its data. `Deletes` removes datablocks.
A family declares no promise: each tool states its own.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any, ClassVar, Generic, TypeVar, cast

from blendwright.tool_api.arguments import Args, Result
from blendwright.tool_api.effects import Kind
from blendwright.tool_api.scene import Block, Scene
from blendwright.tool_api.tool import Tool
from blendwright.tools.object_placement import ObjectPlacement, create_object, name_conflicts, placement_differs
from blendwright.tools.readback import differs
from blendwright.tools.results import ObjectChanged, ObjectMade, Removed, SceneChanged
from blendwright.tools.settings import (
    Setting,
    animation_conflicts,
    initialize_settings,
    settings_differ,
    write_settings,
)
from blendwright.tools.targets import existing_object, missing_target_collection, required_object
from blendwright.values.findings import Finding

A = TypeVar("A", bound=Args)
R = TypeVar("R", bound=Result)
P = TypeVar("P", bound=ObjectPlacement)
D = TypeVar("D", bound=Removed)


class Reads(Tool[A, R], Generic[A, R], family=True):
    """Answers a question about the scene. A tool defines `apply`, and `check` where something can be wrong."""

    def check(self, scene: Scene, args: A) -> Iterable[Finding]:
        return ()

    def verify(self, scene: Scene, args: A, result: R) -> Iterable[Finding]:
        return ()


# ---------------------------------------------------------------------- settings


class SetsSettings(Tool[A, R], Generic[A, R], family=True):
    """Gives settings of something that is there the values that were asked for; what is left out stays as it is.

    Refused where keyframes or drivers would overwrite a value; every value is read back."""

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        """For `check`: what the settings belong to; findings and None when there is no such thing."""
        raise NotImplementedError

    def target(self, scene: Scene, args: A) -> Block:
        """For `apply` and `verify`: what the settings belong to."""
        raise NotImplementedError

    def settings(self, scene: Scene, args: A, target: Any) -> Iterable[Setting]:
        """The settings that the arguments ask for."""
        raise NotImplementedError

    def problems(self, scene: Scene, args: A, target: Any) -> Iterable[Finding]:
        """What else speaks against these arguments for this target."""
        return ()

    def result(self, scene: Scene, args: A, target: Any, changed: bool) -> R:
        """The answer, after all was written."""
        raise NotImplementedError

    def check(self, scene: Scene, args: A) -> Iterator[Finding]:
        target = yield from self.find_target(scene, args)
        if target is None:
            return
        problems = list(self.problems(scene, args, target))
        yield from problems or animation_conflicts(scene, self.settings(scene, args, target))

    def apply(self, scene: Scene, args: A) -> R:
        target = self.target(scene, args)
        changed = write_settings(scene, self.settings(scene, args, target))
        return self.result(scene, args, target, changed)

    def verify(self, scene: Scene, args: A, result: R) -> Iterator[Finding]:
        yield from settings_differ(self.settings(scene, args, self.target(scene, args)))


class SetsObjectSettings(SetsSettings[A, R], Generic[A, R], family=True):
    """Sets settings of an object or of its data. The object is of one of `object_types`; of any type where none is stated."""

    object_types: ClassVar[tuple[str, ...]] = ()
    object_argument: ClassVar[str] = "name"

    def find_target(self, scene: Scene, args: A) -> Generator[Finding, None, Block | None]:
        name = getattr(args, self.object_argument)
        return (yield from existing_object(scene, name, f"/{self.object_argument}", *self.object_types))

    def target(self, scene: Scene, args: A) -> Block:
        return required_object(scene, getattr(args, self.object_argument), f"/{self.object_argument}")

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


# ---------------------------------------------------------------------- creation


class CreatesObject(Tool[P, ObjectMade], Generic[P], family=True):
    """Adds an object of one type, with data of its own, at its place and in its collection.

    An object that is just so already is left alone; another one of that name is refused, with all that is different about it."""

    object_type: ClassVar[str]
    data_kind: ClassVar[Kind | None]
    """The kind of its data; None for an object without any."""

    def problems(self, scene: Scene, args: P) -> Iterable[Finding]:
        """What speaks against the arguments, besides a name that is in use and a collection that is missing."""
        return ()

    def new_data(self, scene: Scene, args: P) -> Block | None:
        """New data for the object, still empty."""
        return None if self.data_kind is None else scene.create(self.data_kind, args.name)

    def settings(self, scene: Scene, args: P, target: Block) -> Iterable[Setting]:
        """The settings of the data; of the object itself where it has no data."""
        return ()

    def build(self, scene: Scene, args: P, data: Block) -> None:
        """Fill new data with what is more than settings: geometry, points."""

    def differences(self, scene: Scene, args: P, data: Block) -> Iterable[Finding]:
        """How data differs from what `build` makes."""
        return ()

    def check(self, scene: Scene, args: P) -> Iterator[Finding]:
        problems = list(self.problems(scene, args))
        yield from problems
        missing = missing_target_collection(scene, args.collection)
        yield from missing
        # What cannot be asked for cannot be compared either.
        comparable = not problems and not missing
        yield from name_conflicts(
            scene, args, self.data_kind, lambda obj: self._all_differences(scene, args, obj) if comparable else ()
        )

    def apply(self, scene: Scene, args: P) -> ObjectMade:
        existing = scene.find(Kind.OBJECT, args.name)
        if existing is None:
            data = self.new_data(scene, args)
            if data is not None:
                initialize_settings(self.settings(scene, args, data))
                self.build(scene, args, data)
            obj = create_object(scene, args, data)
            if data is None:
                initialize_settings(self.settings(scene, args, obj))
        else:
            data = None if self.data_kind is None else existing.data
        return ObjectMade(object=args.name, data=None if data is None else data.name, created=existing is None)

    def verify(self, scene: Scene, args: P, result: ObjectMade) -> Iterator[Finding]:
        yield from self._all_differences(scene, args, required_object(scene, args.name))

    def _all_differences(self, scene: Scene, args: P, obj: Block) -> Iterator[Finding]:
        if obj.type != self.object_type:
            yield from differs("its type", self.object_type, obj.type, "/name")
            return
        yield from settings_differ(self.settings(scene, args, obj if self.data_kind is None else obj.data))
        if self.data_kind is not None:
            yield from self.differences(scene, args, obj.data)
        yield from placement_differs(scene, args, obj)


# ---------------------------------------------------------------------- deletion


class Deletes(Tool[A, D], Generic[A, D], family=True):
    """Deletes datablocks. The result names them in `removed`, as kind/name, and none of them may be there afterwards."""

    def verify(self, scene: Scene, args: A, result: D) -> Iterator[Finding]:
        for entry in result.removed:
            kind, name = entry.split("/", 1)
            yield from differs(f"the presence of '{name}'", False, scene.find(Kind(kind), name) is not None, "/name")
