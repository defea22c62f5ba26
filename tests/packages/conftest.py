"""What is published, built once, and empty environments for it: every test here is marked `packages`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
UV = ROOT / "build" / "uv" / "bin" / "uv"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.packages)
            item.add_marker(pytest.mark.timeout(1800))


def run(*command: str | Path, cwd: Path, stdin: str = "", code: int = 0) -> str:
    """Everything that a command printed; it must end as it should."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, input=stdin, capture_output=True, text=True, check=False, timeout=1500
    )
    assert done.returncode == code, (command, done.stdout[-3000:], done.stderr[-3000:])
    return done.stdout + done.stderr


@dataclass(frozen=True)
class Environment:
    """A virtual environment, and a directory that is nobody's to work in."""

    directory: Path
    place: Path

    def __call__(self, *arguments: str | Path, code: int = 0) -> str:
        return run(self.directory / "bin" / "blendwright", *arguments, cwd=self.place, code=code)

    def python(self, *arguments: str) -> str:
        return run(self.directory / "bin" / "python", "-I", *arguments, cwd=self.place)


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel."""
    output = tmp_path_factory.mktemp("packages")
    run(sys.executable, ROOT / "scripts" / "build_packages.py", "--output", output, cwd=output)
    [sdist], [wheel] = output.glob("*.tar.gz"), output.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="session")
def installed(packages: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Environment]:
    """An empty environment in which pip has installed the wheel, with these extras; made once for each."""
    made: dict[str, Environment] = {}

    def with_extras(extras: str) -> Environment:
        if extras not in made:
            directory = tmp_path_factory.mktemp("environment")
            run(sys.executable, "-m", "venv", directory, cwd=directory)
            run(directory / "bin" / "pip", "install", "--quiet", f"{packages[1]}{extras}", cwd=directory)
            made[extras] = Environment(directory, tmp_path_factory.mktemp("place"))
        return made[extras]

    return with_extras
