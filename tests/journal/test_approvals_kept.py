"""What the journal keeps of sessions and approvals: contracts once, questions until they are answered, answers until they are used."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from blendwright.journal import Journal, JournalView, approvals
from blendwright.journal.audit.log import AuditAppender
from blendwright.values.approval import Approval, ApprovalAnswer, ApprovalRequest, operation_hash
from blendwright.values.errors import EnvironmentUnfit, JournalError, Refusal
from journal.ledger import baseline, chain


def request(id: str, operation: str = "hash", seconds: float = 60) -> ApprovalRequest:
    return ApprovalRequest(
        id,
        operation,
        "r",
        "op",
        "object.delete",
        "destructive",
        "object.delete Box",
        ("a rule",),
        time.time() + seconds,
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


def test_a_question_is_answered_while_another_process_would_hold_the_workspace(workspace: Path) -> None:
    journal = Journal(workspace)
    journal.approvals.ask([request("one")])
    fence = journal.fence
    approvals.answer(workspace, "one", ApprovalAnswer.APPROVED, "terminal 2")
    assert journal.fence == fence
    assert journal.approvals.use("hash") == Approval("one", ApprovalAnswer.APPROVED, "terminal 2")
    assert journal.approvals.use("hash") is None, "once"
    journal.close()


def test_an_answer_counts_for_its_operation_only(workspace: Path) -> None:
    journal = Journal(workspace)
    journal.approvals.ask([request("one")])
    approvals.answer(workspace, "one", ApprovalAnswer.APPROVED, "t")
    assert journal.approvals.use("other") is None
    assert journal.approvals.use("hash") is not None
    journal.close()


@pytest.mark.parametrize("given", [ApprovalAnswer.APPROVED, ApprovalAnswer.DECLINED])
def test_an_answer_on_the_spot_is_spent_by_being_kept(workspace: Path, given: ApprovalAnswer) -> None:
    journal = Journal(workspace)
    journal.approvals.record([(request("one"), Approval("one", given, "terminal"))])
    assert journal.approvals.use("hash") is None
    (kept,) = journal.approvals.listed("hash")
    assert (kept.state, kept.given_by) == ("used" if given is ApprovalAnswer.APPROVED else "declined", "terminal")
    journal.close()


def test_a_declined_or_expired_answer_is_no_approval(workspace: Path) -> None:
    journal = Journal(workspace)
    journal.approvals.ask([request("no"), request("late", "other", seconds=-1)])
    approvals.answer(workspace, "no", ApprovalAnswer.DECLINED, "t")
    with pytest.raises(Refusal, match="expired"):
        approvals.answer(workspace, "late", ApprovalAnswer.APPROVED, "t")
    assert journal.approvals.use("hash") is None and journal.approvals.use("other") is None
    journal.close()


def test_a_no_from_elsewhere_is_in_the_audit_and_the_holder_goes_on_behind_it(workspace: Path) -> None:
    journal = Journal(workspace)
    journal.commit([baseline()])
    journal.approvals.ask([request("no"), request("yes", "other")])
    approvals.answer(workspace, "yes", ApprovalAnswer.APPROVED, "console 1")
    assert journal.audit.head.sequence == 1, "a yes is recorded with the operation that uses it"
    approvals.answer(workspace, "no", ApprovalAnswer.DECLINED, "console 1")
    with pytest.raises(Refusal, match="already declined"):
        approvals.answer(workspace, "no", ApprovalAnswer.DECLINED, "console 1")
    journal.commit(chain(["a"]))
    [begun, declined, done] = [one.record for one in journal.audit.records()]
    said = ("approval_id", "approval_answer", "approval_by", "tool_name", "operation_id", "status", "error_code")
    expected = ["no", "declined", "console 1", "object.delete", "op", "failed", "POLICY_BLOCKED"]
    assert [declined[name] for name in said] == expected
    assert declined["scene_hash_before"] == declined["scene_hash_after"] == begun["scene_hash_after"]
    assert done["operation_id"] == "a"
    assert journal.audit.verify().ok
    journal.close()
    Journal(workspace).close()


def test_a_no_that_is_cut_off_is_no_answer(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both or neither: the answer and its record."""
    journal = Journal(workspace)
    journal.commit([baseline()])
    journal.approvals.ask([request("no")])

    def fail(_: AuditAppender) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(AuditAppender, "flush", fail)
    with pytest.raises(ZeroDivisionError):
        approvals.answer(workspace, "no", ApprovalAnswer.DECLINED, "t")
    assert [one.state for one in journal.approvals.listed("hash")] == ["pending"]
    assert journal.audit.head.sequence == 1
    journal.close()


