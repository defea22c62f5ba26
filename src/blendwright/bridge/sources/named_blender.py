"""Workers of a Blender with a name: one that `blendwright blender add` created, or the bpy of this environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from blendwright.bridge.environments.records import NAME, Environment, environment_named, environments
from blendwright.bridge.environments.series import NEWEST, SERIES, VERSION_TEXT, own_blender, series_named
from blendwright.bridge.sources.blender_executable import BlenderExecutable
from blendwright.bridge.sources.python_environment import PythonEnvironment
from blendwright.bridge.worker_source import ProcessSource
from blendwright.values.errors import EnvironmentUnfit


@dataclass(frozen=True)
class NamedBlender(ProcessSource):
    """A Blender by version (`5.2`, `5.2.3`) or by the name of its environment."""

    name: str

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        if VERSION_TEXT.fullmatch(text):
            return cls(text)
        if NAME.fullmatch(text) and environment_named(text) is not None:
            return cls(text)
        return None

    def command(self, arguments: list[str]) -> list[str]:
        return self.source().command(arguments)

    def source(self) -> ProcessSource:
        """Return the source that the name currently stands for. Raise EnvironmentUnfit with the command that installs a missing one."""
        environment = environment_named(self.name)
        if environment is not None:
            problem = environment.problem()
            if problem is not None:
                cure = f"Create it again: blendwright blender add {environment.executable or environment.name}"
                raise EnvironmentUnfit(f"the Blender '{environment.name}' cannot be used: {problem}", cure=cure)
            return source_of(environment)
        own_version = own_blender()
        if own_version is not None and self.name in (own_version, own_version.rpartition(".")[0]):
            return PythonEnvironment()
        raise EnvironmentUnfit(f"there is no Blender {self.name} here", cure=_how_to_get(self.name))


def source_of(environment: Environment) -> ProcessSource:
    """Return the source for an environment."""
    if environment.executable is not None:
        return BlenderExecutable(Path(environment.executable))
    return PythonEnvironment(environment.interpreter)


def default_source() -> ProcessSource:
    """Return the source for no setting: the bpy of this environment, otherwise the newest usable Blender, otherwise the newest series."""
    if own_blender() is not None:
        return PythonEnvironment()
    for environment in environments():
        if environment.problem() is None:
            return source_of(environment)
    return NamedBlender(NEWEST.name)


def _how_to_get(name: str) -> str:
    """Return the fix for a Blender that is not installed."""
    series = series_named(name)
    if series is not None:
        return f"Install it: blendwright blender add {series.name}"
    names = ", ".join(known.name for known in SERIES)
    return f"Available: {names}. For another one, run `blendwright blender add PATH` with the path of its executable."
