"""Whether an operation has run before: the query that is put to the journal, and its answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from blendwright.records.commits import Reading

HistoryPosition = Literal["nowhere", "ancestor", "reading", "before_adopt", "elsewhere", "rolled_back"]


class OperationQuery(NamedTuple):
    """An operation about to run, to be looked up."""

    operation_key: str
    request_id: str
    operation_id: str
    tool: str
    tool_version: int


class MatchedCommit(NamedTuple):
    """A commit, as far as it answers for an operation that is asked for again."""

    number: int
    operation_key: str | None
    operation_id: str
    tool: str
    tool_version: int
    receipt: Mapping[str, Any]
    line: int
    generation: int


class OperationMatch(NamedTuple):
    """What the journal knows of a wanted operation.

    `ancestor`: `commit.receipt` is its answer. `reading`: `reading.receipt` is, for the scene hash that was asked for.
    `before_adopt`: on HEAD's line, but a foreign file was adopted since and may have lost it. `elsewhere`: on another line
    only. `rolled_back`: it was taken back, so it may run again. `clash` is an operation of the same request and operation id
    with other args, tool or tool version (never one that was rolled back). `intent` is an outside effect of this key of which
    nobody knows whether it happened. `earlier` is the latest reading of this key, whatever scene it was taken in.
    """

    where: HistoryPosition
    commit: MatchedCommit | None = None
    reading: Reading | None = None
    clash: MatchedCommit | Reading | None = None
    intent: int | None = None
    earlier: Reading | None = None
