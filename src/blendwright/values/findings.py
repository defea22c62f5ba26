"""A finding: one thing that is wrong, where, and how to cure it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from blendwright.values.faults import Fault

# A refusal lists everything, but a hostile document must not become an endless one.
MOST_FINDINGS = 100
# How much of an id or a name of the caller's is worth repeating: some contracts set no length.
SHOWN = 100
# How much of all messages together is worth saying in one sentence; the findings have the rest.
MOST_SAID = 20
LONGEST_SENTENCE = 4000
# Longer words are no names, and comparing them costs the square of their length.
LONGEST_COMPARED = 100


@dataclass(frozen=True, slots=True)
class Finding:
    """`pointer` is a JSON pointer into the document that was checked (for a call: its arguments).

    `rule` names what was not met more finely than the fault does, where a contract or policy refuses (see
    policy/refusals.py) or a gate of a node tree is not passed. Where one value was to equal another, `expected` is what it should
    be and `actual` what it is. `place` is where in a program it stands, as `file:line:column`.
    """

    fault: Fault
    message: str
    pointer: str = ""
    cure: str | None = None
    rule: str | None = None
    expected: str | None = None
    actual: str | None = None
    place: str | None = None

    def under(self, base: str) -> Finding:
        """The same finding, seen from a document that holds this one at `base`."""
        return Finding(
            self.fault, self.message, base + self.pointer, self.cure, self.rule, self.expected, self.actual, self.place
        )

    def to_json(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "code": self.fault.value,
            "pointer": self.pointer,
            "message": self.message,
            "cure": self.cure,
        }
        more = {"rule": self.rule, "expected": self.expected, "actual": self.actual, "place": self.place}
        return document | {name: value for name, value in more.items() if value is not None}

    @property
    def where(self) -> str:
        """Its place in the program, else in the document; nothing where it is about the whole."""
        return self.place or self.pointer

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finding:
        more = (data.get(name) for name in ("rule", "expected", "actual", "place"))
        return cls(Fault(data["code"]), data["message"], data["pointer"], data["cure"], *more)


def pointer_of(parts: Iterable[str | int]) -> str:
    """The RFC 6901 pointer of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def cut(text: str) -> str:
    """A caller's id or name, as a message repeats it."""
    if len(text) <= SHOWN:
        return text
    return text[: SHOWN - 1] + "…"


def sentence(findings: Iterable[Finding]) -> str:
    """What findings say, each message once, as one line of bounded length."""
    messages = list(dict.fromkeys(finding.message for finding in findings))
    joined = "; ".join(messages[:MOST_SAID])
    if len(joined) > LONGEST_SENTENCE:
        joined = joined[: LONGEST_SENTENCE - 1] + "…"
    more = len(messages) - MOST_SAID
    if more > 0:
        return f"{joined}; and {more} more"
    return joined


def did_you_mean(name_given: str, candidates: Iterable[str], *, otherwise: str) -> str:
    """A cure that names the nearest known words, or `otherwise` when none is near."""
    if len(name_given) > LONGEST_COMPARED:
        return otherwise
    by_fold = {name.casefold(): name for name in candidates if len(name) <= LONGEST_COMPARED}
    import difflib

    near = difflib.get_close_matches(name_given.casefold(), by_fold, n=3, cutoff=0.6)
    if not near:
        return otherwise
    return "Did you mean " + " or ".join(f"'{by_fold[name]}'" for name in near) + "?"
