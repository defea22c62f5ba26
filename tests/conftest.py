"""Fixtures that the whole suite shares."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from stage import Stage


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--proves", action="append", default=[], metavar="ID", help="only tests that claim a requirement")


# Files that take ten seconds of processor time or more, by what they took. They come first: whoever began one last would keep everybody
# waiting.
LONGEST = (
    "run/test_crashes.py", "conformance/test_catalogue.py", "app/test_upgrading.py", "run/test_python.py",
    "server/test_transports.py", "run/test_live_scene.py", "simulation/test_simulation.py", "run/test_code_determinism.py",
    "run/test_preview.py", "run/test_preview_approvals.py", "cli/test_history_commands.py", "bridge/test_several_blenders.py",
    "blendfile/test_comparison.py", "run/test_code_files.py", "cli/test_run.py", "run/test_followed_cures.py",
    "run/test_imports_are_found_again.py", "cli/test_approve_command.py", "run/test_interruptions.py", "run/test_repair_plans.py",
    "app/test_opening.py", "run/test_python_attacks.py", "run/test_runner_losses.py", "bridge/environments/test_making.py",
    "cli/test_upgrade_command.py", "server/test_server_tools.py", "cli/test_ask_command.py", "server/test_host_profiles.py",
    "cli/test_two_processes.py", "model_trials/test_transcripts.py", "run/test_calls.py", "server/test_server_policy.py",
    "app/test_externals.py", "run/history/test_history.py", "run/test_time_limits.py", "server/test_plan_envelopes.py",
    "server/test_python_tool.py", "examples/test_geonodes_examples.py", "nodes/test_node_catalogue.py",
    "server/test_many_clients.py", "journal/test_upgrades.py", "server/test_early_server.py", "server/test_body_memory.py",
)  # fmt: skip


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
    from stage import Stage

    return Stage(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def private_user_directories(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Whoever runs the tests may have a policy and Blenders of their own, which do not count here; their caches stay as they are."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        yield
