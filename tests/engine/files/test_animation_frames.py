"""Animations: frames are rendered once, however a render ends, and arrive whole where the call said."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from blendwright.engine import heartbeat as waiting
from blendwright.engine.files.render_frames import frame_path
from blendwright.engine.heartbeat import Waiting
from blendwright.policy.policy import Constraints, Policy
from blendwright.tools.render.rendering import read_picture
from blendwright.values.faults import Fault
from support.engine.engine import Engine
from support.processes.shell import PROGRAM

FRAMES = 16
STAGE: list[tuple[str, dict[str, Any]]] = [
    ("mesh.create_primitive", {"kind": "cube", "name": "Box"}),
    ("light.create", {"name": "Sun", "type": "SUN"}),
    ("camera.create", {"name": "Eye", "location": [6, -6, 4]}),
    ("camera.look_at", {"object": "Eye", "target": "Box"}),
    ("camera.set_active", {"object": "Eye"}),
    ("scene.set_render", {"engine": "CYCLES", "samples": 24, "resolution": [64, 48]}),
    ("camera.turntable", {"objects": ["Box"], "turn": "OBJECTS", "frames": FRAMES}),
]
TICK = threading.Event()  # is never set: for waiting


@pytest.fixture
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(tmp_path_factory.mktemp("film")) as engine:
        for tool, args in STAGE:
            engine.do(tool, args)
        yield engine


def kept(place: Path) -> set[str]:
    return {path.name for path in place.glob("frames/*/*.png")}


def until(true: Callable[[], object], seconds: float = 60.0) -> None:
    for _ in range(int(seconds * 50)):
        if true():
            return
        TICK.wait(0.02)
    raise AssertionError("it did not happen")


def shown(path: Path) -> str:
    picture = read_picture(str(path))
    assert picture is not None and picture[:2] == (64, 48)
    return picture[2]


def test_a_render_whose_worker_is_killed_goes_on_where_it_was(engine: Engine) -> None:
    template = engine.place / "out" / "film_####.png"
    args = {"frames_path": str(template), "denoise": False}
    outcome, _ = engine.underway("render.animation", args)
    until(lambda: len(kept(engine.place)) >= 2)
    engine.kill_worker()
    broken = outcome.result(60)
    assert broken.fault is Fault.WORKER_LOST
    assert not (engine.place / "out").exists(), "nothing arrives of a call that failed"
    there = kept(engine.place)
    assert 2 <= len(there) < FRAMES, "it was killed in the middle"
    before = {path: path.stat().st_mtime_ns for path in engine.place.glob("frames/*/*.png")}
    result = engine.do("render.animation", args).result
    assert result is not None
    assert (result["frames"], result["rendered"], result["partial"]) == (FRAMES, FRAMES - len(there), False)
    assert {path: path.stat().st_mtime_ns for path in before} == before, "what was there was not rendered again"
    # The frames are what a still of that frame shows, those from before the kill and those from after it.
    for number in (1, len(there), len(there) + 1, FRAMES):
        still = engine.do("render.still", {"frame": number, "denoise": False, "artifact": f"still{number}.png"}).result
        assert still is not None
        assert shown(frame_path(template, number)) == still["pixels_sha256"], number
    # The same frames, asked for as a video: none is rendered.
    video = engine.do("render.animation", {"path": str(engine.place / "out" / "film.mp4"), "denoise": False}).result
    assert video is not None and (video["rendered"], video["frames"]) == (0, FRAMES)
    assert (engine.place / "out" / "film.mp4").read_bytes()[4:8] == b"ftyp"


@pytest.mark.slow
def test_a_cancelled_render_goes_on_and_tells_each_frame(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "INTERVAL_SECONDS", 0.01)  # a quick machine is done within a second
    outcome, token = engine.underway("render.animation", {"denoise": False})
    until(lambda: len(kept(engine.place)) >= 2)
    token.cancel()
    assert outcome.result(60).fault is Fault.CANCELLED
    there = len(kept(engine.place))
    said: list[Waiting] = []
    done = engine.do("render.animation", {"denoise": False}, waiting=said.append)
    assert done.result is not None and done.result["rendered"] == FRAMES - there
    assert Path(done.artifacts[0]).name == "animation.mp4" and Path(done.artifacts[0]).is_file()
    assert any("of 16)" in one.last and one.last.startswith("frame ") for one in said)


def test_when_the_time_is_over_what_is_there_is_delivered_and_the_rest_follows(engine: Engine) -> None:
    target = engine.place / "parts" / "f###.png"
    args = {
        "frames_path": str(target),
        "path": str(engine.place / "parts" / "film.webm"),
        "samples": 1,
        "denoise": False,
    }
    first = engine.do("render.animation", {**args, "time_limit_s": 1e-6}).result
    assert first is not None and first["partial"] and first["path"] is None
    assert (first["frames"], first["rendered"], first["missing"]) == (1, 1, FRAMES - 1)
    assert [path.name for path in target.parent.iterdir()] == ["f001.png"], "and no video of a part"
    second = engine.do("render.animation", args).result
    assert second is not None and not second["partial"]
    assert second["rendered"] == FRAMES - 1, "and those that arrived before are not in the way"
    assert len(list(target.parent.glob("f*.png"))) == FRAMES
    assert (target.parent / "film.webm").read_bytes().startswith(b"\x1aE\xdf\xa3")


def test_what_cannot_be_ready_in_time_is_said_after_the_first_frames_which_are_kept(engine: Engine) -> None:
    # However fast the machine: four thousand frames are not rendered in eight seconds.
    args = {"end": 4000, "denoise": False}
    with engine.under(Policy(constraints=Constraints(render_seconds=8.0))):
        refused = engine.call("render.animation", args)
    assert refused.fault is Fault.LIMIT_EXCEEDED
    [finding] = refused.findings
    assert re.search(r"^39\d\d frames at about .* s each take about .* s, over the limit of 8 s", finding.message)
    assert finding.cure is not None and "background: true" in finding.cure and "time_limit_s: 7" in finding.cure
    there = len(kept(engine.place))
    assert 1 <= there <= 3
    # The cure, followed: what fits, from where it was.
    with engine.under(Policy(constraints=Constraints(render_seconds=8.0))):
        part = engine.do("render.animation", {**args, "time_limit_s": 1}).result
    assert part is not None and part["partial"] and part["frames"] == there + part["rendered"]
    fewer = engine.do("render.animation", {**args, "end": there + 1}).result
    assert fewer is not None and not fewer["partial"] and fewer["rendered"] <= 1


def test_another_scene_has_other_frames_and_files_of_others_stay(engine: Engine) -> None:
    target = engine.place / "shots" / "a_####.png"
    args = {"frames_path": str(target), "end": 2, "samples": 1, "denoise": False}
    assert engine.do("render.animation", args).artifacts == tuple(str(frame_path(target, number)) for number in (1, 2))
    old = shown(frame_path(target, 1))
    engine.do("object.transform", {"object": "Box", "scale": [2, 1, 1]})
    refused = engine.call("render.animation", args)
    assert refused.fault is Fault.SCENE_CONFLICT and refused.findings[0].pointer == "/frames_path"
    assert shown(frame_path(target, 1)) == old
    result = engine.do("render.animation", {**args, "overwrite": True}).result
    assert result is not None and result["rendered"] == 2 and shown(frame_path(target, 1)) != old
    outside = engine.call("render.animation", {**args, "frames_path": "/somewhere/else_####.png"})
    assert outside.fault is Fault.POLICY_BLOCKED and outside.findings[0].pointer == "/frames_path"
    for sort in range(4):
        engine.do("render.animation", {"end": 1, "samples": 1, "denoise": False, "seed": sort})
    assert len(list((engine.place / "frames").iterdir())) == 3, "only the last sequences are kept"


@pytest.mark.slow
@pytest.mark.real_starts
def test_a_killed_program_leaves_frames_that_the_next_one_takes_up(tmp_path: Path) -> None:
    """The core itself is killed, with its worker; another process goes on."""

    def blendwright(*arguments: str) -> list[str]:
        return [str(PROGRAM), *arguments, "--workspace", str(tmp_path / "work")]

    for tool, args in STAGE:
        subprocess.run(blendwright("call", tool, "--args", json.dumps(args)), check=True, capture_output=True)
    film = blendwright("call", "render.animation", "--json", "--args", json.dumps({"artifact": "film.mp4"}))
    process = subprocess.Popen(film, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    until(lambda: len(kept(tmp_path / "work")) >= 3)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(60)
    there = len(kept(tmp_path / "work"))
    assert there < FRAMES
    again = subprocess.run(film, check=True, capture_output=True)
    result = json.loads(again.stdout)["result"]
    assert (result["frames"], result["rendered"]) == (FRAMES, FRAMES - there)
    assert (tmp_path / "work" / "artifacts" / "film.mp4").is_file()
