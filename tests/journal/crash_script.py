"""A session that reaches every crash point, told step by step to whoever listens, and that goes on from wherever an earlier one was killed.

Run as a program it is a server: for every line `POINT:N WORKSPACE` it forks a child that is killed at that point.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from blendwright.engine.invocation import new_id
from blendwright.journal import Journal, approvals
from blendwright.records.branches import Merge, SwitchTo
from blendwright.records.commits import OperationMatch
from blendwright.records.recovery import NewIntent
from blendwright.util import crash_points
from blendwright.values.approval import ApprovalAnswer, ApprovalRequest
from journal.ledger import audit, baseline, chain, key_of, operation, saved, wanted

Tell = Callable[[str], None]


def play(workspace: Path, tell: Tell) -> None:
    """Everything a workspace lives through. `tell` is called after a call has returned: that is what may not be lost."""
    workspace.mkdir(exist_ok=True, parents=True)
    scenes = workspace / "scenes"
    scenes.mkdir(exist_ok=True)
    journal = Journal(workspace, recovering=True)
    mend(journal, tell)
    journal.contracts.keep("session", "fingerprint", {"terms": 1})
    work(journal, scenes, tell)
    _ask(journal, workspace)
    journal.close()

    (workspace / "checkpoints" / "9-9-0123abcd.part").write_bytes(b"half")
    (workspace / "checkpoints" / f"{0:064}.blend").write_bytes(b"never named by a row")
    journal = Journal(workspace, recovering=True)
    mend(journal, tell)
    journal.checkpoints.collect_garbage(redo_budget=1000)
    tell("gc")
    journal.close()


def mend(journal: Journal, tell: Tell) -> None:
    """What a recovering executor does first."""
    info = journal.recovery.info()
    if info.boundary is not None and journal.roll_back(info.boundary.id).numbers:
        tell("rolled_back d1 d2")
    for intent in info.indeterminate:
        journal.recovery.resolve_intent(intent.id, "looked: it did not happen")
    if info.quarantine is not None:
        journal.recovery.end_quarantine("trial")
    if (target := journal.redo_target()) is not None:
        journal.move_head("redo", target)
        tell(f"head {target}")


def work(journal: Journal, scenes: Path, tell: Tell) -> None:
    if journal.head is None:
        journal.commit([baseline()])
        tell("head 1")
    _commit_some(journal, scenes, tell)
    _plans_that_are_whole_or_not(journal, tell)
    head = journal.head
    assert head is not None
    if journal.moves(limit=1)[0].kind == "commit":
        undone = head.parent
        assert undone is not None
        journal.move_head("undo", undone)
        tell(f"head {undone}")
        journal.move_head("redo", head.number)
        tell(f"head {head.number}")
    journal.checkpoints.add(journal.checkpoints.stage(saved(scenes, "late"), head.hash_after), head.number)
    tell("checkpoint late")
    journal.branches.set_tag("here", head.number)
    tell("tag here")
    _branch_off(journal, tell)
    journal.recovery.begin_quarantine("trial", expected="a", found="b")
    journal.recovery.end_quarantine("trial")
    journal.recovery.begin_intent(NewIntent(key_of("r", "ghost"), "r", "ghost", "file.export", "writes a file"))
    tell("intent ghost")


def _branch_off(journal: Journal, tell: Tell) -> None:
    """A branch of its own for one commit, back on main, and the branch given up; begun anew where an earlier one was killed."""
    head = journal.head
    assert head is not None
    names = [branch.name for branch in journal.branches.listed()]
    if journal.branches.current() == "side":
        main = next(branch.commit for branch in journal.branches.listed() if branch.name == "main")
        assert main is not None
        journal.move_head("checkout", main, SwitchTo("main"))
    if "side" in names:
        journal.branches.delete("side")
        tell("no branch side")
    main = journal.head
    assert main is not None
    journal.branches.create("side", main.number)
    tell("branch side")
    journal.branches.record_merge(Merge(new_id(), "side", 1, main.number, main.number))
    journal.move_head("checkout", main.number, SwitchTo("side"))
    journal.commit([operation(new_id(), main.hash_after, "scene-side")])
    tell("side goes on")
    journal.move_head("checkout", main.number, SwitchTo("main"))
    tell("on main")
    journal.move_head("checkout", 1, SwitchTo(None))
    journal.move_head("checkout", main.number, SwitchTo("main"))


def _ask(journal: Journal, workspace: Path) -> None:
    """A question, answered from elsewhere, and used."""
    asked = ApprovalRequest(new_id(), "hash", "r", "d", "object.delete", "destructive", "what", ("why",), 1e12)
    (id,) = journal.approvals.ask([asked])
    approvals.answer(workspace, id, ApprovalAnswer.APPROVED, "trial")
    assert journal.approvals.use("hash") is not None
    while journal.approvals.use("hash") is not None:
        pass  # given before an earlier one was killed


def _find(journal: Journal, name: str) -> OperationMatch:
    return journal.find_many([wanted(name)])[0]


def _scene(journal: Journal) -> str:
    head = journal.head
    assert head is not None
    return head.hash_after


def _commit_some(journal: Journal, scenes: Path, tell: Tell) -> None:
    if _find(journal, "a1").where == "nowhere":
        journal.commit(
            [*chain(["a1", "a2", "a3", "a4"], _scene(journal)), audit("skipped", "skipped_idempotent", "x", "x")]
        )
        tell("committed a1 a2 a3 a4")
    if _find(journal, "b").where == "nowhere":
        staged = journal.checkpoints.stage(saved(scenes, "b"), "scene-b")
        journal.commit([operation("b", _scene(journal), "scene-b", replayable=False, checkpoint=staged)])
        tell("committed b")
        tell("checkpoint b")
    if _find(journal, "c").where == "nowhere":
        intent = journal.recovery.begin_intent(NewIntent(key_of("r", "c"), "r", "c", "file.export", "writes a file"))
        journal.commit([operation("c", _scene(journal), "scene-c", settles=intent)])
        tell("committed c")


def _plans_that_are_whole_or_not(journal: Journal, tell: Tell) -> None:
    if _find(journal, "d1").where == "nowhere":
        boundary = journal.recovery.begin_boundary("r")
        journal.commit(chain(["d1", "d2"], _scene(journal)))
        journal.roll_back(boundary, [audit("d3", "failed", "scene-d2", None)])
        tell("rolled_back d1 d2")
    if _find(journal, "e1").where in ("nowhere", "rolled_back"):
        boundary = journal.recovery.begin_boundary("r")
        journal.commit(chain(["e1"], _scene(journal)), keeps=boundary)
        tell("committed e1")


def serve() -> None:
    for line in sys.stdin:
        point, directory = line.split()
        child = os.fork()
        if child == 0:
            crash_points.arm(point)
            _play_aloud(Path(directory))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        os.write(1, f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _play_aloud(workspace: Path) -> None:
    told = os.open(workspace.with_suffix(".told"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def tell(fact: str) -> None:
        os.write(told, f"{fact}\n".encode())

    play(workspace, tell)


if __name__ == "__main__":
    serve()
