"""Code that a scene carries: texts that register themselves, scripted drivers, style modules, OSL scripts.

Responsible for: taking all of it out of reach for the length of a save, so that no file from here runs anything where it is opened,
and putting everything back as it was. The texts themselves stay in the file, as plain text. Nothing here ever runs them.
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

# What makes a node or a camera run an OSL script, in the order in which it is put back: with neither text nor file there is
# nothing to compile.
OSL_NODE = {"script": None, "filepath": "", "bytecode": "", "bytecode_hash": ""}
OSL_CAMERA = {f"custom_{name}": value for name, value in OSL_NODE.items() if name != "script"} | {"custom_shader": None}


@dataclass(frozen=True, slots=True)
class Script:
    """One piece of code: the datablock that holds it, and the writes that silence it."""

    block: Any
    what: Carried
    writes: tuple[tuple[Any, str, Any], ...]


@contextmanager
def silenced(touch: Callable[[fp.Key], None]) -> Generator[list[Carried]]:
    """Nothing in the scene runs by itself; yields what was silenced. `touch` is told of every datablock that is written to.

    Raises StepError if the scene hides a driver, which cannot be silenced."""
    refuse_hidden_drivers("")
    scripts = list(_scripts())
    for script in scripts:
        touch(fp.key_of(script.block))
    writes = [write for script in scripts for write in script.writes]
    before = [(target, name, getattr(target, name)) for target, name, _ in writes]
    try:
        _write(writes)
        yield [script.what for script in scripts]
    finally:
        _write(before[::-1])


def active_content() -> list[ActiveItem]:
    """Every piece of code and every file that the scene names, each with a digest of its content: to recognise what is new."""
    items: list[ActiveItem] = [
        cast("ActiveItem", asdict(script.what) | {"digest": _digest(script)}) for script in _scripts()
    ]
    named = {(entry["kind"], entry["name"], entry["path"]) for entry in external_files.paths()}
    named |= {
        (kind, block.name, path) for kind, block in _blocks_in_file() for path in path_properties.file_paths(block)
    }
    for kind, name, path in sorted(entry for entry in named if not path_properties.is_default_path(entry[2])):
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
    """What is packed of each library, by its session id: another content under the same name is another library."""
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
    """Cycles compiles a script whenever it is set; another engine lets it be."""
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
    """What is linked from other files is not ours to write to, and is not in the file; unless it is packed into it."""
    for kind, block in _blocks_in_file():
        yield from _of_block(kind, block)


def _blocks_in_file() -> Iterator[tuple[str, Any]]:
    """Also linked datablocks that are packed into the file, which Blender can do from 5.0 on."""
    for kind, block in fp.all_blocks():
        if block.library is None or getattr(block, "is_linked_packed", False):
            yield kind, block


def _of_block(kind: str, block: Any) -> Iterator[Script]:
    if kind == "texts" and block.use_module:
        yield _script(block, "registered text", "", {"use_module": False}, block)
    if kind == "scenes":
        yield from _style_modules(block)
    if kind == "cameras" and any(getattr(block, name, value) != value for name, value in OSL_CAMERA.items()):
        yield _script(block, "OSL script", "", OSL_CAMERA, block)
    for owner in animated_parts(block):
        yield from _drivers(block, owner)
        yield from _osl_nodes(block, owner)


def _drivers(block: Any, owner: Any) -> Iterator[Script]:
    data = getattr(owner, "animation_data", None)
    for curve in data.drivers if data is not None else ():
        driver = curve.driver
        # A simple expression (numbers, variables, arithmetic) is evaluated by Blender itself and never reaches Python.
        if driver.type == "SCRIPTED" and not driver.is_simple_expression:
            # Without code there is nothing to compute: the property keeps the value it has.
            writes = ((curve, "mute", True), (driver, "expression", ""), (driver, "type", "AVERAGE"))
            yield Script(block, _carried(block, "scripted driver", f"{curve.data_path}[{curve.array_index}]"), writes)


def _osl_nodes(block: Any, owner: Any) -> Iterator[Script]:
    for node in getattr(owner, "nodes", ()):
        if node.bl_idname == "ShaderNodeScript" and any(getattr(node, name) != OSL_NODE[name] for name in OSL_NODE):
            yield _script(block, "OSL script", node.name, OSL_NODE, node)


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
