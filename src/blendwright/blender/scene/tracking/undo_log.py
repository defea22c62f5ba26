"""The record of one step: how to take each write back, and which leaves of the fingerprint it may have moved."""

from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import SceneState

Inverse = Callable[[], None]


class UndoLog:
    """Inverses run last first; they address datablocks by name, since a reference may dangle by then."""

    def __init__(self, state: SceneState) -> None:
        self._state = state
        self._inverses: list[Inverse] = []
        self._before: dict[fp.Key, bytes | None] = {}
        self._members: dict[fp.Key, bool] = {}
        self.created: set[fp.Key] = set()
        self.edited: set[fp.Key] = set()
        # What this step made, and what may have lost a user in it.
        self.made: list[Any] = []
        self.released: list[Any] = []
        # What only the port itself wrote, to keep it from being dropped on save.
        self._marked: set[fp.Key] = set()

    def inverse(self, undo: Inverse) -> None:
        self._inverses.append(undo)

    def touch(self, key: fp.Key) -> None:
        if key not in self._before:
            self._before[key] = self._state.leaf_hash(key)

    def mark(self, key: fp.Key) -> None:
        """The port is about to write into a datablock for its own reasons; none of the tool's unless it is touched already."""
        if key not in self._before:
            self._marked.add(key)

    def create(self, key: fp.Key, block: Any) -> None:
        self.touch(key)
        self.created.add(key)
        self.made.append(block)

    def rename(self, old: fp.Key, new: fp.Key) -> None:
        """What holds for a datablock holds under its new name, and no longer for whoever comes to have the old one."""
        for keys in (self.created, self.edited):
            if old in keys:
                keys.remove(old)
                keys.add(new)

    def forget(self, key: fp.Key) -> None:
        """A datablock is gone; another one of its name is another one."""
        self.created.discard(key)
        self.edited.discard(key)

    def is_member(self, key: fp.Key) -> bool:
        """Whether an object is in a collection, from the fingerprint: asking Blender is linear in the collection's size."""
        pending = self._members.get(key)
        if pending is None:
            return self._state.leaf_hash(key) is not None
        return pending

    def member(self, key: fp.Key, present: bool) -> None:
        self.touch(key)
        self._members[key] = present

    @property
    def clean(self) -> bool:
        return not self._inverses and not self._before

    def free(self, key: fp.Key) -> bool:
        """Whether a datablock may be written without recording: it is new in this step, or its pre-image is stored."""
        return key in self.created or key in self.edited

    def touched(self) -> AbstractSet[fp.Key]:
        return self._before.keys()

    def marked(self, key: fp.Key) -> bool:
        """Whether nothing but the port's own mark was written into a datablock: it is no part of what a tool declares."""
        return key in self._marked

    def written(self) -> Collection[fp.Key]:
        """What the tool itself touched."""
        if self._marked:
            return self._before.keys() - self._marked
        return self._before.keys()

    def seal(self) -> list[list[str]]:
        """Hash what was touched; returns what really changed."""
        fingerprint = self._state.fingerprint
        after = {key: self._digest(key) for key in self._before}
        for key, digest in after.items():
            if digest is None:
                fingerprint.drop(key)
            else:
                fingerprint.put(key, digest)
        return fp.changes_between(self._before, after)

    def keep(self) -> None:
        """The step stands. Its inverses refer to the port and so to this record: nothing would free them but the collector."""
        self._inverses.clear()

    def revert(self) -> None:
        """Run the inverses and hash what was touched again; the caller compares the root."""
        while self._inverses:
            self._inverses.pop()()
        self.seal()

    def _digest(self, key: fp.Key) -> bytes | None:
        if key[0] == fp.MEMBERSHIP:
            if self.is_member(key):
                return fp.MEMBER
            return None
        return self._state.read_hash(key)
