"""Fixtures that the whole suite shares."""

from __future__ import annotations

import fcntl
import gc
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from blendwright.bridge import shader_cache, spawn
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.spawn import WorkerSettings
from blendwright.programs.evaluator_process import Evaluators
from blendwright.tools import catalog, registry, registry_cache
from support.processes.evaluators import EvaluatorWatch
from support.processes.forked_workers.programs import ForkedPrograms
from support.processes.forked_workers.template import ForkedWorkers
from support.suite.processor_time import ProcessorTime

if TYPE_CHECKING:
    from support.engine.approval_calls import Clock
    from support.engine.engine import Engine
    from support.stage.stage import Stage

FORKED = pytest.StashKey[tuple[ForkedWorkers, ForkedPrograms]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proves", action="append", default=[], metavar="ID", help="only tests that claim a requirement")
    parser.addoption("--part", choices=("core", "breadth"), help="without the files of BREADTH, or those alone")
    parser.addoption("--real-starts", action="store_true", help="start every worker by itself, instead of forking most")
    parser.addoption("--processor-time", type=Path, metavar="FILE", help="write what each test used of the processor")


def pytest_configure(config: pytest.Config) -> None:
    if sys.platform == "linux" and not config.getoption("real_starts"):
        config.stash[FORKED] = (ForkedWorkers(), ForkedPrograms())
    output: Path | None = config.getoption("processor_time")
    if output is not None:
        config.pluginmanager.register(ProcessorTime(output, getattr(config, "workeroutput", None)))
    if config.pluginmanager.hasplugin("hypothesispytest"):
        from hypothesis import HealthCheck, settings

        # How long an example takes says something about the machine, and nothing about what is proven.
        settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
        settings.load_profile("suite")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture of the test, whatever its scope."""
    for forked in item.config.stash.get(FORKED, ()):
        forked.forking = item.get_closest_marker("real_starts") is None


# Files that take five seconds of processor time or more, by what they took (`--processor-time FILE` tells). They come first: whoever
# began one last would keep everybody waiting.
LONGEST = (
    "conformance/test_catalogue.py", "versions/test_upgrading.py", "engine/crashes/test_crashes.py",
    "window/test_endings.py", "cli/test_look_command.py", "simulation/test_simulation.py",
    "engine/code/test_code_determinism.py", "server/test_pictures.py", "engine/scene/test_imports_are_found_again.py",
    "console/test_acts_of_a_person.py", "window/test_stories.py", "bridge/test_worker_process.py",
    "bridge/environments/test_making.py", "cli/test_ask_command.py", "bridge/test_several_blenders.py",
    "cli/test_interruption.py", "cli/test_upgrade_command.py", "cli/test_two_processes.py",
    "server/test_server_tools.py", "server/test_transports.py", "cli/test_run.py", "blender/scene/test_scripts.py",
    "blender/scene/test_writes.py", "cli/test_doctor.py", "docs/test_tutorial.py", "planner/test_other_services.py",
    "window/alone/test_attaching.py", "engine/code/test_python.py", "blendfile/test_comparison.py",
    "window/test_interleavings.py", "examples/test_geonodes_examples.py", "server/test_early_server.py",
    "examples/test_examples.py", "engine/test_runner.py", "suite/test_forked_programs.py",
    "suite/test_forked_workers.py", "blender/fingerprint/test_what_changes_objects.py",
    "blender/fingerprint/test_what_changes_data.py", "server/test_host_profiles.py", "tools/test_file.py",
    "engine/test_preview.py", "blender/fingerprint/test_where_it_is_equal.py", "journal/test_crash_points.py",
    "bridge/test_pool.py", "batch/test_handler.py", "server/test_many_clients.py", "server/test_python_tool.py",
    "blender/confinement/test_attacks.py", "bridge/test_sources.py", "window/alone/test_leaves_nothing.py",
    "blender/scene/test_names_and_members.py", "approvals/test_preview_approvals.py",
    "engine/files/test_export_profiles.py", "tools/test_render.py", "window/test_hostile_windows.py",
    "blender/confinement/test_work.py", "programs/test_programs.py", "engine/code/test_code_files.py",
    "server/test_answer_sizes.py", "planner/test_gemini_planner.py", "window/test_console_button.py",
    "cli/test_batch_command.py", "cli/test_history_commands.py", "suite/test_requirements.py",
    "engine/files/test_animation_frames.py", "blender/scene/test_any_sequence.py", "server/test_server_policy.py",
    "server/test_plan_envelopes.py", "cli/test_branch_commands.py", "engine/scene/test_linked_libraries.py",
    "examples/test_geonodes_protocol.py", "engine/test_repair_plans.py", "engine/scene/test_linked_pictures.py",
    "cli/test_waiting.py", "window/test_beside.py",
)  # fmt: skip


# Folders and files whose workers and programs are started as in production, besides single tests with the mark. They are about starting,
# ending and confining, about several Blenders, about memory and lost streams of a program, or about what differs from process to process
# (workers of one template have their code and data at the same addresses); and one of every area goes the whole way.
REAL_STARTS = (
    "bridge", "blender", "conformance", "workspace/test_blender_choice.py", "workspace/test_the_same_plan_again.py",
    "versions/test_upgrading_examples.py", "cli/test_blender_command.py", "cli/test_doctor.py", "cli/test_start.py",
    "examples/test_geonodes_examples.py", "examples/test_geonodes_protocol.py", "cli/test_lost_output.py",
    "web/test_body_memory.py", "server/test_early_server.py", "server/test_first_contact.py",
)  # fmt: skip


# Files that say it again of other Blenders, of windows, of two processes at a time, of rarer stories: `make test` leaves them to
# `make test-breadth`, which CI runs as well.
BREADTH: tuple[str, ...] = (
    "engine/scene/test_linked_libraries.py", "engine/scene/test_linked_pictures.py", "history/test_random_merges.py",
    "versions/test_upgrading.py", "versions/test_upgrading_examples.py", "batch/test_kills.py",
    "blendfile/test_comparison.py", "bridge/environments/test_making.py", "bridge/test_several_blenders.py",
    "bridge/test_shader_cache.py", "cli/test_two_processes.py", "cli/test_upgrade_command.py",
    "conformance/test_long_session.py", "model_trials", "planner/test_other_services.py",
    "engine/code/test_code_determinism.py", "engine/scene/test_imports_are_found_again.py",
    "server/test_host_profiles.py", "window/test_beside.py", "window/test_endings.py", "window/test_hostile_windows.py",
    "window/test_interleavings.py", "window/test_stories.py",
)  # fmt: skip


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What is not run is not even collected, which each process would do."""
    part: str | None = config.getoption("part")
    if part is None or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    place = collection_path.relative_to(Path(__file__).parent)
    is_breadth = not {str(place), *map(str, place.parents)}.isdisjoint(BREADTH)
    return True if is_breadth == (part == "core") else None


ENDED = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[ENDED] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Blender 4.5 can wait for ever when its process ends: a thread that closes the sound device waits on a condition variable which is
    destroyed under it, unless the module bpy goes before, which frozen objects keep. So nothing of Blender is taken down, as in workers."""
    bpy: Any = sys.modules.get("bpy")
    status = config.stash.get(ENDED, None)
    if bpy is not None and status is not None and (4, 5) <= bpy.app.version[:2] < (5, 0):
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    module: pytest.Module = cast("Any", pytest.Module).from_parent(parent, path=module_path)
    place = module_path.relative_to(Path(__file__).parent)
    if not {str(place), *map(str, place.parents)}.isdisjoint(REAL_STARTS):
        module.add_marker("real_starts")
    return module


def pytest_collection() -> None:
    """Nothing of what is collected is garbage: looking for some again and again takes a tenth of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ranks = {config.rootpath / "tests" / file: rank for rank, file in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))
    ids: set[str] = set(config.getoption("proves") or ())
    if ids:
        kept = [item for item in items if ids & {id for mark in item.iter_markers("proves") for id in mark.args}]
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = kept


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """An empty scene in this process. Imported here, so that tests without Blender do not load it."""
    from support.stage.stage import Stage

    return Stage(tmp_path)


