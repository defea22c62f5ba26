"""What is no plan gets the failure of the dialect that was asked for, or of operations, in the codes of the envelope."""

from __future__ import annotations

from typing import Any

import pytest

from blendwright.dialects.dialect import proven
from blendwright.server.context import ServerContext
from cli.test_refused_documents import NO_PLANS, SCHEMAS, code_of
from support.hosts import mcp as hosts


@pytest.mark.proves("OPS-FAIL-01")
@pytest.mark.parametrize("envelope", ["tool_result", "core"])
@pytest.mark.parametrize("tool", ["plan_validate", "plan_preview", "plan_execute", "geonodes_execute"])
def test_what_is_no_plan_gets_the_failure_of_its_dialect_over_mcp(
    context: ServerContext, tool: str, envelope: Any
) -> None:
    dialect = "geonodes" if tool == "geonodes_execute" else "operations"
    for text in NO_PLANS.values():
        answer = hosts.call(context, "2026-07-28", tool, {"plan": text.decode()}, envelope=envelope)
        said = answer.structured_content
        assert answer.is_error
        if envelope == "core":
            assert said["error"]["code"] == "invalid_arguments"
            result = said["error"]["details"]["result"]
        else:
            assert said["error_code"] == "invalid_input"
            result = said["result"]
        assert result["dialect"] == dialect and code_of(result["result"]) in ("SCHEMA_INVALID", "ARGS_INVALID")
        proven(SCHEMAS[dialect], result["result"])
