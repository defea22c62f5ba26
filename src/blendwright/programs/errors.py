"""Starlark's error messages in plain words, with fixes. This module runs in the evaluator's process."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from blendwright.programs.recording import LimitPassed, ProgramError, ProgramFailed

EXCEPTION = re.compile(r"^(ValueError|OverflowError|TypeError|ZeroDivisionError): ")
EXPECTED = re.compile(r", expected (one of )?\"|, expected one of ")
NO_MEMBER = re.compile(r"type `struct` has no attribute `(\w+)`")
# Names in a "Did you mean" fix.
MAX_NEAR_NAMES = 3
TYPE_WORDS = {"serde::serialize": "a function or another value that is not data cannot be an argument"}
RESERVED = {
    "while": "There is no `while`: write `for i in range(1000):` and `break`.",
    "import": 'There are no imports: `math`, `vec` and `random` are built in, and `load("file.star", "name")` gets library files.',
    "from": 'There are no imports: `load("file.star", "name")` gets library files.',
    "class": "There are no classes: use functions and `struct(name = value)`.",
    "try": "Programs cannot catch errors: test with `if` first.",
    "raise": 'Write `fail("what is wrong")`.',
    "assert": 'Write `if not condition: fail("what is wrong")`.',
    "is": "Compare with `==`.",
    "yield": "Collect into a list and return it.",
    "with": "There is nothing to open or close here.",
    "global": "Return the value, or change a list argument of the function.",
    "nonlocal": "Return the value, or change a list argument of the function.",
    "del": "Use `.pop(key)`.",
}
OWN_WORDS = {
    "set": "Use a dict: `{key: True}`.",
    "isinstance": 'Compare `type(x)` with "int", "float", "string", "list", "tuple", "dict".',
    "open": "Programs read no files; `load` gets library files.",
    "pow": "Write `math.pow(x, y)`.",
    "sin": "Write `math.sin(x)`.",
    "cos": "Write `math.cos(x)`.",
    "sqrt": "Write `math.sqrt(x)`.",
    "pi": "Write `math.pi`.",
    "bpy": 'Call tools by name, as in `mesh.create_primitive(kind = "cube", name = "Box")`; Python code is for python_run.',
}


def plain_message(message: str) -> str:
    """Return one sentence without exception names and without the parser's list of expected words."""
    for marker, explanation in TYPE_WORDS.items():
        if marker in message:
            return explanation
    text = EXCEPTION.sub("", message.split("\n")[0]).removeprefix("Parse error: ")
    match = EXPECTED.search(text)
    if match:
        text = text[: match.start()]
    return text[:500] or "the program cannot be read"


def cure_of_refusal(error: ProgramError) -> str:
    """Return the fix for an error that one of Blendwright's own functions raised."""
    message = str(error)
    if isinstance(error, ProgramFailed):
        return "The program raised this with fail(): change its parameters, or correct it."
    if isinstance(error, LimitPassed):
        return "Let it do less, or split it into several programs."
    if "by name" in message:
        return "Name every argument."
    if "the parameter" in message:
        return "Give another value for it."
    if "JSON reader" in message:
        return "Give a smaller number, one with a decimal point, or text."
    return "Correct this line."


def cure_of(message: str) -> str:
    """Return the fix for a Starlark error."""
    if match := re.search(r"reserved keyword `(\w+)`", message):
        return RESERVED.get(match[1], "Use another word: Starlark reserves this one.")
    if match := re.search(r"Variable `(\w+)` not found", message):
        if match[1] in OWN_WORDS:
            return OWN_WORDS[match[1]]
        return "Define it before it is used; tools are called as noun.verb, see tool_search or `blendwright tools`."
    if "has no attribute" in message:
        if "type `struct`" in message:
            return "See tool_search or `blendwright tools` for the names of tools."
        return "Check whether the program gave this name another value."
    if "'**'" in message:
        return "Write `math.pow(x, y)`, or `**name` for named arguments only."
    if "tabs are not allowed" in message:
        return "Indent with spaces."
    if "f-string" in message or "Not a valid identifier" in message:
        return 'Use only plain names in the braces of an f-string, or write "%d" % value or "{}".format(value).'
    if "serde::serialize" in message:
        return "Call the function, or give text, a number, a list or a dict."
    if message.startswith("Parse error"):
        return "Correct the syntax: Python without classes, imports, while and try."
    return "Correct this line."


def cure_of_unknown_member(message: str, line: str, column: int, members: Mapping[str, Sequence[str]]) -> str | None:
    """Return a fix with the nearest names for an unknown tool or function; None for a message about something else.

    `members` maps each noun to its verbs.
    """
    missing = NO_MEMBER.search(message)
    if missing is None:
        return None
    verb = missing[1]
    written = re.match(rf"(\w+)\s*\.\s*{verb}\b", line[column - 1 :])
    if written is None or written[1] not in members:
        return None

    noun = written[1]
    verbs = members[noun]
    if verb in verbs:
        return (
            f"The program assigned another value to the name '{noun}': rename that, so that {noun}.{verb} is the tool."
        )
    near = [f"{noun}.{name}" for name in difflib.get_close_matches(verb, verbs, n=MAX_NEAR_NAMES, cutoff=0.5)]
    near += [f"{other_noun}.{verb}" for other_noun in members if verb in members[other_noun]]
    if near:
        return "Did you mean " + " or ".join(f"'{name}'" for name in near[:MAX_NEAR_NAMES]) + "?"
    return f"{noun} has: {', '.join(sorted(verbs))}."
