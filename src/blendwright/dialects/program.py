"""The program dialect: a Starlark program and its parameters in; what it yields is an ordinary plan of operations.

The document is {"program": text, "params": {…}}. The program is evaluated before anything is validated; everything behind it knows the
operations only. Its results are those of the operations dialect.
"""

from __future__ import annotations

from typing import Any

from blendwright.dialects import operations
from blendwright.dialects.dialect import Dialect, ParsedDocument, Surroundings, checker
from blendwright.util.json_shapes import fields_of
from blendwright.values.plan import Operation, Plan, ProgramSource


def parse_within(document: Any, surroundings: Surroundings | None) -> ParsedDocument:
    """The operations that the program yields, or a finding with the line and column where it stands."""
    # Only who has a program needs an interpreter for it.
    from blendwright.programs.program import DEFAULT_NAME, Program, evaluate, no_libraries, program_hash

    fields = fields_of(document)
    request_id = fields.get("request_id")
    findings = tuple(checker("program_plan.v1").findings(document))
    if findings:
        return ParsedDocument((), findings, request_id if isinstance(request_id, str) else None)
    program = Program(fields["program"], fields.get("params", {}), fields.get("name", DEFAULT_NAME))
    around = surroundings or _shipped()
    evaluated = evaluate(program, around.tools, around.read_library or no_libraries, go_on=around.go_on)
    source = ProgramSource(
        program.text,
        dict(program.params),
        evaluated.libraries,
        program_hash(program, evaluated.libraries),
        evaluated.printed,
    )
    if evaluated.printed:
        remarks = {"printed": evaluated.printed}
    else:
        remarks = None
    return ParsedDocument(evaluated.operations, evaluated.findings, request_id, remarks, source)


def _shipped() -> Surroundings:
    """What there is without any workspace."""
    from blendwright.macros.loading import package_macros
    from blendwright.tools import catalog

    tools = catalog.tools()
    return Surroundings((*tools, *package_macros()))


def yielded_document(valid: Plan, plan: Plan) -> dict[str, Any]:
    """The plan that a program yields, as the operations dialect has it. `valid` is what validation made of it: from there come the
    safety levels, which no program gives."""
    levels: dict[str, str | None] = {}
    for one in valid.operations:
        if one.origin is None:
            levels[one.caller_id] = one.safety_level
        else:
            levels[one.caller_id] = one.origin.safety_level
    return {"request_id": plan.request_id, "operations": [_item(one, levels[one.id]) for one in plan.operations]}


def _item(operation: Operation, safety_level: str | None) -> dict[str, Any]:
    return {
        "operation_id": operation.id,
        "tool_name": operation.tool,
        "args": dict(operation.args),
        "depends_on": list(operation.depends_on),
        "safety_level": safety_level,
    }


DIALECT = Dialect(
    name="program",
    form="'program' and 'params'",
    recognises=lambda keys: "program" in keys,
    parse_document=lambda document: parse_within(document, None),
    parse_within=parse_within,
    render=operations.render,
    tie_break="id",
    on_failure="stop",
    boundary="plan",
)
