"""The definition of a batch: a program or plan, the outputs of every case, and what happens to the workspaces. It contains no rows."""

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
    """The description of an output that every case has: a kind of `makers.py`, the name of its file, and the arguments of its maker."""

    kind: str
    name: str
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "name": self.name, "args": dict(self.args)}


@dataclass(frozen=True, slots=True)
class Batch:
    """The definition of a batch.

    `registry` is the fingerprint of the tools and `blender_version` the version of Blender; both are part of the cases' keys. `blender`
    is the user's choice of a Blender and not binding for other readers of the definition. `approve` are the grants that every case has,
    because Blendwright cannot ask a user during the run."""

    source: BatchSource
    outputs: tuple[Output, ...]
    registry: str
    blender_version: str
    keep: Keep = "drop"
    blender: str | None = None
    approve: tuple[str, ...] = ()
    case_seconds: float | None = None
    """The time limit of one case's plan. None stands for the limit of the contract."""

    @property
    def identity(self) -> dict[str, Any]:
        """Return everything besides the parameters that determines the key of a case."""
        return {
            "program": self.source.hash,
            "registry": self.registry,
            "blender": self.blender_version,
            "outputs": [output.to_json() for output in self.outputs],
        }

    @property
    def id(self) -> str:
        """Return the id of this definition, which does not depend on the rows."""
        return hashlib.sha256(rfc8785.dumps(cast("Any", self.to_json()))).hexdigest()[:32]

    @property
    def request_id(self) -> str:
        """Return the request id that all cases share. Each case has a separate journal.

        A case that starts from the checkpoint of another case therefore finds the finished operations under its operation keys."""
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
