"""Changes of datablocks by commits, as their receipts list them. Blame and merge use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

ChangeKind = Literal["created", "changed", "removed"]
# Changes that one receipt lists. A call with more changes lists the first ones.
MOST_CHANGES = 200


class Change(NamedTuple):
    """The change of one datablock, by kind and name.

    The name of a linked datablock includes its file. The kind `member` is not a datablock: it says that something
    is in a collection.
    """

    kind: str
    name: str
    change: ChangeKind


class CommitChanges(NamedTuple):
    """The changes of one commit. If it is not `complete`, it changed more than its receipt lists, or a whole
    scene.
    """

    number: int
    kind: str
    tool: str
    tool_version: int
    args: Mapping[str, Any]
    request_id: str
    operation_id: str
    replayable: bool
    changes: tuple[Change, ...]
    complete: bool

    @property
    def touches(self) -> bool:
        """True if the commit may have changed something."""
        return bool(self.changes) or self.kind != "operation" or not self.complete
