"""What Starlark says is wrong, in plain words and with the way out. Runs in the evaluator's process."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence

from blendwright.programs.recording import LimitPassed, ProgramError, ProgramFailed

EXCEPTION = re.compile(r"^(ValueError|OverflowError|TypeError|ZeroDivisionError): ")
EXPECTED = re.compile(r", expected (one of )?\"|, expected one of ")
NO_MEMBER = re.compile(r"type `struct` has no attribute `(\w+)`")
MOST_NEAR = 3
TYPE_WORDS = {"serde::serialize": "a function or another value that is no data cannot be an argument"}
RESERVED = {
    "while": "There is no `while`: write `for i in range(1000):` and `break`.",
    "import": 'There are no imports: `math`, `vec` and `random` are there, and `load("file.star", "name")` gets library files.',
    "from": 'There are no imports: `load("file.star", "name")` gets library files.',
    "class": "There are no classes: use functions and `struct(name = value)`.",
    "try": "Nothing can be caught: test with `if` before.",
    "raise": 'Write `fail("what is wrong")`.',
    "assert": 'Write `if not condition: fail("what is wrong")`.',
    "is": "Compare with `==`.",
    "yield": "Collect into a list and return it.",
    "with": "There is nothing to be opened or closed here.",
    "global": "Return the value, or change a list that the function is given.",
    "nonlocal": "Return the value, or change a list that the function is given.",
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
    """One sentence, without the names of exceptions and without the long list of what a parser would have taken."""
    for sign, said in TYPE_WORDS.items():
        if sign in message:
            return said
    text = EXCEPTION.sub("", message.split("\n")[0]).removeprefix("Parse error: ")
    if match := EXPECTED.search(text):
        text = text[: match.start()]
    return text[:500] or "the program cannot be read"


def cure_of_refusal(error: ProgramError) -> str:
    """The way out of what our own functions refused."""
    message = str(error)
    if isinstance(error, ProgramFailed):
        return "The program itself says so, by fail: give it what it wants, or correct it."
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
    if match := re.search(r"reserved keyword `(\w+)`", message):
        return RESERVED.get(match[1], "Use another word: Starlark keeps this one for itself.")
    if match := re.search(r"Variable `(\w+)` not found", message):
        if match[1] in OWN_WORDS:
            return OWN_WORDS[match[1]]
        return "Define it before it is used; tools are called as noun.verb, see tool_search or `blendwright tools`."
    if "has no attribute" in message:
        if "type `struct`" in message:
            return "See tool_search or `blendwright tools` for the names of tools."
        return "Look whether the program gave this name another value."
    if "'**'" in message:
        return "Write `math.pow(x, y)`, or `**name` for named arguments only."
    if "tabs are not allowed" in message:
        return "Indent with spaces."
    if "f-string" in message or "Not a valid identifier" in message:
        return 'Only plain names stand in braces of an f-string; else write "%d" % value or "{}".format(value).'
    if "serde::serialize" in message:
        return "Call the function, or give text, a number, a list or a dict."
    if message.startswith("Parse error"):
        return "Correct the syntax; it is that of Python, without classes, imports, while and try."
    return "Correct this line."


def cure_of_unknown_member(message: str, line: str, column: int, members: Mapping[str, Sequence[str]]) -> str | None:
    """The nearest names, for a tool or a function that is not there; `members` are all of them by what stands before the dot. None where
    the message is about something else."""
    missing = NO_MEMBER.search(message)
    if missing is None:
        written = None
    else:
        written = re.match(rf"(\w+)\s*\.\s*{missing[1]}\b", line[column - 1 :])
    if missing is None or written is None or written[1] not in members:
        return None
    noun, own = written[1], members[written[1]]
    if missing[1] in own:
        return f"The program gave the name '{noun}' a value of its own: call that otherwise, and {noun}.{missing[1]} is the tool."
    near = [f"{noun}.{verb}" for verb in difflib.get_close_matches(missing[1], own, n=MOST_NEAR, cutoff=0.5)]
    near += [f"{other}.{missing[1]}" for other in members if missing[1] in members[other]]
    if near:
        return "Did you mean " + " or ".join(f"'{name}'" for name in near[:MOST_NEAR]) + "?"
    return f"{noun} has: {', '.join(sorted(own))}."
