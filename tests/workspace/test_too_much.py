"""What asks for more than there is: files of ten gigabytes, output without end, a hundred million points. Each is refused or ended in
time, nothing of it stays, and the next call works."""

from __future__ import annotations

import os
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import bpy
import pytest

import blendwright
from blendwright.blender.scene import SceneState
from blendwright.engine.files.roots import FileRoots
from blendwright.engine.scene.external_files import MAX_HASHED_BYTES, External, Externals
from blendwright.policy.policy import Constraints, Policy, Verdict
from blendwright.values.errors import RebuildFailed, Refusal
from blendwright.values.faults import Fault
from blendwright.views.queries import recorded_externals
from support.plans.documents import geonodes_plan, tree_step

LARGE = 10 << 30


def sparse(path: Path, size: int = LARGE, begin: bytes = b"") -> Path:
    """A file that takes no room on the disk."""
    with path.open("wb") as file:
        file.write(begin)
        file.truncate(size)
    assert path.stat().st_blocks * 512 < 1 << 20
    return path


def room_taken(directory: Path) -> int:
    return sum(path.lstat().st_blocks * 512 for path in directory.rglob("*") if path.is_file())


def workspace(opened: blendwright.OpenScene) -> Path:
    return opened._scratch.path.parents[1]  # pyright: ignore[reportPrivateUsage]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Generator[blendwright.OpenScene]:
    place = tmp_path_factory.mktemp("too-much")
    with blendwright.open(place / "workspace", roots=[place], spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="plane", name="Plane").ok
        yield scene


@pytest.fixture
def place(opened: blendwright.OpenScene) -> Iterator[Path]:
    """The only root; the scene must be as before, and workable, when the test has ended."""
    before = opened.hash
    yield workspace(opened).parent
    assert opened.hash == before
    assert opened.call("object.transform", name="Plane", location=[0, 0, 0]).ok


# ---------------------------------------------------------------------- ten gigabytes


@pytest.mark.parametrize("suffix", ["obj", "glb", "usdc"])
def test_a_file_of_ten_gigabytes_is_not_imported(opened: blendwright.OpenScene, place: Path, suffix: str) -> None:
    file = sparse(place / f"large.{suffix}", begin=b"glTF" if suffix == "glb" else b"")
    result = opened.call("file.import", path=str(file))
    assert (result.ok, result.error_code) == (False, "policy_refused"), result.message
    assert "10240 MB" in result.message and "4096 MB" in result.message
    assert room_taken(workspace(opened)) < 100 << 20


def test_ten_gigabytes_beside_a_small_file_count_too(opened: blendwright.OpenScene, place: Path) -> None:
    (place / "small.obj").write_text("mtllib small.mtl\nv 0 0 0\n")
    sparse(place / "small.mtl")
    result = opened.call("file.import", path=str(place / "small.obj"))
    assert not result.ok and "10240 MB" in result.message
    assert room_taken(workspace(opened)) < 100 << 20


def test_a_scene_of_ten_gigabytes_is_refused_before_it_is_copied(tmp_path: Path) -> None:
    file = sparse(tmp_path / "large.blend", begin=b"BLENDER")
    with pytest.raises(Refusal, match="10240 MB, but at most 4096 MB are allowed") as caught:
        blendwright.open(tmp_path / "workspace", scene=file)
    assert "scratch_mb" in (caught.value.findings[0].cure or "")
    assert room_taken(tmp_path / "workspace") < 1 << 20
    with blendwright.open(tmp_path / "workspace", spare=False) as scene:
        assert scene.journal.head is None, "nothing was begun"


def test_a_file_of_ten_gigabytes_is_not_adopted(opened: blendwright.OpenScene, place: Path) -> None:
    head = opened.journal.head
    with pytest.raises(RebuildFailed, match="10240 MB, but at most 4096 MB are allowed") as caught:
        opened.history.adopt(sparse(place / "large.blend", begin=b"BLENDER"))
    assert "scratch_mb" in (caught.value.cure or "")
    assert opened.journal.head == head and room_taken(workspace(opened)) < 100 << 20


def test_external_files_without_end_are_recorded_by_their_size(tmp_path: Path) -> None:
    """A scene can name as many as it likes: so much is hashed, and no more."""
    SceneState().reset()  # whatever other tests left in the Blender of this process
    data = bpy.data
    for number in range(3):
        image = data.images.load(str(sparse(tmp_path / f"{number}.png", LARGE << number)))
        image.use_fake_user = True
    bpy.ops.wm.save_as_mainfile(filepath=str(tmp_path / "scene.blend"), copy=True)
    with blendwright.open(
        tmp_path / "workspace", scene=tmp_path / "scene.blend", roots=[tmp_path], spare=False
    ) as scene:
        scene.warm()
        recorded = recorded_externals(scene.journal)
    assert [(each.state, each.size, each.sha256) for each in recorded] == [
        ("present", LARGE << number, None) for number in range(3)
    ]
    files = Externals(FileRoots({str(tmp_path): Verdict.ALLOW}))
    assert files.now(recorded[0]) == recorded[0]
    os.truncate(tmp_path / "0.png", LARGE + 1)
    assert files.now(recorded[0]).state == "changed", "another size says enough"