@pytest.fixture
def evaluators() -> Iterator[Evaluators]:
    """A pool of evaluator processes that ends with the test."""
    evaluators = Evaluators()
    yield evaluators
    evaluators.close()


@pytest.fixture(scope="session")
def evaluator_watch() -> Iterator[EvaluatorWatch]:
    watch = EvaluatorWatch()
    with pytest.MonkeyPatch.context() as patch:
        watch.watch(patch)
        yield watch


@pytest.fixture(autouse=True)
def no_evaluator_outlives_its_test(evaluator_watch: EvaluatorWatch) -> Iterator[None]:
    """Fail the test that leaves an evaluator process running, and not the test after it, which would see a ResourceWarning."""
    yield
    leaked = evaluator_watch.end_leaked()
    assert not leaked, f"evaluator processes were still running after the test: {leaked}"


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """One engine on real workers for a module, because starting Blender is what costs.

    The module may name the calls that prepare its scene in ENGINE_CALLS. Without them, the scene has one empty object.
    """
    from support.engine.engine import ANCHOR, Engine

    module = cast("Any", request).module
    with Engine(tmp_path_factory.mktemp("engine")) as engine:
        for tool, args in getattr(module, "ENGINE_CALLS", ANCHOR):
            engine.do(tool, args)
        yield engine


