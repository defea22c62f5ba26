"""blendwright tools: the catalogue and its pages, without any Blender."""

from __future__ import annotations

import pytest

from blendwright.tools import catalog
from support.processes.shell import Shell


def test_the_list_names_every_tool_with_its_fingerprint(shell: Shell) -> None:
    listed = shell("tools", "--json", code=0).document
    assert [tool["name"] for tool in listed["tools"]] == sorted(catalog.tools())
    assert all(tool["summary"] for tool in listed["tools"])
    assert len(listed["fingerprint"]) == 64
    spoken = shell("tools", code=0).out
    assert all(name in spoken for name in catalog.tools())


def test_the_beginning_of_a_name_lists_those_that_begin_so(shell: Shell) -> None:
    names = [tool["name"] for tool in shell("tools", "mesh.", "--json", code=0).document["tools"]]
    assert names and all(name.startswith("mesh.") for name in names)


def test_a_page_is_the_declaration(shell: Shell) -> None:
    page = shell("tools", "mesh.create_primitive", "--json", code=0).document
    assert page["name"] == "mesh.create_primitive"
    assert page["args_schema"]["additionalProperties"] is False
    assert "cube" in page["args_schema"]["properties"]["kind"]["enum"]
    assert {"safety_level", "determinism", "idempotence", "revert", "replayable", "examples"} <= set(page)


def test_a_page_for_people_has_arguments_promises_and_an_example_to_type(shell: Shell) -> None:
    spoken = shell("tools", "mesh.create_primitive", code=0).out
    for part in ("kind", "required", "safe_write", "deterministic", "blendwright call mesh.create_primitive --args '{"):
        assert part in spoken


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["people", "machines"])
def test_an_unknown_tool_is_refused_with_the_one_that_was_meant(shell: Shell, options: list[str]) -> None:
    ran = shell("tools", "mesh.create_primitve", *options, code=2)
    said = ran.document["error"]["cure"] if options else ran.err
    assert "Did you mean 'mesh.create_primitive'" in said


def test_help_is_no_error(shell: Shell) -> None:
    spoken = shell("--help", code=0).out
    assert all(command in spoken for command in ("call", "tools", "snapshot", "doctor"))