def test_what_is_hashed_of_external_files_is_bounded_in_sum(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_HASHED_BYTES < LARGE
    files = Externals(FileRoots({str(tmp_path): Verdict.ALLOW}))
    small = tmp_path / "small.png"
    small.write_bytes(b"picture")
    recorded = External(str(small), "present", 7, "0" * 64, ("images/x",))
    assert files.now(recorded).state == "changed", "the same size, and another content"
    small.write_bytes(b"a longer picture")
    assert files.now(recorded).state == "changed"


# ---------------------------------------------------------------------- output without end


@pytest.mark.parametrize(
    "code",
    [
        pytest.param("while True: print('x' * 1000)", id="lines"),
        pytest.param("while True: print('x' * (1 << 24))", id="large pieces", marks=pytest.mark.slow),
        pytest.param("while True: print('', end='')", id="nothing", marks=pytest.mark.slow),
    ],
)
def test_code_that_prints_without_end_is_ended_and_what_it_printed_is_bounded(
    opened: blendwright.OpenScene, place: Path, code: str
) -> None:
    result = opened.call("python.run", code=code, timeout_ms=3000)
    assert not result.ok and result.error_code in ("timeout", "policy_refused"), (result.error_code, result.message)
    assert len(str(result.details)) < 200_000
    assert room_taken(workspace(opened) / "logs") < 10 << 20


# ---------------------------------------------------------------------- a hundred million points


def bomb(points: int) -> tuple[dict[str, Any], ...]:
    output = {"node_id": "group_output", "socket": "Geometry"}
    return (
        {"op": "create_node", "node_id": "p", "bl_idname": "GeometryNodePoints"},
        {"op": "set_input_default", "node_id": "p", "socket": "Count", "value": points},
        {"op": "link", "from": {"node_id": "p", "socket": "Points"}, "to": output},
    )


@contextmanager
def peak_memory(pid: int) -> Generator[list[int]]:
    """The most memory that a process had, in MB, as far as the kernel told before it ended."""
    peaks, done = [0], threading.Event()

    def look() -> None:
        while not done.wait(0.02):
            try:
                text = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                return
            peaks.extend(int(line.split()[1]) >> 10 for line in text.splitlines() if line.startswith("VmHWM:"))

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()


@pytest.mark.slow
@pytest.mark.parametrize("points", [100_000_000, 1_000_000_000])
def test_nodes_that_make_points_without_end_cost_a_call_and_nothing_else(tmp_path: Path, points: int) -> None:
    policy = Policy(constraints=Constraints(call_seconds=5.0, memory_mb=8192))
    with blendwright.open(tmp_path / "workspace", policy=policy, spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="plane", name="Plane").ok
        before, head = scene.hash, scene.journal.head
        assert head is not None
        worker = scene.worker_pid
        with peak_memory(worker) as peaks:
            report = scene.run(geonodes_plan(tree_step("bomb", *bomb(points), object_name="Plane")), boundary="plan")
        assert not report.ok
        assert {finding.fault for finding in report.all_findings()} <= {
            Fault.TOOL_TIMEOUT, Fault.WORKER_LOST, Fault.EXECUTION_FAILED, Fault.VERIFICATION_FAILED,
        }  # fmt: skip
        assert max(peaks) < 8192
        assert scene.hash == before
        assert scene.call("scene.snapshot").ok
        assert scene.call("mesh.create_primitive", kind="cube", name="After").ok
        assert scene.journal.audit.verify().ok


@pytest.mark.slow
def test_a_tree_that_nobody_can_evaluate_and_that_was_kept_can_be_undone(tmp_path: Path) -> None:
    policy = Policy(constraints=Constraints(call_seconds=5.0, memory_mb=8192))
    with blendwright.open(tmp_path / "workspace", policy=policy, spare=False) as scene:
        assert scene.call("mesh.create_primitive", kind="plane", name="Plane").ok
        before = scene.hash
        assert not scene.run(geonodes_plan(tree_step("bomb", *bomb(1_000_000_000), object_name="Plane"))).ok
        assert scene.hash != before, "the step was done, and its gate is what failed"
    with blendwright.open(tmp_path / "workspace", policy=policy, spare=False) as scene:
        scene.history.undo(1)
        assert scene.hash == before
        assert scene.call("scene.snapshot").ok
        assert scene.journal.audit.verify().ok
