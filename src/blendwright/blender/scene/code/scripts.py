"""Code that a scene carries: texts that register themselves, scripted drivers, style modules, OSL scripts.

This module disables that code for the length of a save and restores it afterwards, so that a saved file runs nothing where
somebody opens it. The texts themselves stay in the file as plain text. This module never runs them.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

import bpy

from blendwright.blender import fingerprint as fp
from blendwright.blender.scene.code.hidden_drivers import animated_parts, refuse_hidden_drivers
from blendwright.blender.scene.files import external_files, path_properties
from blendwright.tool_api.file_port import Carried
from blendwright.util.canonical import digest
from blendwright.wire.methods import ActiveItem

# The properties that make a node or a camera run an OSL script, with the values that disable it. The order matters for restoring:
# with neither text nor file there is nothing to compile.
OSL_NODE = {"script": None, "filepath": "", "bytecode": "", "bytecode_hash": ""}
OSL_CAMERA = {f"custom_{name}": value for name, value in OSL_NODE.items() if name != "script"} | {"custom_shader": None}


@dataclass(frozen=True, slots=True)
class Script:
    """A piece of code: the datablock that holds it, and the writes (struct, property, value) that disable it."""

    block: Any
    carried: Carried
    writes: tuple[tuple[Any, str, Any], ...]


@contextmanager
def silenced(touch: Callable[[fp.Key], None]) -> Generator[list[Carried]]:
    """Disable all code in the scene for the length of the block, and yield a list of it.

    Calls `touch` for every datablock that it writes. Raises StepError if the scene hides a driver, which cannot be disabled."""
    refuse_hidden_drivers("")
    scripts = list(_scripts())
    for script in scripts:
        touch(fp.key_of(script.block))
    writes: list[tuple[Any, str, Any]] = []
    for script in scripts:
        writes += script.writes
    before = [(target, name, getattr(target, name)) for target, name, _ in writes]
    try:
        _write(writes)
        yield [script.carried for script in scripts]
    finally:
        _write(before[::-1])


def active_content() -> list[ActiveItem]:
    """Return all code, external files and libraries of the scene. Digests of the content let a caller recognize new items."""
    items: list[ActiveItem] = []
    for script in _scripts():
        items.append(cast("ActiveItem", asdict(script.carried) | {"digest": _digest(script)}))

    referenced = {(entry["kind"], entry["name"], entry["path"]) for entry in external_files.paths()}
    for kind, block in _blocks_in_file():
        for path in path_properties.file_paths(block):
            referenced.add((kind, block.name, path))
    for kind, name, path in sorted(referenced):
        if not path_properties.is_default_path(path):
            items.append({"what": "external file", "kind": kind, "name": name, "where": path, "digest": ""})

    packed = _packed()
    libraries: Any = bpy.data.libraries
    for library in libraries:
        items.append(
            {
                "what": "linked library",
                "kind": "libraries",
                "name": library.name,
                "where": library.filepath,
                "digest": digest(packed.get(library.session_uid, [])),
            }
        )
    return items


def _packed() -> dict[int, list[list[str]]]:
    """Return the packed datablocks of each library with their hashes, by the session id of the library.

    They are part of its digest: a library with the same name and other content must count as new."""
    packed: dict[int, list[list[str]]] = {}
    for kind, block in _blocks_in_file():
        if block.library is not None:
            entry = [kind, block.name, fp.leaf(block).hex()]
            packed.setdefault(block.library.session_uid, []).append(entry)
    return {library: sorted(entries) for library, entries in packed.items()}


def _digest(script: Script) -> str:
    contents = [_text_of(getattr(target, name)) for target, name, _ in script.writes]
    return digest([contents, _text_of(script.block)])


def _text_of(value: Any) -> str:
    if isinstance(value, bpy.types.Text):
        return f"{value.name}\n{value.as_string()}"
    if isinstance(value, bpy.types.ID):
        return ""
    return str(value)


def _write(writes: Sequence[tuple[Any, str, Any]]) -> None:
    """Set the properties while another render engine is active, because Cycles compiles a script whenever it is assigned."""
    if not writes:
        return
    render: Any = bpy.context.scene.render
    engine = render.engine
    render.engine = "BLENDER_WORKBENCH"
    try:
        for target, name, value in writes:
            setattr(target, name, value)
    finally:
        render.engine = engine


def _scripts() -> Iterator[Script]:
    for kind, block in _blocks_in_file():
        yield from _scripts_of(kind, block)


def _blocks_in_file() -> Iterator[tuple[str, Any]]:
    """Yield the kind and datablock of everything that the scene's file contains.

    These are local datablocks and, from Blender 5.0 on, linked ones that are packed into the file."""
    for kind, block in fp.all_blocks():
        if block.library is None or getattr(block, "is_linked_packed", False):
            yield kind, block


def _scripts_of(kind: str, block: Any) -> Iterator[Script]:
    if kind == "texts" and block.use_module:
        yield _script(block, "registered text", "", {"use_module": False}, block)
    if kind == "scenes":
        yield from _style_modules(block)
    if kind == "cameras" and _differs(block, OSL_CAMERA):
        yield _script(block, "OSL script", "", OSL_CAMERA, block)
    for owner in animated_parts(block):
        yield from _drivers(block, owner)
        yield from _osl_nodes(block, owner)


def _drivers(block: Any, owner: Any) -> Iterator[Script]:
    data = getattr(owner, "animation_data", None)
    if data is None:
        return
    for curve in data.drivers:
        driver = curve.driver
        # Blender evaluates a simple expression (numbers, variables, arithmetic) itself; it never reaches Python.
        if driver.type == "SCRIPTED" and not driver.is_simple_expression:
            # Without code there is nothing to compute, so the property keeps its current value.
            writes = ((curve, "mute", True), (driver, "expression", ""), (driver, "type", "AVERAGE"))
            yield Script(block, _carried(block, "scripted driver", f"{curve.data_path}[{curve.array_index}]"), writes)


def _osl_nodes(block: Any, owner: Any) -> Iterator[Script]:
    for node in getattr(owner, "nodes", ()):
        if node.bl_idname == "ShaderNodeScript" and _differs(node, OSL_NODE):
            yield _script(block, "OSL script", node.name, OSL_NODE, node)


def _differs(target: Any, values: dict[str, Any]) -> bool:
    return any(getattr(target, name, value) != value for name, value in values.items())


def _style_modules(scene: Any) -> Iterator[Script]:
    for layer in scene.view_layers:
        for module in layer.freestyle_settings.modules:
            if module.script is not None:
                yield _script(scene, "style module", f"{layer.name}: {module.script.name}", {"script": None}, module)


def _script(block: Any, what: str, where: str, values: dict[str, Any], target: Any) -> Script:
    return Script(block, _carried(block, what, where), tuple((target, name, value) for name, value in values.items()))


def _carried(block: Any, what: str, where: str) -> Carried:
    kind, name, *_ = fp.key_of(block)
    return Carried(what, kind, name, where)
