"""The bugs themselves: a bug is a function that takes the right function and returns the wrong one.

Its parameters have the names of the right one's, so that a changed signature is noticed; `self` is untyped, since a bug may touch
what is private. Nothing of the engine is imported here at the top.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from support.planting.planting import Function

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
    def wrong(call: Any, match: Any, reverted_by: int | None) -> Any:
        return conflict(call, match._replace(clash=None), reverted_by)

    return wrong


def overlooks_intents(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, reverted_by: int | None) -> Any:
        return conflict(call, match._replace(intent=None), reverted_by)

    return wrong


def overlooks_other_lines(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, reverted_by: int | None) -> Any:
        seen = match._replace(where="nowhere") if match.where == "elsewhere" else match
        return conflict(call, seen, reverted_by)

    return wrong


def overlooks_adoptions(conflict: Function) -> Function:
    def wrong(call: Any, match: Any, reverted_by: int | None) -> Any:
        seen = match._replace(where="nowhere") if match.where == "before_adopt" else match
        return conflict(call, seen, reverted_by)

    return wrong


def redoes_what_changed_nothing(step_of: Function) -> Function:
    def wrong(commit: Any) -> Any:
        return step_of(commit)._replace(hash_before="another scene")

    return wrong


def accepts_any_scene(saved_head: Function) -> Function:
    def wrong(self: Any, deadline: float) -> Any:
        from blendwright.engine.scene import live_scene

        save: Any = vars(live_scene)["_save"]
        return save(self.worker(), deadline)[1]

    return wrong


def forgets_the_window(recall: Function) -> Function:
    def wrong(self: Any, behind: Sequence[Any] = ()) -> None:
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


def waits_for_ever(answer_of: Function) -> Function:
    def wrong(self: Any, future: Any, worker: Any, since: float) -> Any:
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
    from blendwright.values.approval import ApprovalAnswer

    def wrong(result: Any) -> ApprovalAnswer:
        answer = answer_of(result)
        return ApprovalAnswer.APPROVED if answer is ApprovalAnswer.DECLINED else answer

    return wrong


def approves_code_by_its_level(ask: Function) -> Function:
    from blendwright.values.approval import ApprovalAnswer

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

    def wrong(source: Any, target: Any, *, durable: bool) -> tuple[str, int]:
        content = source.read_bytes()
        target.write_bytes(content)
        return hashlib.sha256(content).hexdigest(), len(content)

    return wrong


def previews_an_older_scene(copied_journal: Function) -> Function:
    import contextlib

    from blendwright.values.errors import JournalError

    def wrong(workspace: Any, *, copy: Any, request_id: str, at: Any, without: Sequence[int] = ()) -> Any:
        journal = copied_journal(workspace, copy=copy, request_id=request_id, at=at, without=without)
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


# ---------------------------------------------------------------------- foreign code


def looks_at_the_last_run(swap_in: Function) -> Function:
    def wrong(self: Any, ours: Any, before: str, content_before: Any, runs: Sequence[Any], limits: Any) -> Any:
        return swap_in(self, ours, before, content_before, runs[-1:], limits)

    return wrong


def follows_links(fetch_result_file: Function) -> Function:
    def wrong(source: Any, target: Any, scratch_mb: int) -> Any:
        if not source.exists():
            return fetch_result_file(source, target, scratch_mb)
        target.write_bytes(source.read_bytes())
        return None

    return wrong
