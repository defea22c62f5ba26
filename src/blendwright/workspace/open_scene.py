"""A workspace that is open: callers call tools on its scene and run plans on it."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from blendwright.dialects.envelopes import ToolResult, tool_result
from blendwright.dialects.registry import parse_plan
from blendwright.engine.calls import call
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.idempotency import MOST_KEPT
from blendwright.engine.moves.commit_names import find
from blendwright.engine.moves.navigation import CHECKOUT, History
from blendwright.engine.moves.replaced_plans import Instead
from blendwright.engine.options import DEFAULT_OPTIONS, RunOptions
from blendwright.engine.preview import Look
from blendwright.engine.runner import Runner
from blendwright.engine.session import Session
from blendwright.journal import Journal
from blendwright.macros import Macro
from blendwright.plan.implied_order import Use, imply_order
from blendwright.plan.repair import refused
from blendwright.plan.validate import ValidPlan, validate
from blendwright.policy.objections import denied
from blendwright.policy.session_contract import ContractTerms, Proposal, SessionContract
from blendwright.records.results import Moved, Preview
from blendwright.tool_api.promises import Determinism, SafetyLevel
from blendwright.tool_api.tool import AnyTool
from blendwright.util import crash_points
from blendwright.values.errors import BlendwrightError, Refusal
from blendwright.values.events import Defect, RunEnded, WorkspaceClosed
from blendwright.values.findings import Finding
from blendwright.values.outcome import Outcome
from blendwright.values.plan import Boundary, Plan
from blendwright.values.report import RunReport
from blendwright.wire.blender_profile import WorkerProfile
from blendwright.wire.remote_scene import RemoteScene
from blendwright.wire.worker_port import WorkerPool
from blendwright.workspace.names.edited_names import EditedNames
from blendwright.workspace.names.port import findings_about
from blendwright.workspace.names.scene_names import SceneNames
from blendwright.workspace.observing.event_bus import EventBus
from blendwright.workspace.preview import CopyPreviews
from blendwright.workspace.programs import surroundings_of
from blendwright.workspace.run_records import RunRecords
from blendwright.workspace.scratch import SessionScratch

if TYPE_CHECKING:
    from blendwright.workspace.observing.metrics import Metrics

# Milliseconds of redo above which closing the workspace saves a checkpoint. Saving takes a small part of that time.
WORTH_SAVING_MS = 300.0
# Version 2 of the format has no references between equal objects, so the bytes depend only on the values.
_MARSHAL_FORMAT = 2

_Source = tuple[bytes, str | None, Boundary | None, Determinism | None]


class OpenScene:
    """An open workspace with its scene.

    Close it, or use it in a `with` statement. `recovered` lists the repairs of its opening.
    """

    def __init__(
        self,
        session: Session,
        scratch: SessionScratch,
        pool: WorkerPool,
        recovered: tuple[str, ...],
        events: EventBus,
    ) -> None:
        self.recovered = recovered
        self._session = session
        self._scratch = scratch
        self._pool = pool
        self._events = events
        self._closed = False
        self._runner = Runner(session)
        self._compiler = Compiler(session.tools, session.macros, session.draft.terms, session.files.roots)
        self._registry = session.scene.catalogue
        self._records = RunRecords(session.journal.workspace)
        self._previews = CopyPreviews(scratch.path.parents[1], pool, session)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, Exception) and not isinstance(error, BlendwrightError):
            self._events(Defect(error))
        self.close()

    def call(self, tool: str, /, **args: Any) -> ToolResult:
        """Call a tool or macro with its arguments. A failure is a result with `ok` false, never an exception."""
        return tool_result(self.outcome(tool, args))

    def target_findings(self, path: Path) -> tuple[Finding, ...]:
        """Return the problems of writing a file to this path, for a caller that checks before it has anything to
        write.
        """
        return self._session.files.target_findings(path)

    def judged_target(self, path: Path) -> Path:
        """Return the path to write a file to, with links resolved. Raise Refusal when the policy does not allow it."""
        return self._session.files.judged_target(path)

    def outcome(self, tool: str, args: Any, options: RunOptions = DEFAULT_OPTIONS) -> Outcome:
        """Call a tool or macro and return everything known about it, before a contract renders it."""
        with self._session.scene.turn(tool):
            return call(self._runner, tool, args, options)

    def run(
        self,
        plan: Plan | Mapping[str, Any],
        options: RunOptions = DEFAULT_OPTIONS,
        *,
        request_id: str | None = None,
        boundary: Boundary | None = None,
    ) -> RunReport:
        """Run a plan: a document of any dialect, or a parsed plan with its request_id and boundary.

        Operations that were done before under the same ids do not run again.
        """
        started = time.perf_counter()
        valid = self._compiler.compile(plan, request_id, boundary, options.determinism)
        validate_ms = round((time.perf_counter() - started) * 1000, 3)
        if isinstance(valid, RunReport):
            valid = replace(valid, timings={"validate_ms": validate_ms, **valid.timings})
            self._events(RunEnded(valid))
            if isinstance(plan, Plan):
                self._records.add_refused(plan, valid)
            return valid
        session = self._session
        with session.scene.turn(valid.plan.request_id):
            edited = self._edited_names(valid)
            if edited:
                return refused(valid.plan, edited)
            if valid.plan.program is not None:
                session.journal.programs.record(valid.plan.request_id, valid.plan.program)
            schedule = valid.schedule(self._registry, session.scene.hash)
            # For a single operation, the commit has everything that the record would have.
            if len(schedule.order) > 1:
                record = self._records.begin(schedule)
            else:
                record = None
            report = self._runner.run(schedule, options)
        report = replace(report, timings={"validate_ms": validate_ms, **report.timings})
        if record is not None:
            record.end(report)
        elif not report.ok:
            self._records.add_refused(valid.plan, report)
        return report

    def check(self, plan: Plan, *, determinism: Determinism | None = None) -> RunReport | None:
        """Return the report that refuses a plan, or None if it may run.

        This starts no Blender, so it misses problems that only Blender knows.
        """
        valid = self._compiler.compile(plan, None, plan.boundary, determinism)
        if isinstance(valid, RunReport):
            return valid
        return None

    def missing_uses(self, uses: Sequence[Use]) -> tuple[Finding, ...]:
        """Return findings for names that neither the plan nor the scene has.

        Without a Blender that holds the scene, return nothing.
        """
        return findings_about(uses, SceneNames(self._session.scene))

    def _edited_names(self, valid: ValidPlan) -> tuple[Finding, ...]:
        """Return a finding for each use of a datablock that a person has changed by hand since the last plan."""
        edited = self._session.scene.adopted
        if not edited:
            return ()
        implied = valid.implied or imply_order(valid.graph, self._session.tools, valid.plan.tie_break)
        return findings_about(implied.taken_for_granted, EditedNames(edited))

    def preview(
        self,
        plan: Plan | Mapping[str, Any],
        options: RunOptions = DEFAULT_OPTIONS,
        *,
        request_id: str | None = None,
        boundary: Boundary | None = None,
        image: Path | None = None,
        look: Look | None = None,
        instead: Instead = False,
    ) -> Preview:
        """Return the effects of a plan, found on a copy of the scene in another worker.

        `image` is the path for a picture of the result. `look` is a function that Blendwright calls with the worker
        that holds the result. With `instead`, the plan replaces the last plan or the plan of that request, and the
        comparison is with the current scene.
        """
        if not isinstance(plan, Plan):
            plan = self._compiler.parse(dict(plan), request_id, boundary)
        with self._session.scene.turn("preview"):
            if self._session.journal.head is None:
                # The start scene of a new workspace becomes its first commit, so that the copy contains it.
                self._session.scene.worker()
        self._session.scene.head.record_background()
        return self._previews.preview(plan, options, image=image, look=look, instead=instead)

    @contextlib.contextmanager
    def spare_worker(self) -> Generator[RemoteScene]:
        """Yield a Blender without a scene to a caller that compares or rehearses. It ends with the `with` statement.

        The method first records a checkpoint that is ready, because it shortens every rebuild.
        """
        self._session.scene.head.record_background()
        worker = self._session.scene.take_worker()
        try:
            yield worker
        finally:
            worker.abandon()

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        """Move files from a worker's scratch to the artifacts of the workspace, and return their new paths."""
        return self._session.files.keep_artifacts(names, scratch)

    def as_host(self, proposal: Proposal) -> OpenScene:
        """Return the same open scene for another host, under a separate contract. Only the opener closes the scene.

        Raise Refusal when no contract is possible with such a host.
        """
        return OpenScene(self._session.for_host(proposal), self._scratch, self._pool, self.recovered, self._events)

    def turn(self, label: str) -> contextlib.AbstractContextManager[None]:
        """Return a context that groups its changes into one undo step of an open window.

        Without a window it has no effect.
        """
        return self._session.scene.turn(label)

    def warm(self) -> None:
        """Start Blender and build the scene before the first call. Raise EnvironmentUnfit when no Blender can start."""
        self._session.scene.worker()

    def save_checkpoint(self) -> None:
        """Save the scene in the workspace, so that the next opening has nothing to redo."""
        self._session.scene.checkpoint()

    def rest(self) -> None:
        """Release caches while no request is expected."""
        self._session.journal.release_memory()

    @property
    def tools(self) -> Mapping[str, AnyTool]:
        """The tools by name, without macros."""
        return self._session.tools

    @property
    def terms(self) -> ContractTerms:
        """The terms for plans that do not depend on Blender."""
        return self._session.draft.terms

    @property
    def contract(self) -> SessionContract:
        """The contract of this session.

        Reading it starts Blender. Raise Refusal when no contract is possible with this Blender.
        """
        return self._session.contract.contract()

    @property
    def hash(self) -> str:
        """The hash of the current scene."""
        return self._session.scene.hash

    @property
    def journal(self) -> Journal:
        """The journal of the workspace."""
        return self._session.journal

    @property
    def history(self) -> History:
        """The moves through the history: checkout, branches, tags, undo, redo, adopt and gc."""
        return self._session.scene.history()

    def checkout(self, to: int | str, options: RunOptions = DEFAULT_OPTIONS, *, take_branch: bool = False) -> Moved:
        """Move to the scene of a commit or a branch, if the policy allows `history.checkout` as a safe_write. Raise
        Refusal otherwise.

        `take_branch` has the same meaning as in `History.checkout`. In contrast to this method, `history` checks no
        policy: it is for the owners of the workspace.
        """
        self._require_not_denied(
            CHECKOUT, SafetyLevel.SAFE_WRITE
        )  # before `find`, so that a denied caller learns of no commit
        target = find(self._session.journal, to).number
        self.require_move(target, options)
        return self.history.checkout(to, take_branch=take_branch)

    def require_move(self, target: int, options: RunOptions = DEFAULT_OPTIONS) -> None:
        """Raise Refusal if the rules for `history.checkout` forbid moving HEAD to this commit."""
        self.require_allowed(CHECKOUT, SafetyLevel.SAFE_WRITE, {"commit": target}, options)

    def require_allowed(
        self, act: str, level: SafetyLevel, args: Mapping[str, Any], options: RunOptions = DEFAULT_OPTIONS
    ) -> None:
        """Check an action that does not go through the runner. Ask a person where the rules require approval.

        Raise Refusal if the rules for this name and level deny the action, or no person approves it.
        """
        self._require_not_denied(act, level)
        head = self._session.journal.head
        if head is None:
            baseline = ""
        else:
            baseline = head.hash_after
        approvals = self._session.approvals
        request = approvals.request_about(self.terms, act, level.value, args, baseline=baseline)
        if request is not None:
            outcome = approvals.ask(request, options.approver or self._session.approver, options.cancel)
            if outcome.finding is not None:
                raise Refusal([outcome.finding])

    def _require_not_denied(self, act: str, level: SafetyLevel) -> None:
        objections = list(denied(self.terms, act, level.value))
        if objections:
            raise Refusal(objections)

    @property
    def metrics(self) -> Metrics:
        """The metrics since the workspace was opened, for Prometheus."""
        # Imported here, because it loads prometheus_client.
        from blendwright.workspace.observing.metrics import Metrics

        return Metrics(self._events.counters)

    @property
    def blender(self) -> WorkerProfile:
        """The Blender that holds the scene."""
        return self._session.scene.profile

    @property
    def worker_pid(self) -> int:
        """The process id of that Blender."""
        return self._session.scene.worker().profile.pid

    def close(self, *, save: bool = True) -> None:
        """End Blender, and remove its scratch and the lock. A second call does nothing.

        With `save`, first save a checkpoint if redo would take long.
        """
        if self._closed:
            return
        self._closed = True
        scene = self._session.scene
        with contextlib.ExitStack() as ends:
            # The callbacks run in reverse order. An interrupt in one of them does not skip the others.
            ends.callback(self._scratch.remove)
            ends.callback(self._session.journal.close)
            ends.callback(self._events, WorkspaceClosed())
            ends.callback(self._end_workers)
            # The checkpoint is only a convenience. A problem with the scene or the disk shows at the next use.
            with contextlib.suppress(BlendwrightError):
                scene.head.end_background()
                if save and (scene.head.redo_ms > WORTH_SAVING_MS or scene.worth_saving):
                    scene.checkpoint()
            crash_points.reach("close.saved")

    def _end_workers(self) -> None:
        with contextlib.ExitStack() as ends:
            ends.callback(self._session.scene.close)
            self._pool.close()
        crash_points.reach("close.workers_ended")


