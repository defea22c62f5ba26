"""Bugs that could be written into the engine, each with the tests that must catch it. `test_seeded_bugs.py` plants them one by one."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Bug:
    """In `file`, `right` is replaced by `wrong`; at least one of the tests in `caught_by` must fail then."""

    name: str
    file: str
    right: str
    wrong: str
    caught_by: str
    only: str = ""


BUGS = (
    # ------------------------------------------------------------------ the run layer
    Bug(
        "acknowledged before its commit",
        "run/pipeline.py",
        '            self._reached = answer["after"]\n            if len(self._answered) >= GROUP:',
        '            self._reached = answer["after"]\n'
        "            receipt = self._answered[-1].entry.receipt\n"
        "            self._board.settle(self._board.succeeded(call, answer, None, receipt))\n"
        "            if len(self._answered) >= GROUP:",
        "tests/run/test_runner.py",
        "acknowledged_before",
    ),
    Bug(
        "no idempotency check",
        "run/idempotency.py",
        'elif found.where == "ancestor" and found.commit is not None:',
        "elif False:",
        "tests/run/test_runner.py",
        "same_plan_twice",
    ),
    Bug(
        "other arguments under the same ids are not noticed",
        "run/idempotency.py",
        "if found.clash is not None:",
        "if False:",
        "tests/run/test_runner.py",
        "other_arguments_conflict",
    ),
    Bug(
        "a commit on another line is not noticed",
        "run/idempotency.py",
        'if found.where == "elsewhere":',
        "if False:",
        "tests/run/test_runner.py",
        "checkout_to_before_them",
    ),
    Bug(
        "an adopted file is trusted to hold what ran before it",
        "run/idempotency.py",
        'if found.where == "before_adopt":',
        "if False:",
        "tests/run/history/test_history.py",
        "adopted_file_that_lost",
    ),
    Bug(
        "an effect that nobody knows of is repeated",
        "run/idempotency.py",
        "if found.intent is not None:",
        "if False:",
        "tests/run/test_runner.py",
        "effect_that_nobody_knows",
    ),
    Bug(
        "hashes are not compared on redo",
        "run/rebuild.py",
        'if not answer["ok"] or answer["after"] != commit.hash_after:',
        'if not answer["ok"]:',
        "tests/run/test_live_scene.py",
        "leads_elsewhere",
    ),
    Bug(
        "a saved scene is not compared",
        "run/live_scene.py",
        "if saved != expected:",
        "if False:",
        "tests/run/test_live_scene.py",
        "nobody_recorded",
    ),
    Bug(
        "an export is redone by a rebuild",
        "run/rebuild.py",
        "deque(commit for commit in commits if commit.hash_before != commit.hash_after)",
        "deque(commits)",
        "tests/run/test_live_scene.py",
        "export_is_not_done_again",
    ),
    Bug(
        "outside effects are not announced",
        "run/exclusive_step.py",
        "intent = self._announce(call) if call.writes_outside and rehearse is None else None",
        "intent = None",
        "tests/run/test_crashes.py",
        "outside_the_scene",
    ),
    Bug(
        "what cannot be redone is committed without a checkpoint",
        "run/exclusive_step.py",
        "checkpoint = self._saved(call, answer) if not call.replayable else None",
        "checkpoint = None",
        "tests/run/test_live_scene.py",
        "cannot_be_redone",
    ),
    Bug(
        "the scene of a refused commit is kept",
        "run/ledger.py",
        "        except BlendwrightError:\n            self._scene.discard()\n            raise",
        "        except BlendwrightError:\n            raise",
        "tests/run/test_live_scene.py",
        "refused_commit",
    ),
    Bug(
        "what was sent behind a failure is forgotten",
        "run/pipeline.py",
        "self._todo.extendleft(call for call, _ in reversed(self._window))",
        "pass",
        "tests/run/test_runner_failures.py",
        "without_the_dependents",
    ),
    Bug(
        "a plan that is kept whole acknowledges at once",
        "run/run_state.py",
        "if self._buffered is not None:",
        "if False:",
        "tests/run/test_runner_failures.py",
        "acknowledges_nothing",
    ),
    Bug(
        "a failed plan that is kept whole is not taken back",
        "run/runner.py",
        "        written = self.session.journal.roll_back(boundary, failures)\n        crash_points.reach",
        "        written = self.session.journal.commit(failures, keeps=boundary)\n        crash_points.reach",
        "tests/run/test_runner_failures.py",
        "taken_back_by_a_failure",
    ),
    Bug(
        "a boundary stays open when the run gives up",
        "run/runner.py",
        "            self._give_up(boundary, pipeline.failures)\n",
        "",
        "tests/run/test_runner_failures.py",
        "no_blender_can_be_had",
    ),
    Bug(
        "HEAD moves before the scene is proved",
        "run/history.py",
        "            rebuild_commit(worker, self._journal, target.number)\n",
        "            self._journal.move_head(kind, target.number)\n"
        "            rebuild_commit(worker, self._journal, target.number)\n",
        "tests/run/history/test_history.py",
        "leaves_head_where_it_is",
    ),
    Bug(
        "an interrupted plan is not rolled back by recovery",
        "app/recovery.py",
        "            journal.roll_back(info.boundary.id)\n",
        "            pass\n",
        "tests/app/test_opening.py",
        "half_done",
    ),
    # ------------------------------------------------------------------ the journal
    Bug(
        "a checkpoint row before its file",
        "journal/journal.py",
        "            self._files.require(staged)\n",
        "",
        "tests/journal/test_checkpoints.py",
    ),
    Bug(
        "an old holder may still write",
        "journal/store.py",
        "if current != self.fence or self.fence == 0:",
        "if False:",
        "tests/journal/test_lock.py",
    ),
    Bug(
        "open intents are forgotten by the next writer",
        "journal/journal.py",
        "            intents.mark_open_as_indeterminate(self._store)\n",
        "",
        "tests/journal/test_commits.py",
    ),
    Bug(
        "an unfinished plan does not stop the next writer",
        "journal/plan_boundaries.py",
        '    if row is not None:\n        raise JournalError(\n            f"the plan {row[1]}',
        '    if False:\n        raise JournalError(\n            f"the plan {row[1]}',
        "tests/journal/test_commits.py",
    ),
    Bug(
        "rolled back commits count as done",
        "journal/head_moves.py",
        'store.change_many("INSERT INTO rolled_back VALUES (?, ?)", [(number, id) for number in undone])',
        "pass",
        "tests/journal/test_commits.py",
    ),
    Bug(
        "a disk that failed once is trusted again",
        "journal/store.py",
        "        if self._broken is not None:\n",
        "        if False:\n",
        "tests/journal/test_disk.py",
    ),
    Bug(
        "quarantine keeps nobody out",
        "journal/journal.py",
        "                    quarantine.refuse(self._store)\n",
        "                    pass\n",
        "tests/journal/test_lock.py",
    ),
    # ------------------------------------------------------------------ who may do what
    Bug(
        "a part of the token opens the door",
        "server/http.py",
        "not hmac.compare_digest(given.strip().encode(), self._token)",
        "not self._token.startswith(given.strip().encode())",
        "tests/server/test_web_door.py",
    ),
    Bug(
        "a form that was declined is a yes",
        "server/elicitation.py",
        'return ApprovalAnswer.NONE if result.action == "cancel" else ApprovalAnswer.DECLINED',
        'return ApprovalAnswer.NONE if result.action == "cancel" else ApprovalAnswer.APPROVED',
        "tests/server/test_asking.py",
    ),
    Bug(
        "an approval is good twice",
        "journal/approvals.py",
        "        store.change(\"UPDATE approvals SET state = 'used' WHERE id = ?\", (row[0],))\n",
        "",
        "tests/journal/test_approvals_kept.py",
    ),
    Bug(
        "a yes to all is a yes to code",
        "cli/approver.py",
        'return ApprovalAnswer.APPROVED if word in ("y", "yes") else ApprovalAnswer.DECLINED',
        'yes = word in ("y", "yes") or request.safety_level in self._approved_levels\n'
        "        return ApprovalAnswer.APPROVED if yes else ApprovalAnswer.DECLINED",
        "tests/cli/test_approver.py",
    ),
    Bug(
        "a declared level lowers that of the tool",
        "policy/objections.py",
        "return max(tool.safety_level_for(args), SafetyLevel(declared), key=lambda level: level.rank).value",
        "return declared",
        "tests/policy/test_objections.py",
    ),
)
