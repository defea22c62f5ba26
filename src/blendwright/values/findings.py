"""Findings: a problem, its location and its fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from blendwright.values.faults import Fault

# Findings of one refusal, so that a hostile document cannot make it endless.
MOST_FINDINGS = 100
# Characters of a caller's id or name in a message; some contracts set no length.
MAX_SHOWN_CHARACTERS = 100
# Messages, and characters of them, in the sentence that summarises several findings.
MAX_JOINED_MESSAGES = 20
MAX_SENTENCE_CHARACTERS = 4000
# Characters of a name that Blendwright compares with others. The cost grows with the square of the length.
LONGEST_COMPARED = 100


# Fields of a finding that its JSON form leaves out if they are None.
OPTIONAL_FIELDS = ("rule", "expected", "actual", "place")


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem, its location and its fix.

    `pointer` is a JSON pointer into the checked document (for a call: its arguments).

    `rule` names the broken rule more precisely than the fault: a rule of a contract or policy (see policy/refusals.py),
    or a gate of a node tree. `expected` and `actual` hold two values that should be equal. `place` is the location in a
    program as `file:line:column`.
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
        """Return the finding with its pointer in a document that contains this one at `base`."""
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
        for name in OPTIONAL_FIELDS:
            value = getattr(self, name)
            if value is not None:
                document[name] = value
        return document

    @property
    def where(self) -> str:
        """The location in the program, or else in the document; empty for the whole document."""
        return self.place or self.pointer

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Finding:
        return cls(Fault(data["code"]), data["message"], data["pointer"], data["cure"], *map(data.get, OPTIONAL_FIELDS))


def pointer_of(parts: Iterable[str | int]) -> str:
    """Return the RFC 6901 pointer of a path."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def cut(text: str) -> str:
    """Return a caller's id or name, shortened for a message."""
    if len(text) <= MAX_SHOWN_CHARACTERS:
        return text
    return text[: MAX_SHOWN_CHARACTERS - 1] + "…"


def sentence(findings: Iterable[Finding]) -> str:
    """Return the distinct messages of the findings as one line of limited length."""
    messages = list(dict.fromkeys(finding.message for finding in findings))
    joined = "; ".join(messages[:MAX_JOINED_MESSAGES])
    if len(joined) > MAX_SENTENCE_CHARACTERS:
        joined = joined[: MAX_SENTENCE_CHARACTERS - 1] + "…"
    omitted = len(messages) - MAX_JOINED_MESSAGES
    if omitted > 0:
        return f"{joined}; and {omitted} more"
    return joined


def did_you_mean(name_given: str, candidates: Iterable[str], *, otherwise: str) -> str:
    """Return a fix that names the most similar candidates, or `otherwise` if none is similar."""
    if len(name_given) > LONGEST_COMPARED:
        return otherwise
    by_fold = {name.casefold(): name for name in candidates if len(name) <= LONGEST_COMPARED}
    import difflib

    near = difflib.get_close_matches(name_given.casefold(), by_fold, n=3, cutoff=0.6)
    if not near:
        return otherwise
    return "Did you mean " + " or ".join(f"'{by_fold[name]}'" for name in near) + "?"