class Compiler:
    """A compiler from plans and documents to valid plans. It caches the last document, because clients often repeat
    it.

    Validation is pure, so the result depends only on the document and the options. Tools, macros and terms do not
    change while a workspace is open.
    """

    def __init__(
        self,
        tools: Mapping[str, AnyTool],
        macros: Mapping[str, Macro],
        terms: ContractTerms,
        roots: FileRoots | None = None,
    ) -> None:
        self._tools = tools
        self._macros = macros
        self._terms = terms
        self._roots = roots
        self._last: tuple[_Source, ValidPlan] | None = None

    def compile(
        self,
        plan: Plan | Mapping[str, Any],
        request_id: str | None,
        boundary: Boundary | None,
        determinism: Determinism | None = None,
    ) -> ValidPlan | RunReport:
        """Return the valid plan, or the report that refuses it. Raise Refusal for a document that is not a plan."""
        source = None
        if not isinstance(plan, Plan):
            document = dict(plan)
            source = _source(document, request_id, boundary, determinism)
            if source is not None and self._last is not None and self._last[0] == source:
                return self._last[1]
            plan = self.parse(document, request_id, boundary)
            # The library files of a program may change between two calls.
            if plan.program is not None:
                source = None
        if determinism is None:
            terms = self._terms
        else:
            terms = self._terms.demanding(determinism)
        valid = validate(plan, self._tools, terms, self._macros)
        if not isinstance(valid, ValidPlan):
            return refused(plan, valid)
        if source is not None and len(valid.plan.operations) <= MOST_KEPT:
            self._last = (source, valid)
        return valid

    def parse(self, document: dict[str, Any], request_id: str | None, boundary: Boundary | None) -> Plan:
        """Return the plan in a document.

        A program gets the tools, macros and roots of this workspace. Raise Refusal for other documents.
        """
        surroundings = None
        if "program" in document and self._roots is not None:
            surroundings = surroundings_of((*self._tools, *self._macros), self._roots)
        return parse_plan(document, request_id=request_id, boundary=boundary, surroundings=surroundings)


def _source(
    document: dict[str, Any], request_id: str | None, boundary: Boundary | None, determinism: Determinism | None
) -> _Source | None:
    """Return a key that distinguishes any two documents, even 1, 1.0 and True.

    Return None for a document with other than plain values.
    """
    try:
        return hashlib.sha256(marshal.dumps(document, _MARSHAL_FORMAT)).digest(), request_id, boundary, determinism
    except ValueError:
        return None
