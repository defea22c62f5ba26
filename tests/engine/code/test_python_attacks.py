"""Hostile code in safe mode reaches nothing, whether it is read first or not, and the scene is as before."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.blender.confinement.attacking import HARMLESS, LIBRARY, SCRIPT, SECRET

from blendwright.engine.code import resource_guard as watching
from blendwright.engine.files.access import FileAccess
from blendwright.policy.policy import Limits, Policy, Verdict
from blendwright.tools.python.code_check import check_code
from blendwright.values.faults import Fault
from blendwright.wire.worker_environment import private_directories, private_environment
from engine.code.python_attacks import COUNT, ENDED, FRUITLESS, bundle
from support.engine.engine import Engine

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="confinement exists on Linux only")

LONG_CODE = Policy(limits=Limits(python_code_chars=1_000_000))
SECRET_OF_THE_CORE = "hush-from-the-environment"
# Few are enough while working; the rest are tried with the slow tests.
QUICK = {"leave_a_registered_text", "write_junk_to_the_core", "fork_without_end"}
# What only running shows: bombs of ordinary Python.
READS_WELL = {"never_end", "take_all_memory", "ask_for_all_memory_at_once"}


class Bounded(Engine):
    """With little room for what code may write."""

    @property
    def files(self) -> FileAccess:
        return FileAccess({str(self.place): Verdict.ALLOW}, self.place / "artifacts", scratch_mb=64)


def unread(code: str, *, trusted: bool, files: bool = False) -> tuple[()]:
    return ()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """Nobody reads the code here: the confinement is the boundary."""
    with pytest.MonkeyPatch.context() as patch, Bounded(tmp_path_factory.mktemp("attacks")) as engine:
        patch.setattr("blendwright.tools.python.run.check_code", unread)
        patch.setattr(watching, "RESIDENT_MB", 1024)
        patch.setenv("BLENDWRIGHT_TEST_SECRET", SECRET_OF_THE_CORE)
        engine.agree(LONG_CODE)
        engine.do("mesh.create_primitive", {"kind": "cube", "name": "Crate"})
        yield engine


def laid_out(place: Path) -> Path:
    """What the attacks are after."""
    outside = place / "outside"
    outside.mkdir(exist_ok=True)
    (outside / SECRET).write_text("hush")
    (outside / SCRIPT).write_text("ran = True\n")
    for name in ("truncate", "delete", "move", "mode"):
        (outside / f"victim-{name}.txt").write_text("intact")
    (outside / "outside.png").write_bytes(_picture())
    return outside


def _picture() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")

    header = (1).to_bytes(4, "big") * 2 + bytes([8, 2, 0, 0, 0])
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(4))) + chunk(b"IEND", b"")


def succeeded(text: str) -> list[str]:
    found = re.search(r"succeeded (\[.*?\])", text)
    assert found, text[-2000:]
    return json.loads(found[1])


def stopped(engine: Engine, code: str, faults: set[Fault]) -> str:
    before, head = engine.scene.hash, engine.head().number
    milliseconds = 3000 if Fault.TOOL_TIMEOUT in faults else 25_000
    outcome = engine.call("python.run", {"code": code, "timeout_ms": milliseconds})
    assert outcome.fault in faults, (outcome.fault, outcome.message, outcome.result)
    assert (engine.scene.hash, engine.head().number) == (before, head)
    assert engine.full_hash() == before
    assert str(engine.place / "scratch") not in outcome.message
    return outcome.message


@pytest.mark.real_starts
@pytest.mark.proves("GN-PY-08")
def test_every_attack_on_the_confinement_is_refused_to_code(engine: Engine) -> None:
    outside = laid_out(engine.place)
    engine.do("file.export", {"path": str(outside / LIBRARY)})
    assert COUNT >= 60
    assert succeeded(stopped(engine, bundle(outside), {Fault.EXECUTION_FAILED})) == []
    assert (outside / SECRET).read_text() == "hush"
    assert {path.name for path in outside.iterdir()} == {
        SECRET, SCRIPT, LIBRARY, "outside.png", *(f"victim-{name}.txt" for name in ("truncate", "delete", "move", "mode")),
    }  # fmt: skip


@pytest.mark.slow
def test_the_same_code_without_confinement_succeeds_in_part(engine: Engine, tmp_path: Path) -> None:
    outside, scratch = laid_out(tmp_path), tmp_path / "scratch"
    scratch.mkdir()
    for directory in private_directories(scratch):
        directory.mkdir(exist_ok=True)
    source = tmp_path / "attack.py"
    source.write_text("import bpy as blender\n" + bundle(outside, harmless_only=True))
    done = subprocess.run(
        [sys.executable, source],
        cwd=scratch,
        env=private_environment(scratch),
        capture_output=True,
        text=True,
        check=False,
    )
    assert len(succeeded(done.stderr)) > len(HARMLESS) * 3 // 4


@pytest.mark.proves("GN-PY-08")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ENDED]
)
def test_an_attack_on_the_way_of_a_result_is_stopped(engine: Engine, name: str) -> None:
    stopped(engine, *ENDED[name])


@pytest.mark.real_starts
@pytest.mark.proves("GN-PY-08")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name == "read_the_environment" else pytest.mark.slow) for name in FRUITLESS]
)
def test_an_attack_that_ends_well_has_got_nothing_by_it(engine: Engine, name: str) -> None:
    before = engine.scene.hash
    outcome = engine.call("python.run", {"code": FRUITLESS[name]})
    assert outcome.ok, outcome.message
    assert outcome.fingerprint_after == before == engine.scene.hash == engine.full_hash()
    told = str(outcome.result)
    assert SECRET_OF_THE_CORE not in told and str(engine.place) not in told
    engine.do("object.transform", {"name": "Crate", "location": [0, 0, 0]})
    assert engine.full_hash() == engine.scene.hash


def test_the_front_door_stops_what_can_be_seen_in_the_code(tmp_path: Path) -> None:
    assert len(list(check_code(bundle(tmp_path), trusted=False))) > 15
    codes = {name: code for name, (code, _) in ENDED.items()} | FRUITLESS
    passed = {name for name, code in codes.items() if not list(check_code(code, trusted=False))}
    seen_after = {"leave_a_scripted_driver", "leave_an_osl_script", "leave_a_style_module", "leave_a_path_to_a_file"}
    seen_after.add("leave_a_place_to_render_to")
    # `time` may be imported; its limit ends whoever sleeps past it.
    assert passed == READS_WELL | seen_after | {"sleep_past_its_time"}


@pytest.mark.slow
def test_the_call_after_a_bomb_is_in_time(engine: Engine) -> None:
    """What the bomb left is cleared away beside it: directories without number, as many as it made before it was stopped."""
    message = stopped(engine, *ENDED["make_too_many_directories"])
    assert "files and directories" in message
    assert "of memory" not in message
    outcome = engine.call("python.run", {"code": "print('in time')", "timeout_ms": 20_000})
    assert outcome.ok, outcome.message
