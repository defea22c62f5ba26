"""What the panel shows of an attached core, as plain data, and what the person has pressed. Without bpy."""

from dataclasses import dataclass, field
from time import time
from typing import Any, cast

from blendwright.util.invisible_text import escape_invisible

# More than a panel has room for.
MOST_PLANS = 8
MOST_APPROVALS = 8
# Drawing must stay quick, whatever a core sends; more than the panel shows of a question, so that it knows what is not whole.
LONGEST_TEXT = 4000
LONGEST_LINE = 200
UNFINISHED = "not finished"


@dataclass
class Status:
    """The panel reads it, `window.show` writes it."""

    plans: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    running: dict[str, Any] | None = None
    approvals: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    core: dict[str, Any] = field(default_factory=dict[str, Any])
    turn: str | None = None
    """The label of the plan whose turn it is."""
    _answers: list[dict[str, str]] = field(default_factory=list[dict[str, str]])

    def show(self, params: dict[str, Any]) -> dict[str, Any]:
        """Take over what is to be shown; return what was pressed since the last time."""
        self.plans = [_bounded(plan) for plan in _dicts(params.get("plans"))[:MOST_PLANS]]
        self.approvals = [_bounded(asked) for asked in _dicts(params.get("approvals"))[:MOST_APPROVALS]]
        running, core = params.get("running"), params.get("core")
        if isinstance(running, dict):
            self.running = _bounded(cast("Any", running))
        else:
            self.running = None
        if isinstance(core, dict):
            self.core = _bounded(cast("Any", core))
        pressed = {"answers": self._answers}
        self._answers = []
        return pressed

    def answer(self, approval: str, answer: str) -> None:
        """The person approves or declines; what was answered is shown no longer. The last answer counts."""
        self._answers = [given for given in self._answers if given["id"] != approval]
        self._answers.append({"id": approval, "answer": answer})
        self.approvals = [asked for asked in self.approvals if asked.get("id") != approval]

    def note_unfinished(self) -> None:
        """The core was lost in the middle of the plan whose turn it is: nobody else will say so."""
        self.plans.insert(0, {"label": str(self.turn), "state": UNFINISHED, "time": time()})

    def activity(self) -> str:
        """What is going on, in one line; "" when nothing is."""
        return progress({"label": self.turn, **(self.running or {})})


def progress(running: dict[str, Any]) -> str:
    """How far a plan is, in one line: as many parts of it as are known."""
    done, total = running.get("done"), running.get("total")
    if isinstance(done, int) and isinstance(total, int) and total:
        count = f"{done} of {total}"
    else:
        count = ""
    words = (running.get("label"), count, running.get("operation"))
    return ", ".join(one_line(part) for part in words if part)


def one_line(value: object, longest: int = LONGEST_LINE) -> str:
    """A text of a core where Blender has room for one line: every sign can be seen, and there is an end to them."""
    # Cut first: escaping takes its time.
    return escape_invisible(" ".join(str(value)[: 4 * longest].split()))[:longest]


def _bounded(shown: Any) -> dict[str, Any]:
    """Texts and numbers of a few names, none without end."""
    return {
        name: value[:LONGEST_TEXT] if isinstance(value, str) else value
        for name, value in list(cast("dict[str, Any]", shown).items())[:MOST_PLANS]
        if isinstance(value, str | int | float)
    }


def _dicts(value: object) -> list[dict[str, Any]]:
    if isinstance(value, list):
        items = cast("list[Any]", value)
    else:
        items = []
    return [item for item in items if isinstance(item, dict)]
