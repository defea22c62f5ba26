"""The status of an attached core as plain data for the panel, and the user's answers to approvals. This module does not use bpy."""

from dataclasses import dataclass, field
from time import time
from typing import Any, cast

from blendwright.util.invisible_text import escape_invisible

# The numbers of plans, approvals and fields that are kept of a message; more than the panel can show.
MAX_PLANS = 8
MAX_APPROVALS = 8
MAX_FIELDS = 8
# The longest text in characters, so that drawing stays fast whatever a core sends. The panel shows less of a question, and
# therefore notices when it cannot show all of it.
MAX_TEXT_CHARACTERS = 4000
MAX_LINE_CHARACTERS = 200
UNFINISHED = "not finished"


@dataclass
class Status:
    """The status of a core. `window.show` writes it, and the panel reads it."""

    plans: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    running: dict[str, Any] | None = None
    approvals: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    core: dict[str, Any] = field(default_factory=dict[str, Any])
    turn: str | None = None
    """The label of the plan that has the turn."""
    _answers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def show(self, params: dict[str, Any]) -> dict[str, Any]:
        """Store the status that a core sent, and return the user's answers since the last call."""
        self.plans = [_bounded(plan) for plan in _dicts(params.get("plans"))[:MAX_PLANS]]
        self.approvals = [_bounded(approval) for approval in _dicts(params.get("approvals"))[:MAX_APPROVALS]]
        running, core = params.get("running"), params.get("core")
        if isinstance(running, dict):
            self.running = _bounded(cast("Any", running))
        else:
            self.running = None
        if isinstance(core, dict):
            self.core = _bounded(cast("Any", core))

        answers = {"answers": self._answers}
        self._answers = []
        return answers

    def answer(self, approval: str, answer: str) -> None:
        """Record that the user approves or declines, replacing an earlier answer, and hide the approval from the panel."""
        self._answers = [earlier for earlier in self._answers if earlier["id"] != approval]
        self._answers.append({"id": approval, "answer": answer})
        self.approvals = [shown for shown in self.approvals if shown.get("id") != approval]

    def note_unfinished(self) -> None:
        """Add the plan that has the turn to the list as not finished, because the lost core cannot report it any more."""
        self.plans.insert(0, {"label": str(self.turn), "state": UNFINISHED, "time": time()})

    def activity(self) -> str:
        """Return a line about the running plan; an empty string if none runs."""
        return progress({"label": self.turn, **(self.running or {})})


def progress(running: dict[str, Any]) -> str:
    """Return a line with the label, count and operation of a running plan. Unknown parts are omitted."""
    done, total = running.get("done"), running.get("total")
    count = ""
    if isinstance(done, int) and isinstance(total, int) and total:
        count = f"{done} of {total}"
    parts = (running.get("label"), count, running.get("operation"))
    return ", ".join(one_line(part) for part in parts if part)


def one_line(value: object, longest: int = MAX_LINE_CHARACTERS) -> str:
    """Return a text from a core as one line of at most `longest` characters, with invisible characters escaped."""
    # Cut before escaping, since escaping a long text takes time.
    return escape_invisible(" ".join(str(value)[: 4 * longest].split()))[:longest]


def _bounded(message: Any) -> dict[str, Any]:
    """Return the first few fields of a message that are texts or numbers, with texts cut to the limit."""
    fields: dict[str, Any] = {}
    for name, value in list(cast("dict[str, Any]", message).items())[:MAX_FIELDS]:
        if isinstance(value, str):
            fields[name] = value[:MAX_TEXT_CHARACTERS]
        elif isinstance(value, int | float):
            fields[name] = value
    return fields


def _dicts(value: object) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [item for item in cast("list[Any]", value) if isinstance(item, dict)]
