"""Programs that a client sent before, and repairs of them: whoever mends a line need not send the whole again.

What is evaluated, run and journalled is the whole program. Programs are remembered while the server runs, each for the client that sent it.
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
# Of all programs together, and of the longest that is worth remembering.
MAX_TOTAL_PROGRAM_SIZE, MAX_PROGRAM_SIZE = 4 * 1024 * 1024, 262_144
MAX_LISTED_LINES = 5
MAX_SHOWN_CHARACTERS, MAX_COMPARED_LINES = 120, 5000


class Replacement(Args):
    old: str = Field(min_length=1, description="What stands there, exactly; it occurs once.")
    new: str = Field(description="What is to stand there.")


class ProgramEdit(Args):
    of: str = Field(
        default=LAST, max_length=100, description="'last', or the name that the answer gave to the program."
    )
    replace: list[Replacement] = Field(default=[], max_length=200, description="One after the other.")


CHECKER = ModelChecker(
    ProgramEdit, ProgramEdit.model_json_schema(), 'It is {"of": "last", "replace": [{"old": "…", "new": "…"}]}.'
)


class SentProgram(NamedTuple):
    """The text, and the parameters that it was sent with."""

    text: str
    params: Mapping[str, Any]

    @property
    def size(self) -> int:
        return len(self.text) + len(orjson.dumps(self.params))


class EditedProgram(NamedTuple):
    """The text and the parameters as they are now, and the text that was sent before."""

    text: str
    params: Mapping[str, Any]
    of: str


def program_name(text: str) -> str:
    """A short name for a program of this text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:PROGRAM_NAME_CHARACTERS]


class SentPrograms:
    """What clients sent, the latest last. Callable from any thread."""

    def __init__(self, most: int = MAX_TOTAL_PROGRAM_SIZE) -> None:
        self._programs: OrderedDict[tuple[str, str], SentProgram] = OrderedDict()
        self._most = most
        self._size = 0
        self.sent_last: set[str] = set()
        """Clients whose last document was a program: only these mean it when they name none."""
        self.previewed: dict[str, Instead] = {}
        """Of these, those who had it previewed, with what it was to take the place of: who names none then means just that."""
        self._lock = threading.Lock()

    def remember(self, client: str, program: SentProgram, *, previewed: Instead | None = None) -> None:
        """`previewed` is what a preview is to take the place of, which may be nothing; None for what is no preview."""
        self.forget_last(client)
        if program.size > MAX_PROGRAM_SIZE:
            return
        key = (client, program_name(program.text))
        with self._lock:
            if (earlier := self._programs.pop(key, None)) is not None:
                self._size -= earlier.size
            self._programs[key] = program
            self.sent_last.add(client)
            if previewed is not None:
                self.previewed[client] = previewed
            self._size += program.size
            while self._size > self._most:
                (owner, _), oldest = self._programs.popitem(last=False)
                self._size -= oldest.size
                if all(one != owner for one, _ in self._programs):
                    self.forget_last(owner)

    def forget_last(self, client: str) -> None:
        """The last document of this client is no program, or none that is remembered."""
        self.sent_last.discard(client)
        self.previewed.pop(client, None)

    def find(self, client: str, of: str, at: str = AT) -> SentProgram:
        """Raises Refusal where this client sent no such program."""
        with self._lock:
            own = {name: program for (owner, name), program in self._programs.items() if owner == client}
        if of == LAST and own:
            return next(reversed(own.values()))
        if of in own:
            return own[of]
        message = f"no program '{of[:40]}' is remembered of this session"
        named = ", ".join([LAST, *list(own)[::-1][:MAX_LISTED_LINES]])
        if own:
            cure = f"Remembered are: {named}."
        else:
            cure = "Give the whole program."
        raise Refusal([Finding(Fault.TARGET_NOT_FOUND, message, f"{at}/of", cure)])


def edited(
    programs: SentPrograms, client: str, document: Mapping[str, Any], params: Mapping[str, Any] | None, at: str = AT
) -> EditedProgram:
    """A program that was sent before, with other texts in it and other params. Raises Refusal with every replacement that does not fit;
    `at` is where the edit stands in the arguments."""
    edit, problems = CHECKER.validate(dict(document))
    if problems or not isinstance(edit, ProgramEdit):
        raise Refusal([finding.under(at) for finding in problems])
    program = programs.find(client, edit.of, at)
    text = program.text
    findings: list[Finding] = []
    for number, one in enumerate(edit.replace):
        if text.count(one.old) == 1:
            text = text.replace(one.old, one.new)
        else:
            findings.append(_misfit(text, one.old, f"{at}/replace/{number}/old"))
    if findings:
        raise Refusal(findings)
    return EditedProgram(text, params_in_force(program.params, params), program.text)


def _misfit(text: str, old: str, at: str) -> Finding:
    places = [text.count("\n", 0, place) + 1 for place in _places(text, old)]
    if not places:
        return Finding(Fault.ARGS_INVALID, "the program has no such text", at, _nearest(text, old))
    lines = ", ".join(map(str, places[:MAX_LISTED_LINES])) + (" …" if len(places) > MAX_LISTED_LINES else "")
    message = f"it occurs {len(places)} times in the program, in lines {lines}"
    return Finding(Fault.ARGS_INVALID, message, at, "Give more of what stands around it, so that it occurs once.")


def _places(text: str, old: str) -> list[int]:
    places: list[int] = []
    place = text.find(old)
    while place >= 0:
        places.append(place)
        place = text.find(old, place + len(old))
    return places


def _nearest(text: str, old: str) -> str:
    """The line that has most of its first line in one piece."""
    wanted = old.strip().split("\n")[0][:MAX_SHOWN_CHARACTERS]
    best, number, near = 0, 0, ""
    for at, line in enumerate(text.split("\n")[:MAX_COMPARED_LINES], 1):
        shown = line.strip()[:MAX_SHOWN_CHARACTERS]
        alike = difflib.SequenceMatcher(None, wanted, shown, autojunk=False).find_longest_match().size
        if alike > best:
            best, number, near = alike, at, shown
    if 2 * best < len(wanted) or not near:
        return "Give it as it stands in the program."
    return f"Line {number} is near: {near}"
