"""What plan tools are given: a plan, or a program and its parameters."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, model_validator

from blendwright.app.programs import program_surroundings
from blendwright.dialects.registry import parse_plan
from blendwright.server.context import ServerContext
from blendwright.tool_api.arguments import Args
from blendwright.values.plan import Plan

PLAN = (
    "The plan: {request_id, operations:[{operation_id, tool_name, args, depends_on, safety_level}]}, or a steps plan."
)
PROGRAM = (
    "Instead of a plan: Starlark (Python-like) that yields one. Tools by name, arguments by name: "
    'leg = mesh.create_primitive(kind="cube", name="Leg_%d" % i, …); pass leg where a name is wanted. '
    "Loops, functions; math, vec, random(seed), param(name, default), print."
)


class PlanOrProgram(Args):
    plan: dict[str, Any] | None = Field(default=None, description=PLAN)
    program: str | None = Field(default=None, description=PROGRAM)
    params: dict[str, Any] = Field(default_factory=dict[str, Any], description="Values of the program's parameters.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if (self.plan is None) == (self.program is None):
            raise ValueError("give either a plan or a program")
        if self.plan is not None and self.params:
            raise ValueError("only a program has params")
        return self

    @property
    def document(self) -> dict[str, Any]:
        if self.plan is not None:
            return self.plan
        return {"program": self.program, "params": self.params}


def read_program(document: dict[str, Any], context: ServerContext, **options: Any) -> Plan:
    """The plan that a program yields, with the tools, macros and roots of the workspace around it."""
    around = program_surroundings(context.workspace, roots=context.roots)
    return parse_plan(document, is_json=True, surroundings=around, **options)
