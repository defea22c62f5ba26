"""A workspace that is open: its scene can be called upon, and plans run on it."""

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

# Redo beyond this is worth a checkpoint when the workspace is closed: saving costs a small part of it.
WORTH_SAVING_MS = 300.0
# Version 2 of the format has no references between equal objects: the bytes follow from the values alone.
_MARSHAL_FORMAT = 2

_Source = tuple[bytes, str | None, Boundary | None, Determinism | None]


class OpenScene:
    """Close it, or use it in a `with` statement. `recovered` says what had to be put in order when it was opened."""

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
        """What speaks against writing a file there, for whoever wants to know before there is something to write."""
        return self._session.files.target_findings(path)

    def judged_target(self, path: Path) -> Path:
        """Where a file may be written, without links. Raises Refusal."""
        return self._session.files.judged_target(path)

    def outcome(self, tool: str, args: Any, options: RunOptions = DEFAULT_OPTIONS) -> Outcome:
        """Call a tool or macro and get everything that is known about it, before any contract renders it."""
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
        """Run a plan: a document of any dialect, or one that was parsed already (then request_id and boundary are its own).

        What was done before under the same ids is not done again.
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
            # What one operation means to do, its commit says.
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
        """The report that refuses a plan, None where it may run. Starts no Blender, so what only Blender knows is not found here."""
        valid = self._compiler.compile(plan, None, plan.boundary, determinism)
        if isinstance(valid, RunReport):
            return valid
        return None

    def missing_uses(self, uses: Sequence[Use]) -> tuple[Finding, ...]:
        """What a plan uses and neither it nor the scene has, as far as a Blender holds the scene already."""
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
        """What a plan would do, found out on a copy of the scene in another worker; `image` is where to write a picture of it, and
        `look` is called with the worker that holds it. `instead`: in the place of the last plan, or of the one of that request,
        compared with the scene as it is now."""
        if not isinstance(plan, Plan):
            plan = self._compiler.parse(dict(plan), request_id, boundary)
        with self._session.scene.turn("preview"):
            if self._session.journal.head is None:
                self._session.scene.worker()  # what a new workspace starts from is its first commit, and so comes along into the copy
        self._session.scene.head.record_background()
        return self._previews.preview(plan, options, image=image, look=look, instead=instead)

    @contextlib.contextmanager
    def spare_worker(self) -> Generator[RemoteScene]:
        """Give a Blender without a scene to a caller that compares or rehearses. It ends with the `with` statement.

        A checkpoint that is ready by now is recorded first, because it shortens every rebuild."""
        self._session.scene.head.record_background()
        worker = self._session.scene.take_worker()
        try:
            yield worker
        finally:
            worker.abandon()

    def keep_artifacts(self, names: Sequence[str], scratch: Path) -> list[str]:
        """Keep files from a worker's scratch among the workspace's artifacts. Returns the paths that they have there."""
        return self._session.files.keep_artifacts(names, scratch)

    def as_host(self, proposal: Proposal) -> OpenScene:
        """The same open scene for another host, under a contract of its own. Closing is for whoever opened it.

        Raises Refusal when there can be no contract with such a host."""
        return OpenScene(self._session.for_host(proposal), self._scratch, self._pool, self.recovered, self._events)

    def turn(self, label: str) -> contextlib.AbstractContextManager[None]:
        """For what is to be one undo step in an open window; everywhere else it means nothing."""
        return self._session.scene.turn(label)

    def warm(self) -> None:
        """Start Blender and bring the scene up ahead of the first call. Raises EnvironmentUnfit where there is none."""
        self._session.scene.worker()

    def save_checkpoint(self) -> None:
        """Save the scene in the workspace, so that whoever opens it next has nothing to redo."""
        self._session.scene.checkpoint()

    def rest(self) -> None:
        """Nobody is about to ask for anything: give up memory that is held only to be quick."""
        self._session.journal.release_memory()

    @property
    def tools(self) -> Mapping[str, AnyTool]:
        """What can be called, by name; macros are not among them."""
        return self._session.tools

    @property
    def terms(self) -> ContractTerms:
        """What plans are held to before Blender is known."""
        return self._session.draft.terms

    @property
    def contract(self) -> SessionContract:
        """What this session is held to; starts Blender. Raises Refusal when there can be none with this Blender."""
        return self._session.contract.contract()

    @property
    def hash(self) -> str:
        """The fingerprint of the scene as it stands."""
        return self._session.scene.hash

    @property
    def journal(self) -> Journal:
        """The history of the workspace."""
        return self._session.journal

    @property
    def history(self) -> History:
        """Checkout, branches, tags, undo, redo, adopt, gc."""
        return self._session.scene.history()

    def checkout(self, to: int | str, options: RunOptions = DEFAULT_OPTIONS, *, take_branch: bool = False) -> Moved:
        """Go to the scene of a commit or a branch, as whoever is held to the policy may: the rules for `history.checkout`, a safe_write,
        decide. `take_branch` as in `History.checkout`.

        `history` asks nobody: it is for those who own the workspace. Raises Refusal."""
        self._require_not_denied(CHECKOUT, SafetyLevel.SAFE_WRITE)  # first: who may not go anywhere learns of no commit
        target = find(self._session.journal, to).number
        self.require_move(target, options)
        return self.history.checkout(to, take_branch=take_branch)

    def require_move(self, target: int, options: RunOptions = DEFAULT_OPTIONS) -> None:
        """Raises Refusal where the rules for `history.checkout` do not let HEAD move to this commit."""
        self.require_allowed(CHECKOUT, SafetyLevel.SAFE_WRITE, {"commit": target}, options)

    def require_allowed(
        self, act: str, level: SafetyLevel, args: Mapping[str, Any], options: RunOptions = DEFAULT_OPTIONS
    ) -> None:
        """For what is done beside the runner: raises Refusal where the rules for this name and level deny it, or say that a person must
        allow it and nobody does."""
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
        against = list(denied(self.terms, act, level.value))
        if against:
            raise Refusal(against)

    @property
    def metrics(self) -> Metrics:
        """What happened since the workspace was opened, for Prometheus."""
        # Loads prometheus_client.
        from blendwright.workspace.observing.metrics import Metrics

        return Metrics(self._events.counters)

    @property
    def blender(self) -> WorkerProfile:
        """The Blender that holds the scene."""
        return self._session.scene.profile

    @property
    def worker_pid(self) -> int:
        """The process of that Blender."""
        return self._session.scene.worker().profile.pid

    def close(self, *, save: bool = True) -> None:
        """End Blender and remove what it left; a second time does nothing. `save`: keep a checkpoint where redo would take long."""
        if self._closed:
            return
        self._closed = True
        scene = self._session.scene
        with contextlib.ExitStack() as ends:
            # From the last to the first; an interruption in one of them keeps none of the others from being done.
            ends.callback(self._scratch.remove)
            ends.callback(self._session.journal.close)
            ends.callback(self._events, WorkspaceClosed())
            ends.callback(self._end_workers)
            # A checkpoint is a convenience; what is wrong with the scene or the disk shows when it is needed next.
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
    """Plans and documents to valid plans. The last document's is kept: the same one often comes again, to be continued or to be sure.

    Validation is pure, so nothing but the document and the options decides; tools, macros and terms stay what they are while a
    workspace is open."""

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
        """The valid plan, or the report that refuses it. Raises Refusal for what is no plan at all."""
        source = None
        if not isinstance(plan, Plan):
            document = dict(plan)
            source = _source(document, request_id, boundary, determinism)
            if source is not None and self._last is not None and self._last[0] == source:
                return self._last[1]
            plan = self.parse(document, request_id, boundary)
            # library files may be others next time
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
        """The plan of a document; a program finds the tools, macros and roots of this workspace. Raises Refusal for what is none."""
        around = None
        if "program" in document and self._roots is not None:
            around = surroundings_of((*self._tools, *self._macros), self._roots)
        return parse_plan(document, request_id=request_id, boundary=boundary, surroundings=around)


def _source(
    document: dict[str, Any], request_id: str | None, boundary: Boundary | None, determinism: Determinism | None
) -> _Source | None:
    """What tells a document from any other, also 1 from 1.0 and from True; None for one that holds more than plain values."""
    try:
        return hashlib.sha256(marshal.dumps(document, _MARSHAL_FORMAT)).digest(), request_id, boundary, determinism
    except ValueError:
        return None