def test_an_approval_that_was_given_expires_too(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    journal = Journal(workspace)
    journal.approvals.ask([request("one")])
    approvals.answer(workspace, "one", ApprovalAnswer.APPROVED, "t")
    later = time.time() + 61
    monkeypatch.setattr(time, "time", lambda: later)
    assert journal.approvals.use("hash") is None
    journal.close()


def test_an_answer_cannot_be_changed_or_given_to_nothing(workspace: Path) -> None:
    journal = Journal(workspace)
    journal.approvals.ask([request("one")])
    approvals.answer(workspace, "one", ApprovalAnswer.DECLINED, "t")
    with pytest.raises(Refusal, match="already declined"):
        approvals.answer(workspace, "one", ApprovalAnswer.APPROVED, "t")
    with pytest.raises(Refusal, match="no approval two"):
        approvals.answer(workspace, "two", ApprovalAnswer.APPROVED, "t")
    journal.close()


def test_nothing_is_started_by_answering(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentUnfit):
        approvals.answer(tmp_path / "nowhere", "one", ApprovalAnswer.APPROVED, "t")
    assert not (tmp_path / "nowhere").exists()


def test_a_question_that_waits_is_not_kept_twice_and_all_that_wait_are_listed(workspace: Path) -> None:
    journal = Journal(workspace)
    assert journal.approvals.ask([request("one"), request("two", "other")]) == ("one", "two")
    assert journal.approvals.ask([request("three")]) == ("one",)
    view = JournalView(workspace)
    assert [kept.request.id for kept in view.approvals.listed()] == ["one", "two"]
    assert view.approvals.listed()[0].request.why == ("a rule",)
    view.close()
    journal.close()


def test_only_the_holder_of_the_workspace_uses_an_approval(workspace: Path) -> None:
    first = Journal(workspace)
    first.approvals.ask([request("one")])
    approvals.answer(workspace, "one", ApprovalAnswer.APPROVED, "t")
    store: Any = apsw.Connection(str(workspace / "journal.db"))
    store.execute("UPDATE state SET fence = fence + 1")
    store.close()
    with pytest.raises(JournalError, match="no longer holds"):
        first.approvals.use("hash")
    first.close()


def test_whatever_of_an_operation_changes_changes_its_hash() -> None:
    hashes = {
        operation_hash("a", 1, {"name": "x"}, key="k", baseline="s"),
        operation_hash("b", 1, {"name": "x"}, key="k", baseline="s"),
        operation_hash("a", 2, {"name": "x"}, key="k", baseline="s"),
        operation_hash("a", 1, {"name": "y"}, key="k", baseline="s"),
        operation_hash("a", 1, {"name": "x"}, key=None, baseline="s"),
        operation_hash("a", 1, {"name": "x"}, key="k", baseline="t"),
        operation_hash("a", 1, {"name": "x"}, key="k", baseline="s", after="b"),
    }
    assert len(hashes) == 7
    assert operation_hash("a", 1, {"name": "x"}, key="k", baseline="s") in hashes


def test_a_contract_is_kept_once_and_found_by_session_and_fingerprint(workspace: Path) -> None:
    journal = Journal(workspace)
    journal.contracts.keep("one", "print", {"terms": 1})
    journal.contracts.keep("two", "print", {"terms": 1})
    assert journal.contracts.read("print") == {"terms": 1}
    assert journal.contracts.of_session("one") == journal.contracts.of_session("two") == "print"
    assert journal.contracts.read("other") is None and journal.contracts.of_session("three") is None
    journal.close()
    store: Any = apsw.Connection(str(workspace / "journal.db"))
    with pytest.raises(apsw.ConstraintError, match="never change"):
        store.execute("UPDATE contracts SET contract = '{}'")
    store.close()