@pytest.fixture
def checked(engine: Engine) -> Iterator[None]:
    """After the test the scene that HEAD names is the one in the worker, and the audit chain holds."""
    yield
    assert engine.full_hash() == engine.scene.hash == engine.head().hash_after
    assert engine.journal.audit.verify().ok


@pytest.fixture
def asking(engine: Engine) -> Iterator[Engine]:
    """The engine under the default policy, which asks before it destroys."""
    from blendwright.policy.policy import Policy

    with engine.under(Policy()):
        yield engine


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that the test sets."""
    from support.engine.approval_calls import Clock

    return Clock(monkeypatch)


@pytest.fixture(scope="session", autouse=True)
def forked_workers_and_programs(pytestconfig: pytest.Config) -> Iterator[None]:
    """Where a test needs a worker or the program and not its start: `forked_workers` says what that means."""
    if FORKED not in pytestconfig.stash:
        yield
        return
    workers, programs = pytestconfig.stash[FORKED]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spawn, "start_process", workers.start)
        patch.setattr(subprocess.Popen, "_execute_child", programs.starting())
        yield
    workers.close()
    programs.close()


@pytest.fixture(scope="session", autouse=True)
def known_declarations() -> Iterator[None]:
    """The cache of the user is empty here. Without one, every worker makes the schemas of all tools, in ten times the time of its fork.
    A workspace that is opened fills it; here this is done before the first worker, whoever asks for that."""

    def hand_over(directory: Path) -> None:
        catalog.fingerprint()
        registry.hand_over(directory)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spawn, "registry", SimpleNamespace(hand_over=hand_over))
        yield


@pytest.fixture(scope="session", autouse=True)
def private_user_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests may have a policy and Blenders of their own, which do not count here; their caches stay as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session", autouse=True)
def kept_shaders(private_user_directories: None, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those that a first picture is made with, in build/shaders for every run: whoever takes it would compile them in seconds each."""
    cache = registry_cache.user_directory()
    assert cache is not None
    shared = Path(__file__).parents[1] / "build" / "shaders"
    shared.mkdir(parents=True, exist_ok=True)
    cache.mkdir(exist_ok=True)
    (cache / "shaders").symlink_to(shared)
    blender = PythonEnvironment()
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one of several processes makes them, and the others have them
        if shader_cache.kept(blender.command([])) is None:
            with blender.open_pool(WorkerSettings(tmp_path_factory.mktemp("shaders")), spares=0) as pool:
                pool.prepare_pictures()
