"""What commits did to datablocks, as their receipts say: what blame and merges are told from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

ChangeKind = Literal["created", "changed", "removed"]
# A receipt says what changed; of a call that changed thousands of things it says it of the first.
MOST_CHANGES = 200


class Change(NamedTuple):
    """One datablock, by kind and name. What is linked has the name of its file in it, and `member` is no datablock: it says that
    something is in a collection."""

    kind: str
    name: str
    change: ChangeKind


class CommitChanges(NamedTuple):
    """The changes of one commit. One that is not `complete` touched more than its receipt lists, or a whole scene."""

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
        """Whether it changed anything, as far as is known."""
        return bool(self.changes) or self.kind != "operation" or not self.complete
