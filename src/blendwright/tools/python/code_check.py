"""Checks of Python code before it runs; findings name what would fail, with line numbers.

These checks are no security boundary: reading Python code cannot make it safe. The confined process that runs the code stops
hostile code. This module never runs anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import invalid
from blendwright.values.findings import Finding, did_you_mean

AT = "/code"
# Modules that work on data and on the scene. None of them gives access to files, processes or other machines.
MODULES = frozenset({
    "__future__", "array", "base64", "bisect", "bl_math", "bmesh", "bpy", "bpy_extras", "cmath", "collections", "colorsys", "copy",
    "csv", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math",
    "mathutils", "numbers", "numpy", "operator", "random", "re", "statistics", "string", "struct", "textwrap", "time", "typing",
})  # fmt: skip
# Modules that are only useful with declared files.
FILE_MODULES = frozenset({"io", "pathlib"})
NAMES = frozenset({"__import__", "breakpoint", "compile", "eval", "exec", "input"})
FILE_NAMES = frozenset({"open"})
DECLARE = 'Declare the files: files={"in": [paths], "out": [paths]}, and use files[path] in the code.'
# Names with double underscores that ordinary classes and scripts use.
DUNDERS = frozenset({"__annotations__", "__doc__", "__init__", "__name__", "__post_init__"})
DUNDER = re.compile(r"__\w+__")
# Attribute look-ups in a format string: "{0.__class__}".
FORMAT_WALK = re.compile(r"\{[^{}]*[.\[]\s*__\w+__")
ATTRIBUTES: dict[str, str] = {
    "as_module": "Blendwright does not run text datablocks as code",
    "use_module": "Blender would run a registered text wherever the scene is opened",
}
FORBIDDEN_ATTRIBUTES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), reason)
    for pattern, reason in (
        (r"bpy\.app\.(handlers|timers|driver_namespace)\b", "code must leave nothing behind that runs later"),
        (r"bpy\.ops\.wm\.(\w*file|link|lib_\w+|recover_\w+|\w*path\w*|url_\w+|context_\w+|quit_\w+|read_\w+|save_\w+)\b",
         "code has no access to the session and to other files; use the file tools"),
        (r"bpy\.ops\.(script|text|preferences|extensions)\b", "code has no access to scripts and add-ons"),
        (r"bpy\.utils\.(?!units\b)\w+", "code has no access to scripts and the user's directories"),
        (r"bpy\.types\.(Operator|Panel|AddonPreferences|KeyMap)\b", "classes do not outlive the code that registers them"),
    )
)  # fmt: skip
# Functions that need declared files.
FILE_ATTRIBUTES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), "code has access only to declared files")
    for pattern in (
        r"bpy\.ops\.wm\.(\w*_import|\w*_export|append)\b",
        r"bpy\.ops\.(import|export)_\w+\b",
        r"bpy\.ops\.(image|sound|clip|font)\.(open\w*|save\w*)\b",
        r"bpy\.data\.(libraries\b|\w+\.load\b)",
    )
)


def with_line_breaks(code: str) -> str:
    """Return code with `\\n` and `\\t` replaced by line breaks and tabs if it was escaped twice, else unchanged.

    This applies only to code without a line break that is not Python, and is Python after the replacement.
    """
    if "\\n" not in code or "\n" in code or _is_python(code):
        return code
    unescaped = code.replace("\\n", "\n").replace("\\t", "\t")
    if _is_python(unescaped):
        return unescaped
    return code


def _is_python(code: str) -> bool:
    try:
        ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def check_code(code: str, *, trusted: bool, files: bool = False) -> Findings:
    """Yield findings for code that cannot run here. Trusted code only has to be Python.

    `files` says whether the call declares files, which allows functions that read and write.
    """
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        yield _syntax(code, error)
        return
    except (ValueError, RecursionError, MemoryError) as error:
        if isinstance(error, ValueError):
            message = str(error)
        else:
            message = "nested too deeply"
        yield invalid(f"the code is not Python: {message}", AT, "Write the code in another way.")
        return
    if not trusted:
        yield from _CodeWalk(files).findings(tree)


def _syntax(code: str, error: SyntaxError) -> Finding:
    cure = "Correct the line."
    if "\\n" in code and "\n" not in code:
        cure = "Write real line breaks: the code contains a backslash and an n where a line should end."
    return invalid(f"line {error.lineno or 1}: the code is not Python: {error.msg}", AT, cure)


NO_DUNDERS = "Use the operator, statement or built-in function instead: d[key] = value, len(x), type(x)."
# Fixes for forbidden names that have a replacement.
CURES = {"__import__": "Write an import statement at the beginning, for a module that code may import."}


class _CodeWalk:
    """A walk over one syntax tree, with a table of the names that stand for parts of bpy."""

    def __init__(self, files: bool) -> None:
        self._files = files
        self._aliases: dict[str, str] = {}

    def findings(self, tree: ast.Module) -> Findings:
        nodes = sorted((node for node in ast.walk(tree) if hasattr(node, "lineno")), key=_position)
        reported: set[tuple[int, str]] = set()
        for node in nodes:
            for message, cure in self._problems(node):
                line = _position(node)[0]
                if (line, message) not in reported:
                    reported.add((line, message))
                    yield invalid(f"line {line}: {message}", AT, cure)

    def _problems(self, node: ast.AST) -> Iterator[tuple[str, str]]:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from self._import_problems(alias.name)
                    top_module = alias.name.partition(".")[0]
                    if alias.asname:
                        self._aliases[alias.asname] = alias.name
                    else:
                        self._aliases[top_module] = top_module
            case ast.ImportFrom(module=module, names=names, level=level):
                yield from self._import_problems("." * level + (module or ""))
                for alias in names:
                    self._aliases[alias.asname or alias.name] = f"{module}.{alias.name}"
                    yield from self._attribute_problems(f"{module}.{alias.name}")
            case ast.Name(id=name) if name in NAMES:
                yield f"code must not use {name}", CURES.get(name, "Work on the scene through bpy.data.")
            case ast.Name(id=name) if name in FILE_NAMES and not self._files:
                yield f"{name} works only with declared files", DECLARE
            case ast.Name(id=name) if DUNDER.fullmatch(name) and name not in DUNDERS:
                yield f"'{name}' gives access to Python's internals", NO_DUNDERS
            case ast.Attribute(attr=name) if DUNDER.fullmatch(name) and name not in DUNDERS:
                yield f"'.{name}' gives access to Python's internals", NO_DUNDERS
            case ast.Attribute(attr=name) if name in ATTRIBUTES:
                yield f"code must not use '.{name}': {ATTRIBUTES[name]}", "Leave it out."
            case ast.Attribute():
                yield from self._attribute_problems(self._dotted(node))
            case ast.Constant(value=str(text)) if FORMAT_WALK.search(text):
                yield (
                    "a format string gives access to Python's internals",
                    "Leave the attribute out of the format string.",
                )
            case _:
                pass

    def _dotted(self, node: ast.expr) -> str:
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self._aliases.get(node.id, node.id), *reversed(parts)])

    def _import_problems(self, name: str) -> Iterator[tuple[str, str]]:
        top = name.partition(".")[0]
        if top in MODULES or (self._files and top in FILE_MODULES):
            return
        if top in FILE_MODULES:
            yield f"'{name}' works only with declared files", DECLARE
            return
        allowed = ", ".join(sorted(MODULES - {"__future__"}))
        yield f"code must not import '{name}'", did_you_mean(top, MODULES, otherwise=f"Allowed: {allowed}.")

    def _attribute_problems(self, dotted: str) -> Iterator[tuple[str, str]]:
        for pattern, reason in FORBIDDEN_ATTRIBUTES:
            if pattern.match(dotted):
                yield f"code must not use {dotted}: {reason}", "Leave it out."
        if self._files:
            return
        for pattern, reason in FILE_ATTRIBUTES:
            if pattern.match(dotted):
                yield f"code must not use {dotted}: {reason}", DECLARE


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
