"""Authors of commits, as the journal knows them: from contract, request and approval."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from blendwright.journal import JournalView
from blendwright.records.commits import Commit

By = Literal["model", "person", "code", "file"]


@dataclass(frozen=True, slots=True)
class Who:
    """The author of a commit: a model, a person, a program that uses the Python API, or an adopted file.

    A model is the planner or the host that sent the plan. A person works at the command line or in a window. `asked`
    are the words of the request to a planner, `program` is the hash of the plan's program, and `approved_by` says how
    a person approved.
    """

    by: By
    host: str | None = None
    transport: str | None = None
    model: str | None = None
    asked: str | None = None
    program: str | None = None
    approved_by: str | None = None


def commit_authors(journal: JournalView) -> Callable[[Commit], Who]:
    """Return a function that names the author of a commit. It reads each request and each contract once."""
    return _Authors(journal).who


class _Authors:
    def __init__(self, journal: JournalView) -> None:
        self._journal = journal
        self._host: Callable[[str], Mapping[str, Any]] = cache(self._read_host)
        self._request: Callable[[str], tuple[str | None, str | None, str | None]] = cache(self._read_request)

    def who(self, commit: Commit) -> Who:
        if commit.kind != "operation":
            if commit.kind == "adopt" and "window" in commit.args:
                return Who("person", transport="window")
            return Who("file")
        host = self._host(str(commit.receipt.get("contract") or ""))
        model, asked, program = self._request(commit.request_id)
        name, transport = host.get("name"), host.get("transport")
        by: By
        if transport == "command_line":
            by = "person"
        else:
            by = "code"
        if model is not None or transport in ("stdio", "http"):
            by = "model"
        return Who(by, name, transport, model, asked, program, self._approved_by(commit))

    def _read_host(self, contract: str) -> Mapping[str, Any]:
        contract_document = self._journal.contracts.read(contract)
        if contract_document is None:
            return {}
        return contract_document["host"]

    def _read_request(self, request_id: str) -> tuple[str | None, str | None, str | None]:
        attempts = self._journal.attempts.of_request(request_id)
        programs = self._journal.programs.of_request(request_id)
        model = asked = program = None
        if attempts:
            model, asked = attempts[-1].model, attempts[-1].asked
        if programs:
            program = programs[-1].hash
        return model, asked, program

    def _approved_by(self, commit: Commit) -> str | None:
        if commit.receipt.get("approval") is None:
            return None
        records = self._journal.audit.records(after=commit.audit_sequence - 1, limit=1)
        if records:
            return records[0].record.get("approval_by")
        return None
