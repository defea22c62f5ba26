"""Tools as one line each: what a model reads before it calls one, and what it finds by searching for several at once."""

from __future__ import annotations

import re
from typing import Any

import pytest

from blendwright.server.answers.tool_page import without_description
from blendwright.server.answers.tool_signatures import MAX_SIGNATURE_CHARACTERS, tool_signature
from blendwright.server.context import ServerContext
from blendwright.server.instructions import MOST_USED
from blendwright.tools.catalog import tools
from support.hosts import mcp as hosts
from support.hosts.mcp import Era
from support.suite.in_one_test import in_one_test

ERA: Era = "2026-07-28"
PLACE = {"location", "rotation_euler_deg", "scale", "parent", "collection"}


def call(context: ServerContext, tool: str, **args: Any) -> Any:
    return hosts.call(context, ERA, tool, args)


def size(answer: Any) -> int:
    return len(answer.content[0].text.encode())


@in_one_test({name: name for name in tools()})
def test_a_signature_names_what_is_required_first_and_is_short(name: str) -> None:
    tool = tools()[name]
    schema = tool.args_schema()
    line = tool_signature(tool)
    assert line.startswith(f"{name}(") and line.endswith(")") and len(line) <= MAX_SIGNATURE_CHARACTERS
    places = [re.search(rf"[(,] ?{one}[:,)]", line) for one in schema.get("required", ())]
    assert None not in places
    optional = [one for one in schema["properties"] if one not in schema.get("required", ())]
    assert [one for one in optional if f"{one}=" not in line] == [] or line.endswith(", …)")


def test_signatures_have_choices_defaults_and_types() -> None:
    assert tool_signature(tools()["camera.look_at"]) == (
        "camera.look_at(object, target=text, aim=ORIGIN|CENTER, point=[3], roll_deg=0)"
    )
    assert tool_signature(tools()["mesh.shade"]) == "mesh.shade(object, shading: smooth|flat)"
    decimate = tool_signature(tools()["modifier.add"], "DECIMATE")
    assert "settings: {type: DECIMATE, " in decimate and "ratio=number" in decimate


def test_the_most_used_calls_are_those_of_the_catalogue() -> None:
    calls = re.findall(r"\b([a-z]+\.[a-z_]+)\(((?:[^()])*)\)", MOST_USED)
    assert len(calls) >= 16
    for name, arguments in calls:
        schema = tools()[name].args_schema()
        if "@" in arguments:
            assert set(schema["properties"]) >= PLACE, name
        words = re.sub(r"\{.*?\}|\[.*?\]|: [A-Za-z_|…]+|=[\w|.]+|@|of a cube", " ", arguments)
        given = set(re.findall(r"[a-z_]+", words)) - {"or"}
        assert given <= set(schema["properties"]), name
        assert given >= set(schema.get("required", ())), name
        flat = re.sub(r"\{.*?\}", "", arguments)
        for argument, choices in re.findall(r"(\w+): ([A-Za-z_]+(?:\|[A-Za-z_]+)+)[,)]", f"{flat})"):
            assert schema["properties"][argument].get("enum") == choices.split("|"), name


def test_several_tools_are_described_in_a_line_each(context: ServerContext) -> None:
    names = [
        "mesh.create_primitive", "material.ensure_principled", "light.create", "camera.create", "camera.frame_objects",
        "camera.set_active", "object.create_empty",
    ]  # fmt: skip
    answer = call(context, "tool_describe", names=names)
    lines = answer.structured_content["result"]["tools"]
    assert [line["call"].partition("(")[0] for line in lines] == names
    assert all(line["summary"] for line in lines)
    pages = call(context, "tool_describe", names=names, detail="page")
    assert size(answer) < 2700 < size(pages)


def test_a_list_is_searched_part_by_part(context: ServerContext) -> None:
    found = call(context, "tool_search", query="camera, sun light; sculpt clay\nsun light,").structured_content[
        "result"
    ]
    asked = {answer["query"]: answer for answer in found["answers"]}
    assert list(asked) == ["camera", "sun light", "sculpt clay"]
    assert asked["camera"]["matches"][0]["call"].startswith("camera.")
    assert asked["sun light"]["matches"][0]["name"] == "light.create"
    assert "POINT|SUN|SPOT|AREA" in asked["sun light"]["matches"][0]["call"]
    assert "No tool" in asked["sculpt clay"]["message"] and "Python can" in asked["sculpt clay"]["message"]
    alone = call(context, "tool_search", query="sun light").structured_content["result"]["matches"]
    assert alone[0]["name"] == "light.create" and all("call" in match for match in alone[:3])


def test_what_a_part_has_told_is_only_named_by_the_next(context: ServerContext) -> None:
    found = call(context, "tool_search", query="sun light, spot light").structured_content["result"]["answers"]
    first, second = ({match["name"]: match for match in answer["matches"]} for answer in found)
    assert "call" in first["light.create"] and second["light.create"] == {"name": "light.create"}


def test_direct_tools_say_that_an_argument_has_another_name_now(context: ServerContext) -> None:
    assert not call(context, "plan_execute", program="object.create_empty(name='Noted')").is_error
    for arguments, notes in (({"name": "Noted"}, 1), ({"object": "Noted"}, 0)):
        answer = hosts.call(context, ERA, "object_inspect", arguments, direct=True)
        assert not answer.is_error
        told = answer.structured_content["details"].get("notes", [])
        assert told == ["object.inspect: 'name' is now called 'object'; the former name still works"] * notes


@pytest.mark.parametrize(
    ("line", "kept"),
    [
        ("string: The name.", "string"),
        (
            "list of {channel: location|scale, frame: number}: One for each key.",
            "list of {channel: location|scale, frame: number}",
        ),
        ("[number] x 3 = [0,0,0]: In metres.", "[number] x 3 = [0,0,0]"),
        ("boolean", "boolean"),
    ],
)
def test_a_type_stays_whole_where_its_description_gives_way(line: str, kept: str) -> None:
    assert without_description(line) == kept


def test_what_only_a_person_may_allow_says_so_where_it_is_called(context: ServerContext) -> None:
    described = call(context, "tool_describe", names=["object.join", "object.transform"]).structured_content["result"]
    join, transform = (tool["call"] for tool in described["tools"])
    assert join.endswith("(destructive: needs approval, unless the policy allows it)") and "approval" not in transform
