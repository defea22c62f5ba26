"""The record of one step: the inverse of each write, and the leaves of the fingerprint that the step may have changed."""

from collections.abc import Callable, Collection
from collections.abc import Set as AbstractSet
from typing import Any

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.state import SceneState

Inverse = Callable[[], None]


class UndoLog:
    """The inverses and touched keys of one step.

    Inverses run in reverse order. They address datablocks by name, since a reference may dangle by then."""

    def __init__(self, state: SceneState) -> None:
        self._state = state
        self._inverses: list[Inverse] = []
        self._before: dict[fp.Key, bytes | None] = {}
        self._members: dict[fp.Key, bool] = {}
        self.created: set[fp.Key] = set()
        self.edited: set[fp.Key] = set()
        # The datablocks that this step created, and those that may have lost a user.
        self.made: list[Any] = []
        self.released: list[Any] = []
        # Keys of datablocks that only the port itself wrote, so that Blender does not drop them on save.
        self._marked: set[fp.Key] = set()

    def inverse(self, undo: Inverse) -> None:
        """Record a function that reverts the last write."""
        self._inverses.append(undo)

    def touch(self, key: fp.Key) -> None:
        """Record that the step may change a leaf, and keep the hash from before the step."""
        if key not in self._before:
            self._before[key] = self._state.leaf_hash(key)

    def mark(self, key: fp.Key) -> None:
        """Record that the port itself is about to write a datablock.

        The write does not count as the tool's, unless the tool touched the datablock before."""
        if key not in self._before:
            self._marked.add(key)

    def create(self, key: fp.Key, block: Any) -> None:
        """Record a new datablock, which the step may then write without further recording."""
        self.touch(key)
        self.created.add(key)
        self.made.append(block)

    def rename(self, old: fp.Key, new: fp.Key) -> None:
        """Transfer the records of a datablock to its new name, so that they do not apply to a later datablock with the old name."""
        for keys in (self.created, self.edited):
            if old in keys:
                keys.remove(old)
                keys.add(new)

    def forget(self, key: fp.Key) -> None:
        """Drop the records of a deleted datablock, so that they do not apply to a later datablock with the same name."""
        self.created.discard(key)
        self.edited.discard(key)

    def is_member(self, key: fp.Key) -> bool:
        """Return True if the membership exists: the object is in the collection.

        Uses the fingerprint and this record, since Blender's own test is linear in the size of the collection."""
        pending = self._members.get(key)
        if pending is None:
            return self._state.leaf_hash(key) is not None
        return pending

    def member(self, key: fp.Key, present: bool) -> None:
        """Record that an object is now in a collection, or no longer in it."""
        self.touch(key)
        self._members[key] = present

    @property
    def clean(self) -> bool:
        """True if the step has written nothing."""
        return not self._inverses and not self._before

    def free(self, key: fp.Key) -> bool:
        """Return True if a datablock may be written without recording: this step created it, or holds its pre-image."""
        return key in self.created or key in self.edited

    def touched(self) -> AbstractSet[fp.Key]:
        return self._before.keys()

    def marked(self, key: fp.Key) -> bool:
        """Return True if only the port itself wrote into a datablock, so that the tool need not declare it."""
        return key in self._marked

    def written(self) -> Collection[fp.Key]:
        """Return the keys that the tool itself touched, without the keys that only the port wrote."""
        if self._marked:
            return self._before.keys() - self._marked
        return self._before.keys()

    def seal(self) -> list[list[str]]:
        """Hash the touched datablocks, update the fingerprint, and return the actual changes."""
        fingerprint = self._state.fingerprint
        after = {key: self._digest(key) for key in self._before}
        for key, digest in after.items():
            if digest is None:
                fingerprint.drop(key)
            else:
                fingerprint.put(key, digest)
        return fp.changes_between(self._before, after)

    def keep(self) -> None:
        """Accept the step and drop its inverses.

        The inverses refer to the port and therefore to this record. Without dropping them, only the garbage collector would free them."""
        self._inverses.clear()

    def revert(self) -> None:
        """Run the inverses and hash the touched datablocks again. The caller then compares the scene hash."""
        while self._inverses:
            self._inverses.pop()()
        self.seal()

    def _digest(self, key: fp.Key) -> bytes | None:
        if key[0] == fp.MEMBERSHIP:
            if self.is_member(key):
                return fp.MEMBER
            return None
        return self._state.read_hash(key)
