"""A scenario: what the service is asked in turn, and what it answers. Read from JSON files or made by tests.

    {"key": "…", "canaries": ["…"], "turns": [
        {"expect": {"mentions": ["…"], "lacks": ["…"], "shape": "strict", "turns": 1, "stream": false},
         "answer": {"plan": {…}}}]}

Answers: `plan` (a document, packed where the received schema asks for it), `text`, `call` (of the function whose name ends so),
`error`, `blocked`, `silence` (nothing, until the client has gone), `torn` (the connection ends in the middle), `page` (what a
proxy would say). Beside them: `finish`, `usage`, `thoughts`. `when` picks a turn out of order, by a word of the request; `repeat`
keeps it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

KEY = "test-key-7f3a9c"


@dataclass(frozen=True)
class TurnScript:
    answer: Mapping[str, Any]
    expect: Mapping[str, Any] = field(default_factory=dict[str, Any])
    when: str | None = None
    repeat: bool = False


@dataclass(frozen=True)
class Scenario:
    turns: tuple[TurnScript, ...]
    key: str = KEY
    canaries: tuple[str, ...] = ()

    @classmethod
    def of(cls, *answers: Mapping[str, Any], canaries: tuple[str, ...] = ()) -> Scenario:
        """Answers in turn, each alone or as {"expect": …, "answer": …}."""
        return cls.read({"turns": list(answers), "canaries": list(canaries)})

    @classmethod
    def read(cls, source: Path | Mapping[str, Any]) -> Scenario:
        document = cast(
            "Mapping[str, Any]", json.loads(source.read_text("utf-8")) if isinstance(source, Path) else source
        )
        turns = tuple(
            TurnScript(**turn) if "answer" in turn else TurnScript(turn)
            for turn in cast("list[dict[str, Any]]", document["turns"])
        )
        return cls(turns, document.get("key", KEY), tuple(document.get("canaries", ())))
