"""The catalogue as a whole: what every declaration has to keep to, without running a tool."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import blendwright.tools
from blendwright.tool_api.promises import CAPABILITIES
from blendwright.tool_api.tool import AnyTool
from blendwright.tools.catalog import tool_classes
from support.suite.in_one_test import in_one_test

ROOT = Path(__file__).parents[2]
TOOLS = Path(blendwright.tools.__path__[0])
# Hosts cut longer names, and put the server's name in front.
LONGEST = 63
PREFIX = "blendwright__"
COMBINATORS = {"anyOf", "oneOf", "allOf", "not", "$ref", "if"}
ANGLES = re.compile(r"(^|_)(angle|angles|rotation|rotate|euler|degrees|deg|fov|yaw|pitch|roll|azimuth|elevation)(_|$)")
# A rotation in another form.
NO_ANGLES = {"rotation_quaternion"}

every_tool = in_one_test({tool.name: tool for tool in tool_classes()})


def test_no_two_tools_share_a_name() -> None:
    names = [tool.name for tool in tool_classes()]
    assert len(names) == len(set(names))


@every_tool
def test_a_name_stays_whole_behind_a_hosts_prefix(tool: type[AnyTool]) -> None:
    assert len(PREFIX + tool.name) <= LONGEST


@every_tool
def test_a_tool_stands_in_the_file_of_its_name(tool: type[AnyTool]) -> None:
    noun, verb = tool.name.split(".")
    module = tool.__module__.removeprefix("blendwright.tools.")
    assert module in {f"{noun}.{verb}", f"{noun}.{verb}_"}


def test_every_tool_that_is_written_is_in_the_catalogue() -> None:
    written = {f"blendwright.tools.{place}.{name}" for place, name in written_tools()}
    listed = {f"{tool.__module__}.{tool.__qualname__}" for tool in tool_classes()}
    assert written - listed == set(), "add these to tools/catalog.py"
    assert listed - written == set()


@every_tool
def test_a_summary_is_one_short_sentence_or_two(tool: type[AnyTool]) -> None:
    assert 0 < len(tool.summary()) <= 200
    assert tool.summary().endswith(".")


@every_tool
def test_needed_capabilities_are_known(tool: type[AnyTool]) -> None:
    assert tool.requires.capabilities
    assert set(tool.requires.capabilities) <= CAPABILITIES.keys()


@every_tool
def test_an_argument_schema_is_a_plain_closed_object_at_the_top(tool: type[AnyTool]) -> None:
    schema = tool.args_schema()
    assert schema["type"] == "object"
    assert schema["additionalProperties"] is False
    assert not COMBINATORS & schema.keys(), "some hosts refuse combinators at the top"


@every_tool
def test_every_argument_is_described(tool: type[AnyTool]) -> None:
    described = [
        pointer for pointer, field in fields(tool.args_schema()) if field.get("description") or "const" in field
    ]
    assert described == [pointer for pointer, _ in fields(tool.args_schema())]


@every_tool
def test_every_object_in_an_argument_schema_is_closed(tool: type[AnyTool]) -> None:
    schema = tool.args_schema()
    parts = {"": schema, **schema.get("$defs", {})}
    assert [
        name for name, part in parts.items() if "properties" in part and part.get("additionalProperties") is not False
    ] == []


@every_tool
def test_an_argument_that_is_an_angle_says_that_it_is_in_degrees(tool: type[AnyTool]) -> None:
    numbers = {
        pointer.rpartition("/")[2] for pointer, field in fields(tool.args_schema()) if '"number"' in json.dumps(field)
    }
    angles = {name for name in numbers if ANGLES.search(name)} - NO_ANGLES
    assert {name for name in angles if not name.endswith("_deg")} == set()


@every_tool
def test_what_an_example_takes_for_granted_names_known_tools(tool: type[AnyTool]) -> None:
    known = {tool.name for tool in tool_classes()}
    assert {name for example in tool.examples for name, _ in example.given} <= known


@every_tool
def test_a_declaration_is_json(tool: type[AnyTool]) -> None:
    json.dumps(tool.declaration(), allow_nan=False)


def test_the_catalogue_can_be_had_without_blender() -> None:
    program = (
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] in {'bpy', 'bmesh', 'mathutils', 'numpy'}:\n"
        "            raise ImportError(name + ' is not here')\n"
        "sys.meta_path.insert(0, Absent())\n"
        "from blendwright.tools.catalog import fingerprint, tools\n"
        "assert tools() and fingerprint()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_promises_are_those_of_the_golden_files() -> None:
    reference = generator()
    files = reference.GOLDEN.glob("*.json")
    golden = {tool["name"]: tool for file in files for tool in json.loads(file.read_text("utf-8"))}
    current = {tool["name"]: tool for tool in reference.declarations()}
    changed = sorted(name for name in golden.keys() | current.keys() if golden.get(name) != current.get(name))
    assert not changed, (
        f"run scripts/generate_reference.py and raise the tool's version if a promise changed: {changed}"
    )


def test_the_reference_pages_are_current() -> None:
    assert generator().stale() == [], "run scripts/generate_reference.py"


def generator() -> ModuleType:
    """The script that writes what is derived from the catalogue."""
    spec = importlib.util.spec_from_file_location("generate_reference", ROOT / "scripts" / "generate_reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def written_tools() -> Iterator[tuple[str, str]]:
    """(module below tools, class) of every tool class, from the text: what nobody imports is found too."""
    classes = [
        (".".join(path.relative_to(TOOLS).with_suffix("").parts), node)
        for path in sorted(TOOLS.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.ClassDef)
    ]
    families = {node.name for _, node in classes if _is_family(node)}
    for module, node in classes:
        if _base_names(node) & {"Tool", "Reads", *families} and not _is_family(node):
            yield module, node.name


def _is_family(node: ast.ClassDef) -> bool:
    return any(keyword.arg == "family" for keyword in node.keywords)


def _base_names(node: ast.ClassDef) -> set[str]:
    generic = [base.value for base in node.bases if isinstance(base, ast.Subscript)]
    return {base.id for base in [*generic, *node.bases] if isinstance(base, ast.Name)}


def fields(schema: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every property of a schema and of the objects it defines, with where it stands."""
    for name, field in schema.get("properties", {}).items():
        yield f"/{name}", field
    for part, definition in schema.get("$defs", {}).items():
        for name, field in definition.get("properties", {}).items():
            yield f"/{part}/{name}", field
