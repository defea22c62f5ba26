"""Workers of a Blender that is named by its version: one that `blendwright blender add` has made, or the bpy of this environment."""

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
    """`5.2`, `5.2.3`, or the name that an environment was given."""

    name: str

    @classmethod
    def from_text(cls, text: str) -> Self | None:
        named = VERSION_TEXT.fullmatch(text) or (NAME.fullmatch(text) and environment_named(text) is not None)
        if named:
            return cls(text)
        return None

    def command(self, arguments: list[str]) -> list[str]:
        return self.source().command(arguments)

    def source(self) -> ProcessSource:
        """What the name stands for now. Raises EnvironmentUnfit with the command that gets what is missing."""
        if (added := environment_named(self.name)) is not None:
            if (problem := added.problem()) is not None:
                cure = f"Make it anew: blendwright blender add {added.executable or added.name}"
                raise EnvironmentUnfit(f"the Blender '{added.name}' cannot be used: {problem}", cure=cure)
            return source_of(added)
        own = own_blender()
        if own is not None and self.name in (own, own.rpartition(".")[0]):
            return PythonEnvironment()
        raise EnvironmentUnfit(f"there is no Blender {self.name} here", cure=_how_to_get(self.name))


def source_of(environment: Environment) -> ProcessSource:
    if environment.executable is not None:
        return BlenderExecutable(Path(environment.executable))
    return PythonEnvironment(environment.interpreter)


def default_source() -> ProcessSource:
    """Where nobody names one: the bpy of this environment, else the newest that was added, else what there would have to be."""
    if own_blender() is not None:
        return PythonEnvironment()
    usable = next((each for each in environments() if each.problem() is None), None)
    if usable is not None:
        return source_of(usable)
    return NamedBlender(NEWEST.name)


def _how_to_get(name: str) -> str:
    series = series_named(name)
    if series is not None:
        return f"Get it: blendwright blender add {series.name}"
    known = ", ".join(each.name for each in SERIES)
    return f"These can be had: {known}. For another one: blendwright blender add PATH, with the path of its executable."
