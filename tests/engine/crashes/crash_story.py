"""What a workspace lives through, told fact by fact, and taken up again from wherever an earlier process was killed in it.

Every story starts from the empty scene and uses the same names under request ids of its own: told to its end, however often it was
broken off, it has the hashes of one that nobody disturbed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import blendwright
from blendwright.engine.options import RunOptions
from blendwright.engine.scene import background_checkpoints
from blendwright.engine.scene import problems as workspace_problems
from blendwright.engine.scene.background_checkpoints import BackgroundCheckpoints
from blendwright.policy.policy import Levels, Policy, Rules, Verdict
from blendwright.records.commits import Commit
from blendwright.values.errors import EnvironmentUnfit, RebuildFailed, WorkerError
from blendwright.values.faults import Fault
from blendwright.values.outcome import Outcome
from blendwright.values.report import OperationReport, RunReport
from blendwright.versions.rebaseline import rebaseline
from blendwright.workspace import open_scene, opening
from blendwright.workspace.reading import inspection_workers, read_journal, repair_journal
from support.plans.documents import box

Tell = Callable[[str], None]
Result = TypeVar("Result", RunReport, Outcome)

# More than a group, and enough that the worker may answer several together.
MANY = 140
# Its exports replace those of the story before, and nobody is there to ask.
REPLACING = Policy(policy=Rules(levels=Levels(destructive=Verdict.ALLOW)))
TRIANGLE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
# A worker may be killed once while a part runs; the part is then asked for again.
ATTEMPTS = 4
# Every so many stories have a plan that is taken back: what is left of the scene then takes another Blender.
FAILING = 10


def empty(id: str) -> dict[str, Any]:
    return box(id, tool_name="object.create_empty", args={"name": id, "location": [len(id), 0, 0]})


def moved(id: str, name: str, *waits_for: str, to: float = 1.0) -> dict[str, Any]:
    return box(id, *waits_for, tool_name="object.transform", args={"name": name, "location": [0, 0, to]})


class Story:
    """One story in an open workspace. `files` is where its exports go."""

    def __init__(self, scene: blendwright.OpenScene, number: int, files: Path, tell: Tell) -> None:
        self.scene = scene
        self.number = number
        self.files = files
        self.tell = tell

    def play(self) -> None:
        # What HEAD says is rebuilt, with every hash compared, before anything else is asked for.
        self._insist(lambda: self.scene.worker_pid)
        self._mend()
        line = self._line()
        if not any(commit.request_id == self._request("many") for commit in line):
            self._move("checkout", lambda: self.scene.history.checkout(1))
        if not any(commit.kind == "adopt" for commit in line if self._mine(commit, line)):
            self._until_adopted()
        if not any(commit.kind == "rebaseline" for commit in self._line() if self._mine(commit, self._line())):
            self._rebaseline()
        self._plan("after", [moved("last", "Box a", to=2.0)])
        self.tell(f"end {self.number} {self.scene.hash}")

    def _until_adopted(self) -> None:
        self._plan("many", [empty(f"e{number:03d}") for number in range(MANY)])
        self._plan("many", [empty("e000")], known=True)
        stl = {"path": str(self.files / "box.stl"), "objects": ["Box a"], "overwrite": True}
        export = box("out", "a", tool_name="file.export", args=stl, safety_level="destructive")
        self._plan("files", [box("a"), export, moved("z", "Box a", "out")])
        if not any(commit.tool == "file.import" for commit in self._line() if self._mine(commit, self._line())):
            self._call("file.import", {"path": str(self.files / "triangle.obj")})
        self._plan("whole", [box("w1"), box("w2")], boundary="plan")
        if self.number % FAILING == 0:
            self._plan("failing", [box("f1"), box("f2"), moved("x", "nobody")], boundary="plan", fails=True)
        edited = self.files / "edited.blend"
        if not any(commit.request_id == self._request("later") for commit in self._line()):
            self._call("file.export", {"path": str(edited), "overwrite": True})
        self._plan("later", [moved("l", "Box w1")])
        self._move("undo", lambda: self.scene.history.undo(1))
        self._move("redo", lambda: self.scene.history.redo())
        self._adopt(edited)

    # ------------------------------------------------------------------ parts

    def _mend(self) -> None:
        """What a person does after a crash: looks after effects that nobody knows of, and goes forward again after an undo."""
        journal = self.scene.journal
        for intent in journal.recovery.indeterminate():
            journal.recovery.resolve_intent(intent.id, "looked after")
        if journal.redo_target() is not None and self._mine(journal.show(journal.redo_target() or 0), ()):
            self._move("redo", lambda: self.scene.history.redo())

    def _plan(
        self,
        name: str,
        listed: list[dict[str, Any]],
        *,
        boundary: Any = "operation",
        fails: bool = False,
        known: bool = False,
    ) -> None:
        document = {"request_id": self._request(name), "operations": listed}

        def progress(report: OperationReport) -> None:
            if report.status == "succeeded":
                self.tell(f"ack {document['request_id']} {report.operation_id} {report.scene_hash_after}")

        report = self._until_kept(lambda: self.scene.run(document, RunOptions(progress=progress), boundary=boundary))
        faults = {operation.fault for operation in report.operations if operation.fault is not None}
        assert report.ok != fails, [operation.message for operation in report.operations]
        if fails:
            assert faults == {Fault.TARGET_NOT_FOUND}, faults
        assert not known or all(operation.status == "skipped_idempotent" for operation in report.operations)
        if fails and boundary == "plan":
            self.tell(f"rolled_back {document['request_id']}")

    def _call(self, tool: str, args: Mapping[str, Any]) -> None:
        outcome = self._until_kept(lambda: self.scene.outcome(tool, args))
        assert outcome.ok, outcome.message
        self.tell(f"called {tool} {outcome.fingerprint_after}")

    def _move(self, kind: str, move: Callable[[], Any]) -> None:
        where = self._insist(move).commit.number
        self.tell(f"moved {kind} {where}")

    def _adopt(self, file: Path) -> None:
        adopted = self._insist(lambda: self.scene.history.adopt(file))
        # None: it was adopted in the attempt that lost its worker afterwards.
        if adopted is not None:
            self.tell(f"adopted {adopted.number} {adopted.hash_after}")

    def _rebaseline(self) -> None:
        """The commit with which a workspace moves to another Blender; here the Blender stays the same."""
        live = self.scene._session.scene  # pyright: ignore[reportPrivateUsage]

        def move() -> Commit:
            worker = live.worker()
            worker.save("moved.blend")
            scene_hash = worker.open("moved.blend")
            made = rebaseline(self.scene.journal, worker.require_process().scratch / "moved.blend", scene_hash, {}, {})
            live.follow_head()
            return made

        made = self._insist(move)
        self.tell(f"rebaselined {made.number} {made.hash_after}")

    @staticmethod
    def _until_kept(act: Callable[[], Result]) -> Result:
        """Where it lost its worker, it is asked for again: what was done meanwhile is not done twice."""
        for _ in range(ATTEMPTS - 1):
            result = act()
            reports = result.operations if isinstance(result, RunReport) else (result,)
            if all(report.fault is not Fault.WORKER_LOST for report in reports):
                return result
        return act()

    @staticmethod
    def _insist(act: Callable[[], Any]) -> Any:
        for attempt in range(ATTEMPTS):
            try:
                return act()
            except (WorkerError, RebuildFailed):
                if attempt == ATTEMPTS - 1:
                    raise
        raise AssertionError

    # ------------------------------------------------------------------ where the story stands

    def _request(self, name: str) -> str:
        return f"story-{self.number}-{name}"

    def _line(self) -> tuple[Commit, ...]:
        return self.scene.journal.log(limit=10_000)

    def _mine(self, commit: Commit, line: tuple[Commit, ...]) -> bool:
        """Whether it came after this story's first commit; every story has a line of its own."""
        line = line or self._line()
        return any(other.request_id == self._request("many") and other.number <= commit.number for other in line)


