"""What a batch is: a program or plan, what is wanted of every case, and what becomes of the workspaces. The rows are not part of it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self, cast, get_args

import rfc8785

from blendwright.batch.cases.case import Case, case_key

Keep = Literal["keep", "compact", "drop"]
KEEPS: tuple[str, ...] = get_args(Keep)


@dataclass(frozen=True, slots=True)
class BatchSource:
    """The text that every case runs: a Starlark program with the libraries that it loads, or the JSON of a plan."""

    name: str
    text: str
    libraries: Mapping[str, str] = field(default_factory=dict[str, str])
    is_program: bool = True

    @property
    def hash(self) -> str:
        content = [self.is_program, self.text, dict(self.libraries)]
        return hashlib.sha256(rfc8785.dumps(cast("Any", content))).hexdigest()


@dataclass(frozen=True, slots=True)
class Output:
    """One thing that is made of every case: a kind of `making.py`, the name of its file, and arguments for whatever makes it."""

    kind: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "args": dict(self.args)}


@dataclass(frozen=True, slots=True)
class Batch:
    """`registry` is the fingerprint of the tools and `blender_version` the Blender that cases are keyed with; `blender` is what the
    user named to get it, which decides nothing by itself: definitions are passed on. `approve` are the grants that every case has
    beforehand: nobody can be asked."""

    source: BatchSource
    outputs: tuple[Output, ...]
    registry: str
    blender_version: str
    keep: Keep = "drop"
    blender: str | None = None
    approve: tuple[str, ...] = ()
    case_seconds: float | None = None
    """The deadline of the plan of one case; that of the contract otherwise."""

    @property
    def identity(self) -> dict[str, Any]:
        """What decides the key of every case, beside its parameters."""
        return {
            "program": self.source.hash,
            "registry": self.registry,
            "blender": self.blender_version,
            "outputs": [output.to_json() for output in self.outputs],
        }

    @property
    def id(self) -> str:
        """The same for the same definition, whatever rows it is given."""
        return hashlib.sha256(rfc8785.dumps(cast("Any", self.to_json()))).hexdigest()[:32]

    @property
    def request_id(self) -> str:
        """The same in all cases, each of which has a journal of its own: so a case that starts from the checkpoint of others finds
        there, under its own operation keys, what they have done."""
        return f"batch-{self.source.hash[:32]}"

    def case(self, number: int, params: Mapping[str, Any], source: str = "") -> Case:
        return Case(number, case_key(self.identity, params), params, source)

    def to_json(self) -> dict[str, Any]:
        return {
            "source": {
                "name": self.source.name,
                "text": self.source.text,
                "libraries": dict(self.source.libraries),
                "is_program": self.source.is_program,
            },
            "outputs": [output.to_json() for output in self.outputs],
            "registry": self.registry,
            "blender_version": self.blender_version,
            "keep": self.keep,
            "blender": self.blender,
            "approve": list(self.approve),
            "case_seconds": self.case_seconds,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        return cls(
            BatchSource(**data["source"]),
            tuple(Output(**output) for output in data["outputs"]),
            data["registry"],
            data["blender_version"],
            data["keep"],
            data["blender"],
            tuple(data["approve"]),
            data["case_seconds"],
        )
