"""The program dialect: it reads a Starlark program with parameters, which yields an ordinary plan of operations.

The document is {"program": text, "params": {…}}. Blendwright evaluates the program before validation; all later stages
see only the operations. Its results are results of the operations dialect.
"""

from __future__ import annotations

from typing import Any

from blendwright.dialects import operations
from blendwright.dialects.dialect import Dialect, ParsedDocument, Surroundings, checker
from blendwright.util.json_shapes import fields_of
from blendwright.values.plan import Operation, Plan, ProgramSource


def parse_within(document: Any, surroundings: Surroundings | None) -> ParsedDocument:
    """Return the operations that the program yields, or a finding with its line and column."""
    # Only documents with a program need the interpreter.
    from blendwright.programs.program import DEFAULT_NAME, Program, evaluate, no_libraries, program_hash

    fields = fields_of(document)
    request_id = fields.get("request_id")
    findings = tuple(checker("program_plan.v1").findings(document))
    if findings:
        if not isinstance(request_id, str):
            request_id = None
        return ParsedDocument((), findings, request_id)

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
    remarks = None
    if evaluated.printed:
        remarks = {"printed": evaluated.printed}
    return ParsedDocument(evaluated.operations, evaluated.findings, request_id, remarks, source)


def _shipped() -> Surroundings:
    """Return the tools and macros of the package, for programs outside a workspace."""
    from blendwright.macros.loading import package_macros
    from blendwright.tools import catalog

    tools = catalog.tools()
    return Surroundings((*tools, *package_macros()))


def yielded_document(valid: Plan, plan: Plan) -> dict[str, Any]:
    """Return the plan that a program yields as a document of the operations dialect.

    `valid` is the validated plan. It provides the safety levels, which a program does not declare.
    """
    levels: dict[str, str | None] = {}
    for operation in valid.operations:
        if operation.origin is None:
            levels[operation.caller_id] = operation.safety_level
        else:
            levels[operation.caller_id] = operation.origin.safety_level
    items = [_item(operation, levels[operation.id]) for operation in plan.operations]
    return {"request_id": plan.request_id, "operations": items}


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