class Followed(BackgroundCheckpoints):
    """Follows the stories that are to be followed, and has them wait for it: what is reached in it is reached in each of them."""

    now = False

    def advance(self, redo_ms: float) -> float:
        if not self.now:
            return redo_ms
        redo_ms = super().advance(redo_ms)
        self.wait()
        return redo_ms

    def _put_off(self, why: str, redo_ms: float) -> float:
        """The next one is tried at once: whether there is twice as much to redo by then depends on the machine."""
        redo_ms = super()._put_off(why, redo_ms)
        if not self.disagreed:
            self._min_redo_ms = self.due_ms = 0.0
        return redo_ms


def tell_stories(
    workspace: Path, numbers: list[int], tell: Tell, before: Callable[[int], None], *, followed: bool = False
) -> None:
    """Open the workspace, play these stories one after the other, and close it. `before` is called before each. `followed`: some of
    them have checkpoints made beside them."""
    open_scene.WORTH_SAVING_MS = 0.0
    background_checkpoints.MIN_REDO_MS = background_checkpoints.MIN_SHARE_OF_SAVING = 0.0
    opening.__dict__["BackgroundCheckpoints"] = Followed
    files = files_of(workspace)
    files.mkdir(exist_ok=True)
    (files / "triangle.obj").write_text(TRIANGLE)
    before(numbers[0])
    leave_quarantine(workspace)
    with blendwright.open(workspace, roots=[files], policy=REPLACING, spare=followed) as scene:
        for sentence in scene.recovered:
            tell(f"recovered {sentence}")
        for place, number in enumerate(numbers):
            if place:
                before(number)
            Story(scene, number, files, tell).play()


def files_of(workspace: Path) -> Path:
    return workspace.with_name(f"{workspace.name}-files")


def leave_quarantine(workspace: Path) -> None:
    """The way that `blendwright recover --to` takes."""
    if not (workspace / "journal.db").exists():
        return
    try:
        with read_journal(workspace) as view:
            quarantined, head = view.recovery.quarantine(), view.head
    except EnvironmentUnfit:
        return  # killed before there was a schema in it
    if quarantined is not None and head is not None:
        with repair_journal(workspace) as journal, inspection_workers(workspace) as blenders:
            workspace_problems.return_to(journal, blenders.worker(), head.number)


def enter_quarantine(workspace: Path) -> None:
    with repair_journal(workspace) as journal:
        journal.recovery.begin_quarantine("trial", expected="one", found="another")
