"""Bugs that could be written into the engine, each with the tests that must catch it. `test_seeded_bugs.py` plants them one by one.

A bug is a function that takes the right function and returns the wrong one. Its parameters have the names of the right one's, so
that a changed signature is noticed; `self` is untyped, since a bug may touch what is private. Nothing of the engine is imported here
at the top: a process that is to have a bug reads this file before it loads the engine.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from planting import Bug, Function
from wrong_functions import answering, changing, omitted

# ---------------------------------------------------------------------- the run layer


def acknowledges_before_the_commit(receive: Function) -> Function:
    def wrong(self: Any) -> None:
        receive(self)
        for outcome in self._answered[-1:]:
            if outcome.ok:
                receipt = outcome.entry.receipt
                self._state.record(self._state.succeeded(outcome.call, outcome.answer, None, receipt, None))

    return wrong


def takes_no_commit_for_an_answer(classify: Function) -> Function:
    def wrong(journal: Any, calls: Sequence[Any], *, strict: bool = False) -> Any:
        right = classify(journal, calls, strict=strict)
        readings = [answer for answer in right.cached if answer[2] is None]
        settled = {call.operation_id for call, *_ in [*readings, *right.conflicts]}
        return type(right)(readings, right.conflicts, [call for call in calls if call.operation_id not in settled])

    return wrong


def overlooks_other_arguments(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, taken_back_by: int | None) -> Any:
        return conflict(call, match._replace(clash=None), taken_back_by)

    return wrong


def overlooks_intents(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, taken_back_by: int | None) -> Any:
        return conflict(call, match._replace(intent=None), taken_back_by)

    return wrong


def overlooks_other_lines(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, taken_back_by: int | None) -> Any:
        seen = match._replace(where="nowhere") if match.where == "elsewhere" else match
        return conflict(call, seen, taken_back_by)

    return wrong


def overlooks_adoptions(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, taken_back_by: int | None) -> Any:
        seen = match._replace(where="nowhere") if match.where == "before_adopt" else match
        return conflict(call, seen, taken_back_by)

    return wrong


def redoes_what_changed_nothing(step_of: Function) -> Function:
    def wrong(commit: Any) -> Any:
        return step_of(commit)._replace(hash_before="another scene")

    return wrong


def accepts_any_scene(saved_head: Function) -> Function:
    def wrong(self: Any, deadline: float) -> Any:
        from blendwright.run import live_scene

        save: Any = vars(live_scene)["_save"]
        return save(self.worker(), deadline)[1]

    return wrong


def forgets_the_window(recall: Function) -> Function:
    def wrong(self: Any) -> None:
        self._window.clear()

    return wrong


def holds_nothing_back(record: Function) -> Function:
    def wrong(self: Any, report: Any) -> None:
        self.release()
        record(self, report)

    return wrong


def keeps_instead(roll_back: Function) -> Function:
    def wrong(self: Any, boundary: int, failed: Sequence[Any] = ()) -> Any:
        return self.commit(failed, keeps=boundary)

    return wrong


def moves_head_first(rebuild_commit: Function) -> Function:
    def wrong(worker: Any, journal: Any, number: int) -> Any:
        journal.move_head("checkout", number)
        return rebuild_commit(worker, journal, number)

    return wrong


def takes_a_worker_at_once(window_worker: Function) -> Function:
    def wrong(self: Any) -> Any:
        if not self._window:
            self._worker = self._scene.worker()
        return self._worker

    return wrong


def overlooks_where_head_is(lookup: Function) -> Function:
    def wrong(self: Any, journal: Any, calls: Sequence[Any]) -> Any:
        self._head = journal.head.number
        return lookup(self, journal, calls)

    return wrong


def waits_for_ever(answer: Function) -> Function:
    def wrong(self: Any, future: Any) -> Any:
        return future.result()

    return wrong


def keeps_the_worker(discard: Function) -> Function:
    def wrong(self: Any) -> None:
        self._reusable = None

    return wrong


# ---------------------------------------------------------------------- the journal


def leaves_out_the_last(find: Function) -> Function:
    from dataclasses import replace

    def wrong(store: Any, ancestry: Any, files: Any, to: int, without: Collection[int] = ()) -> Any:
        route = find(store, ancestry, files, to, without)
        return replace(route, redo=route.redo[:-1])

    return wrong


def waits_for_no_disk(prepare: Function) -> Function:
    def wrong(self: Any, writable: bool) -> None:
        prepare(self, writable)
        self._connection.execute("PRAGMA synchronous = OFF")

    return wrong


def announces_what_is_settled(begin_intent: Function) -> Function:
    def wrong(store: Any, new: Any) -> int:
        id = begin_intent(store, new)
        with store.transaction("intent"):
            store.change("UPDATE intents SET state = 'settled' WHERE id = ?", (id,))
        return id

    return wrong


def leaves_the_chain_behind(flush: Function) -> Function:
    def wrong(self: Any) -> None:
        self._rows, rows = self._rows[:1], self._rows
        flush(self)
        self._rows = rows[1:]

    return wrong


def commits_in_two(write: Function) -> Function:
    def wrong(
        store: Any, ancestry: Any, files: Any, entries: Sequence[Any], *, keeps_boundary: int | None, recovering: bool
    ) -> Any:
        if len(entries) < 2:
            return write(store, ancestry, files, entries, keeps_boundary=keeps_boundary, recovering=recovering)
        half = len(entries) // 2
        first = write(store, ancestry, files, entries[:half], keeps_boundary=None, recovering=recovering)
        rest = write(store, ancestry, files, entries[half:], keeps_boundary=keeps_boundary, recovering=recovering)
        return type(rest)(
            first.numbers + rest.numbers,
            first.receipts + rest.receipts,
            rest.head,
            rest.audit,
            [*first.records, *rest.records],
        )

    return wrong


def keeps_no_more_than_the_last(thinned: Function) -> Function:
    def wrong(store: Any, ancestors: Any, newest_first: list[Any], budget: int) -> set[int]:
        return {checkpoint.id for checkpoint in newest_first[:1]}

    return wrong


# ---------------------------------------------------------------------- who may do what


def compares_the_beginning(compare_digest: Function) -> Function:
    def wrong(a: bytes, b: bytes) -> bool:
        return b.startswith(a)

    return wrong


def approves_what_was_declined(answer_of: Function) -> Function:
    from blendwright.policy.approvals import ApprovalAnswer

    def wrong(result: Any) -> ApprovalAnswer:
        answer = answer_of(result)
        return ApprovalAnswer.APPROVED if answer is ApprovalAnswer.DECLINED else answer

    return wrong


def approves_code_by_its_level(ask: Function) -> Function:
    from blendwright.policy.approvals import ApprovalAnswer

    def wrong(self: Any, request: Any, *, cancel: Any = None) -> ApprovalAnswer:
        answer = ask(self, request, cancel=cancel)
        declined = answer is ApprovalAnswer.DECLINED
        return ApprovalAnswer.APPROVED if declined and request.safety_level in self._approved_levels else answer

    return wrong


def believes_the_declared_level(level: Function) -> Function:
    def wrong(tool: Any, args: Any, declared: str) -> str:
        return declared

    return wrong


def copies_without_sync(copy: Function) -> Function:
    import hashlib

    def wrong(source: Any, target: Any) -> tuple[str, int]:
        content = source.read_bytes()
        target.write_bytes(content)
        return hashlib.sha256(content).hexdigest(), len(content)

    return wrong


def previews_an_older_scene(copied_journal: Function) -> Function:
    import contextlib

    from blendwright.values.errors import JournalError

    def wrong(workspace: Any, copy: Any, request_id: str, without: Sequence[int] = ()) -> Any:
        journal = copied_journal(workspace, copy, request_id, without)
        with contextlib.suppress(JournalError):
            if journal.head is not None and journal.head.parent is not None:
                journal.move_head("undo", journal.head.parent)
        return journal

    return wrong


def moves_no_tag(set_tag: Function) -> Function:
    def wrong(self: Any, name: str, commit: int) -> None:
        if name not in self.tags():
            set_tag(self, name, commit)

    return wrong


def takes_what_is_behind_for_a_rollback(contradiction: Function) -> Function:
    def wrong(store: Any, note: Any, identity: str, end: Any) -> str | None:
        behind = note.head.sequence < end.sequence
        return "an older copy" if behind else contradiction(store, note, identity, end)

    return wrong


SIMULATION, WHATEVER = "tests/simulation/test_simulation.py", "whatever_happens"

BUGS = (
    # ------------------------------------------------------------------ the run layer
    Bug(
        "acknowledged before its commit",
        "blendwright.run.pipeline:Pipeline._receive",
        acknowledges_before_the_commit,
        "tests/run/test_runner.py",
        "acknowledged_before",
    ),
    Bug(
        "no idempotency check",
        "blendwright.run.idempotency:classify",
        takes_no_commit_for_an_answer,
        "tests/run/test_runner.py",
        "same_plan_twice",
    ),
    Bug(
        "other arguments under the same ids are not noticed",
        "blendwright.run.idempotency:_conflict",
        overlooks_other_arguments,
        "tests/run/test_runner.py",
        "other_arguments_conflict",
    ),
    Bug(
        "an effect that a later commit took back is not noticed",
        "blendwright.journal.superseded:superseded_by",
        answering({}),
        "tests/app/test_known_operations.py",
        "names_the_commit",
    ),
    Bug(
        "nodes that lead nowhere are good enough for done",
        "blendwright.dialects.geonodes:_added_nodes",
        changing(lambda added: dict.fromkeys(added, ())),
        "tests/app/test_added_nodes_arrive.py",
        "lead_nowhere",
    ),
    Bug(
        "a commit on another line is not noticed",
        "blendwright.run.idempotency:_conflict",
        overlooks_other_lines,
        "tests/run/test_runner.py",
        "checkout_to_before_them",
    ),
    Bug(
        "an adopted file is trusted to hold what ran before it",
        "blendwright.run.idempotency:_conflict",
        overlooks_adoptions,
        "tests/run/history/test_history.py",
        "adopted_file_that_lost",
    ),
    Bug(
        "an effect that nobody knows of is repeated",
        "blendwright.run.idempotency:_conflict",
        overlooks_intents,
        "tests/run/test_runner.py",
        "effect_that_nobody_knows",
    ),
    Bug(
        "hashes are not compared on redo",
        "blendwright.run.rebuild:_mismatch_in",
        answering(None),
        "tests/run/test_live_scene.py",
        "leads_elsewhere",
    ),
    Bug(
        "a saved scene is not compared",
        "blendwright.run.live_scene:LiveScene._saved_head",
        accepts_any_scene,
        "tests/run/test_live_scene.py",
        "nobody_recorded",
    ),
    Bug(
        "an export is redone by a rebuild",
        "blendwright.run.rebuild:_step_of",
        redoes_what_changed_nothing,
        "tests/run/test_live_scene.py",
        "export_is_not_done_again",
    ),
    Bug(
        "outside effects are not announced",
        "blendwright.run.exclusive_step:ExclusiveStep._announce",
        omitted,
        "tests/run/test_crashes.py",
        "outside_the_scene",
    ),
    Bug(
        "what cannot be redone is committed without a checkpoint",
        "blendwright.run.exclusive_step:ExclusiveStep._saved",
        omitted,
        "tests/run/test_live_scene.py",
        "cannot_be_redone",
    ),
    Bug(
        "the scene of a refused commit is kept",
        "blendwright.run.live_scene:LiveScene.discard",
        omitted,
        "tests/run/test_live_scene.py",
        "refused_commit",
        during="blendwright.run.pipeline:Pipeline.run",
    ),
    Bug(
        "what was sent behind a failure is forgotten",
        "blendwright.run.pipeline:Pipeline._recall",
        forgets_the_window,
        "tests/run/test_runner_failures.py",
        "without_the_dependents",
    ),
    Bug(
        "a plan that is kept whole acknowledges at once",
        "blendwright.run.run_state:RunState.record",
        holds_nothing_back,
        "tests/run/test_runner_failures.py",
        "acknowledges_nothing",
    ),
    Bug(
        "a failed plan that is kept whole is not taken back",
        "blendwright.journal.journal:Journal.roll_back",
        keeps_instead,
        "tests/run/test_runner_failures.py",
        "taken_back_by_a_failure",
        during="blendwright.run.runner:Runner._close",
    ),
    Bug(
        "a boundary stays open when the run gives up",
        "blendwright.run.runner:Runner._give_up",
        omitted,
        "tests/run/test_runner_failures.py",
        "no_blender_can_be_had",
    ),
    Bug(
        "HEAD moves before the scene is proved",
        "blendwright.run.rebuild:rebuild_commit",
        moves_head_first,
        "tests/run/history/test_history.py",
        "leaves_head_where_it_is",
        during="blendwright.run.history:History._move",
    ),
    Bug(
        "an interrupted plan is not rolled back by recovery",
        "blendwright.journal.journal:Journal.roll_back",
        omitted,
        "tests/app/test_opening.py",
        "half_done",
        during="blendwright.app.recovery:recover",
    ),
    # ------------------------------------------------------------------ the journal
    Bug(
        "a checkpoint row before its file",
        "blendwright.journal.checkpoint_files:CheckpointFiles.require",
        omitted,
        "tests/journal/test_checkpoints.py",
        during="blendwright.journal.journal:Journal.add_checkpoint",
    ),
    Bug(
        "an old holder may still write",
        "blendwright.journal.store:Store._check_fence",
        omitted,
        "tests/journal/test_lock.py",
    ),
    Bug(
        "open intents are forgotten by the next writer",
        "blendwright.journal.recovery:mark_open_as_indeterminate",
        omitted,
        "tests/journal/test_commits.py",
    ),
    Bug(
        "an unfinished plan does not stop the next writer",
        "blendwright.journal.recovery:require_no_interrupted_plan",
        omitted,
        "tests/journal/test_commits.py",
    ),
    Bug(
        "rolled back commits count as done",
        "blendwright.journal.head_moves:_mark_rolled_back",
        omitted,
        "tests/journal/test_commits.py",
    ),
    Bug(
        "a disk that failed once is trusted again",
        "blendwright.journal.store:Store.give_up",
        omitted,
        "tests/journal/test_disk.py",
    ),
    Bug(
        "quarantine keeps nobody out",
        "blendwright.journal.recovery:require_no_quarantine",
        omitted,
        "tests/journal/test_lock.py",
        during="blendwright.journal.journal:Journal.__init__",
    ),
    # ------------------------------------------------------------------ what the simulation finds
    Bug(
        "a new worker is taken before the answers of the old one are committed",
        "blendwright.run.pipeline:Pipeline._window_worker",
        takes_a_worker_at_once,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "an interrupted run leaves its scene in the worker",
        "blendwright.run.live_scene:LiveScene.follow_head",
        omitted,
        SIMULATION,
        WHATEVER,
        during="blendwright.run.pipeline:Pipeline.run",
    ),
    Bug(
        "a rollback leaves its scene in the worker",
        "blendwright.run.live_scene:LiveScene.follow_rollback",
        omitted,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "a lost worker is gone on with",
        "blendwright.run.live_scene:LiveScene.discard",
        keeps_the_worker,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "an answer is waited for without a limit",
        "blendwright.run.pipeline:Pipeline._answer",
        waits_for_ever,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "a boundary that is interrupted at its beginning stays open",
        "blendwright.run.runner:Runner._give_up",
        omitted,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "the answers of the last plan outlive a move of HEAD",
        "blendwright.run.idempotency:LastPlan.lookup",
        overlooks_where_head_is,
        "tests/app/test_the_same_plan_again.py",
    ),
    Bug(
        "a commit is acknowledged before it is on the disk",
        "blendwright.journal.store:Store._prepare",
        waits_for_no_disk,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "a checkpoint is named before its content is on the disk",
        "os:fsync",
        omitted,
        SIMULATION,
        WHATEVER,
        during="blendwright.journal.checkpoint_files:_copy",
    ),
    Bug(
        "the name of a checkpoint is not on the disk when its row is",
        "blendwright.journal.store:sync_directory",
        omitted,
        SIMULATION,
        WHATEVER,
        during="blendwright.journal.checkpoint_files:CheckpointFiles.stage",
    ),
    Bug(
        "a damaged checkpoint is opened",
        "blendwright.journal.checkpoint_files:CheckpointFiles.sound",
        answering(True),
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "half of a copy stays after a crash",
        "blendwright.journal.checkpoint_files:CheckpointFiles.clear_parts",
        answering(()),
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "a rebuild leaves out the last commit",
        "blendwright.journal.rebuild_routes:find",
        leaves_out_the_last,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "a group of commits takes two transactions",
        "blendwright.journal.commit_transaction:write",
        commits_in_two,
        "tests/journal/test_crash_points.py",
    ),
    Bug(
        "the end of the audit chain is not written",
        "blendwright.journal.audit_log:AuditAppender.flush",
        leaves_the_chain_behind,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "an effect outside the scene is announced as settled",
        "blendwright.journal.recovery:begin_intent",
        announces_what_is_settled,
        SIMULATION,
        WHATEVER,
        during="blendwright.journal.journal:Journal.begin_intent",
    ),
    Bug(
        "gc removes what a commit needs that cannot be replayed",
        "blendwright.journal.garbage_collection:_thinned",
        keeps_no_more_than_the_last,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "an operation is committed twice on one line",
        "blendwright.journal.commit_transaction:_CommitTransaction._check_key",
        omitted,
        "tests/journal/test_commits.py",
    ),
    Bug(
        "a commit may start from another scene than HEAD's",
        "blendwright.journal.commit_transaction:_CommitTransaction._check",
        omitted,
        "tests/journal/test_commits.py",
    ),
    Bug(
        "two writers hold the workspace",
        "blendwright.journal.lock:is_locked_elsewhere",
        answering(False),
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "the scratch of dead sessions stays",
        "blendwright.app.session_scratch:_clear_abandoned",
        answering(0),
        "tests/app/test_opening.py",
    ),
    Bug(
        "a background checkpoint is recorded before it is on the disk",
        "blendwright.journal.checkpoint_files:_copy",
        copies_without_sync,
        SIMULATION,
        WHATEVER,
        during="blendwright.run.background_checkpoints:BackgroundCheckpoints._save",
    ),
    Bug(
        "a preview starts from an older scene",
        "blendwright.app.previewing:_copied_journal",
        previews_an_older_scene,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "an export is acknowledged before it is on the disk",
        "os:fsync",
        omitted,
        SIMULATION,
        WHATEVER,
        during="blendwright.values.no_follow:write_whole",
    ),
    Bug("a tag is not moved", "blendwright.journal.journal:Journal.set_tag", moves_no_tag, SIMULATION, WHATEVER),
    Bug(
        "a note of the chain that is behind is taken for a rollback",
        "blendwright.journal.head_notes:_contradiction",
        takes_what_is_behind_for_a_rollback,
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "what a person declined is done",
        "blendwright.run.approvals:_declined",
        answering(None),
        SIMULATION,
        WHATEVER,
    ),
    Bug(
        "an approval stays good after its use, in any history",
        "blendwright.journal.store:Store.change",
        omitted,
        SIMULATION,
        WHATEVER,
        during="blendwright.journal.approvals:use",
    ),
    # ------------------------------------------------------------------ who may do what
    Bug(
        "a part of the token opens the door",
        "hmac:compare_digest",
        compares_the_beginning,
        "tests/server/test_request_guard.py",
        during="blendwright.server.http:RequestGuard._refusal",
    ),
    Bug(
        "a form that was declined is a yes",
        "blendwright.server.elicitation:answer_of",
        approves_what_was_declined,
        "tests/server/test_elicitation.py",
    ),
    Bug(
        "an approval is good twice",
        "blendwright.journal.store:Store.change",
        omitted,
        "tests/journal/test_approvals_kept.py",
        during="blendwright.journal.approvals:use",
    ),
    Bug(
        "a yes to all is a yes to code",
        "blendwright.cli.approvals:TerminalApprover.ask",
        approves_code_by_its_level,
        "tests/cli/test_approver.py",
    ),
    Bug(
        "a declared level lowers that of the tool",
        "blendwright.policy.objections:_level",
        believes_the_declared_level,
        "tests/policy/test_objections.py",
    ),
)
