"""Checks Python code before it runs and reports what would fail, with line numbers, to whoever wrote it.

This is no security boundary: Python cannot be made safe by reading it, and the confined process that runs the code is what stops
hostile code. Pure: this module never runs anything.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from blendwright.tool_api.tool import Findings
from blendwright.tools.checks import invalid
from blendwright.values.findings import Finding, did_you_mean

AT = "/code"
# Modules that work on data and on the scene. None of them is needed to reach a file, a process or another machine.
MODULES = frozenset({
    "__future__", "array", "base64", "bisect", "bl_math", "bmesh", "bpy", "bpy_extras", "cmath", "collections", "colorsys", "copy",
    "csv", "dataclasses", "datetime", "decimal", "enum", "fractions", "functools", "hashlib", "heapq", "itertools", "json", "math",
    "mathutils", "numbers", "numpy", "operator", "random", "re", "statistics", "string", "struct", "textwrap", "time", "typing",
})  # fmt: skip
# What is of use with files that were declared.
FILE_MODULES = frozenset({"io", "pathlib"})
NAMES = frozenset({"__import__", "breakpoint", "compile", "eval", "exec", "input"})
FILE_NAMES = frozenset({"open"})
DECLARE = 'Declare the files: files={"in": [paths], "out": [paths]}, and use files[path] in the code.'
# What a class or a script may ordinarily say.
DUNDERS = frozenset({"__annotations__", "__doc__", "__init__", "__name__", "__post_init__"})
DUNDER = re.compile(r"__\w+__")
# Attribute look-ups in a format string: "{0.__class__}".
FORMAT_WALK = re.compile(r"\{[^{}]*[.\[]\s*__\w+__")
ATTRIBUTES: dict[str, str] = {
    "as_module": "texts are not run as code",
    "use_module": "a text that registers itself would run wherever the scene is opened",
}
FORBIDDEN_ATTRIBUTES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), why)
    for pattern, why in (
        (r"bpy\.app\.(handlers|timers|driver_namespace)\b", "nothing of the code stays behind when it has ended"),
        (r"bpy\.ops\.wm\.(\w*file|link|lib_\w+|recover_\w+|\w*path\w*|url_\w+|context_\w+|quit_\w+|read_\w+|save_\w+)\b",
         "the session is not reached from code, and nothing is linked; use the file tools"),
        (r"bpy\.ops\.(script|text|preferences|extensions)\b", "scripts and add-ons are not reached from code"),
        (r"bpy\.utils\.(?!units\b)\w+", "scripts and the user's directories are not reached from code"),
        (r"bpy\.types\.(Operator|Panel|AddonPreferences|KeyMap)\b", "classes are gone when the code has ended"),
    )
)  # fmt: skip
# What needs files that were declared.
FILE_ATTRIBUTES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), "only files that were declared are reached from code")
    for pattern in (
        r"bpy\.ops\.wm\.(\w*_import|\w*_export|append)\b",
        r"bpy\.ops\.(import|export)_\w+\b",
        r"bpy\.ops\.(image|sound|clip|font)\.(open\w*|save\w*)\b",
        r"bpy\.data\.(libraries\b|\w+\.load\b)",
    )
)


def with_line_breaks(code: str) -> str:
    """The code with line breaks where it has a backslash and an n for each of them, as if it had been escaped twice.

    Only where that is the one way to read it: it has no line break, is no Python as it stands, and is Python then."""
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
    """What speaks against the code. Trusted code need only be Python. `files`: some were declared, for it to read or write."""
    try:
        tree = ast.parse(code)
    except SyntaxError as error:
        yield _syntax(code, error)
        return
    except (ValueError, RecursionError, MemoryError) as error:
        if not isinstance(error, ValueError):
            message = "nested too deeply"
        else:
            message = str(error)
        yield invalid(f"the code is not Python: {message}", AT, "Write it in another way.")
        return
    if not trusted:
        yield from _CodeWalk(files).findings(tree)


def _syntax(code: str, error: SyntaxError) -> Finding:
    cure = "Correct the line."
    if "\\n" in code and "\n" not in code:
        cure = "Write real line breaks: the code has a backslash and an n where a line should end."
    return invalid(f"line {error.lineno or 1}: the code is not Python: {error.msg}", AT, cure)


NO_DUNDERS = "Use the operator, statement or built-in function that it stands for: d[key] = value, len(x), type(x)."
# Of names that code uses for something that can be had otherwise.
CURES = {"__import__": "Write an import statement at the beginning; see which modules may be imported."}


class _CodeWalk:
    """One walk over one syntax tree; it keeps track of which names stand for parts of bpy."""

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
                    if alias.asname:
                        self._aliases[alias.asname or alias.name.partition(".")[0]] = alias.name
                    else:
                        self._aliases[alias.asname or alias.name.partition(".")[0]] = alias.name.partition(".")[0]
            case ast.ImportFrom(module=module, names=names, level=level):
                yield from self._import_problems("." * level + (module or ""))
                for alias in names:
                    self._aliases[alias.asname or alias.name] = f"{module}.{alias.name}"
                    yield from self._attribute_problems(f"{module}.{alias.name}")
            case ast.Name(id=name) if name in NAMES:
                yield f"{name} is not for code that runs here", CURES.get(name, "Work on the scene through bpy.data.")
            case ast.Name(id=name) if name in FILE_NAMES and not self._files:
                yield f"{name} is for files that were declared", DECLARE
            case ast.Name(id=name) if DUNDER.fullmatch(name) and name not in DUNDERS:
                yield f"'{name}' leads into Python's own works", NO_DUNDERS
            case ast.Attribute(attr=name) if DUNDER.fullmatch(name) and name not in DUNDERS:
                yield f"'.{name}' leads into Python's own works", NO_DUNDERS
            case ast.Attribute(attr=name) if name in ATTRIBUTES:
                yield f"'.{name}': {ATTRIBUTES[name]}", "Do without it."
            case ast.Attribute():
                yield from self._attribute_problems(self._dotted(node))
            case ast.Constant(value=str(text)) if FORMAT_WALK.search(text):
                yield "a format string leads into Python's own works", "Do without it."
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
            yield f"'{name}' is for files that were declared", DECLARE
            return
        cure = did_you_mean(top, MODULES, otherwise="Allowed: " + ", ".join(sorted(MODULES - {"__future__"})) + ".")
        yield f"'{name}' may not be imported", cure

    def _attribute_problems(self, dotted: str) -> Iterator[tuple[str, str]]:
        for pattern, why in FORBIDDEN_ATTRIBUTES:
            if pattern.match(dotted):
                yield f"{dotted} may not be used: {why}", "Do without it."
        for pattern, why in () if self._files else FILE_ATTRIBUTES:
            if pattern.match(dotted):
                yield f"{dotted} may not be used: {why}", DECLARE


def _position(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
