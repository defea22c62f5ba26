"""Programs that clients sent before, and edits of them, so that a client can fix a line without sending the complete
program.

Blendwright evaluates, runs and journals the complete edited program. It remembers programs until the server ends,
separately for each client.
"""

from __future__ import annotations

import difflib
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, NamedTuple

import orjson
from pydantic import Field

from blendwright.engine.moves.replaced_plans import Instead
from blendwright.schemas.check import ModelChecker
from blendwright.tool_api.arguments import Args
from blendwright.values.errors import Refusal
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding
from blendwright.workspace.replace_plan import params_in_force

LAST = "last"
AT = "/program_edit"
PROGRAM_NAME_CHARACTERS = 12
# The largest size of all remembered programs together and of one program: characters of the text plus bytes of the params.
MAX_TOTAL_PROGRAM_SIZE, MAX_PROGRAM_SIZE = 4 * 1024 * 1024, 262_144
MAX_LISTED_LINES = 5
MAX_SHOWN_CHARACTERS, MAX_COMPARED_LINES = 120, 5000


class Replacement(Args):
    old: str = Field(min_length=1, description="The exact old text, which occurs once.")
    new: str = Field(description="The new text.")


class ProgramEdit(Args):
    of: str = Field(default=LAST, max_length=100, description="'last', or the program's name from an answer.")
    replace: list[Replacement] = Field(default=[], max_length=200, description="Replacements in their order.")


CHECKER = ModelChecker(
    ProgramEdit, ProgramEdit.model_json_schema(), 'Pass {"of": "last", "replace": [{"old": "…", "new": "…"}]}.'
)


class SentProgram(NamedTuple):
    """The text of a program and the params that came with it."""

    text: str
    params: Mapping[str, Any]

    @property
    def size(self) -> int:
        return len(self.text) + len(orjson.dumps(self.params))


class EditedProgram(NamedTuple):
    """The edited text and params of a program, and its text before the edit."""

    text: str
    params: Mapping[str, Any]
    of: str


def program_name(text: str) -> str:
    """Return a short name for a program: the beginning of the hash of its text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:PROGRAM_NAME_CHARACTERS]


class SentPrograms:
    """The programs that clients sent, oldest first. Callable from any thread."""

    def __init__(self, most: int = MAX_TOTAL_PROGRAM_SIZE) -> None:
        self._programs: OrderedDict[tuple[str, str], SentProgram] = OrderedDict()
        self._most = most
        self._size = 0
        self.sent_last: set[str] = set()
        """Clients whose last document was a program. Only their calls without a document mean that program."""
        self.previewed: dict[str, Instead] = {}
        """Clients whose last program was previewed, with the plan that it is to replace. A call without a document runs it."""
        self._lock = threading.Lock()

    def remember(self, client: str, program: SentProgram, *, previewed: Instead | None = None) -> None:
        """Store a client's program as its last one.

        `previewed` is the plan that a preview is to replace (possibly none), and None if the call was not a preview.
        """
        self.forget_last(client)
        if program.size > MAX_PROGRAM_SIZE:
            return
        key = (client, program_name(program.text))
        with self._lock:
            earlier = self._programs.pop(key, None)
            if earlier is not None:
                self._size -= earlier.size
            self._programs[key] = program
            self.sent_last.add(client)
            if previewed is not None:
                self.previewed[client] = previewed
            self._size += program.size
            while self._size > self._most:
                (owner, _), oldest = self._programs.popitem(last=False)
                self._size -= oldest.size
                if all(other_client != owner for other_client, _ in self._programs):
                    self.forget_last(owner)

    def forget_last(self, client: str) -> None:
        """Forget the client's last program, because its last document was not a program that is remembered."""
        self.sent_last.discard(client)
        self.previewed.pop(client, None)

    def find(self, client: str, of: str, at: str = AT) -> SentProgram:
        """Return a program that this client sent. Raises Refusal if there is none of this name."""
        with self._lock:
            programs = {name: program for (owner, name), program in self._programs.items() if owner == client}
        if of == LAST and programs:
            return next(reversed(programs.values()))
        if of in programs:
            return programs[of]
        message = f"this session has no program '{of[:40]}'"
        fix = "Send the complete program."
        if programs:
            names = ", ".join([LAST, *list(programs)[::-1][:MAX_LISTED_LINES]])
            fix = f"Use one of: {names}."
        raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/of", fix)])


def edited(
    programs: SentPrograms, client: str, document: Mapping[str, Any], params: Mapping[str, Any] | None, at: str = AT
) -> EditedProgram:
    """Return an earlier program with replaced texts and other params.

    `at` is the JSON pointer of the edit in the arguments. Raises Refusal with a finding for every replacement that
    does not fit.
    """
    edit, problems = CHECKER.validate(dict(document))
    if problems or not isinstance(edit, ProgramEdit):
        raise Refusal([finding.under(at) for finding in problems])
    program = programs.find(client, edit.of, at)
    text = program.text
    findings: list[Finding] = []
    for number, replacement in enumerate(edit.replace):
        if text.count(replacement.old) == 1:
            text = text.replace(replacement.old, replacement.new)
        else:
            findings.append(_misfit(text, replacement.old, f"{at}/replace/{number}/old"))
    if findings:
        raise Refusal(findings)
    return EditedProgram(text, params_in_force(program.params, params), program.text)


def _misfit(text: str, old: str, at: str) -> Finding:
    line_numbers = [text.count("\n", 0, offset) + 1 for offset in _offsets(text, old)]
    if not line_numbers:
        return Finding(Fault.ARGS_INVALID, "the program has no such text", at, _nearest(text, old))
    lines = ", ".join(map(str, line_numbers[:MAX_LISTED_LINES]))
    if len(line_numbers) > MAX_LISTED_LINES:
        lines += " …"
    message = f"it occurs {len(line_numbers)} times in the program, in lines {lines}"
    return Finding(Fault.ARGS_INVALID, message, at, "Include more of the surrounding text, so that it occurs once.")


def _offsets(text: str, old: str) -> list[int]:
    offsets: list[int] = []
    offset = text.find(old)
    while offset >= 0:
        offsets.append(offset)
        offset = text.find(old, offset + len(old))
    return offsets


def _nearest(text: str, old: str) -> str:
    """Return a fix that shows the program line with the longest part in common with the first line of `old`."""
    wanted = old.strip().split("\n")[0][:MAX_SHOWN_CHARACTERS]
    best_size, best_number, best_line = 0, 0, ""
    for number, line in enumerate(text.split("\n")[:MAX_COMPARED_LINES], 1):
        shown = line.strip()[:MAX_SHOWN_CHARACTERS]
        size = difflib.SequenceMatcher(None, wanted, shown, autojunk=False).find_longest_match().size
        if size > best_size:
            best_size, best_number, best_line = size, number, shown
    if 2 * best_size < len(wanted) or not best_line:
        return "Copy the text exactly from the program."
    return f"Line {best_number} is near: {best_line}"
