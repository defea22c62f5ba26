"""The document of a macro, as published, and the checked macro that plans may call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from blendwright.policy.session_contract import Registry, registry
from blendwright.schemas.check import Checker, argument_advice, whole_numbers
from blendwright.tool_api.promises import Determinism, SafetyLevel
from blendwright.util.canonical import digest
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

# Version of the registry, which a contract states next to its fingerprint.
REGISTRY_VERSION = 1
FORMAT = "macro.v1"
# Steps of a macro; their numbers have three digits.
MAX_STEPS = 999


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class MacroStep(_Part):
    """A call of a tool or of another macro."""

    title: str = Field(min_length=1, max_length=120, description="Purpose of this step, for reports.")
    tool: str = Field(min_length=1, description="Name of the tool or macro that it calls.")
    args: dict[str, JsonValue] = Field(
        default={},
        description="Its arguments. {{input}} as a whole value keeps the input's type; inside a string it becomes text.",
    )
    for_each: str | None = Field(
        default=None, description="An input that is a list: the step runs once for each of its values, as {{each}}."
    )


class MacroExample(_Part):
    """Example inputs of a macro, which it must accept when it is loaded."""

    inputs: dict[str, JsonValue] = Field(description="The inputs.")
    given: list[tuple[str, dict[str, JsonValue]]] = Field(
        default=[], description="Calls that prepare the scene, as [tool, arguments]."
    )


class MacroDocument(_Part):
    """A macro: several tool calls under one name."""

    format: Literal["macro.v1"] = Field(description="The version of this schema.")
    name: str = Field(pattern=r"^[a-z]+\.[a-z]+(_[a-z]+)*$", description="Its name, like noun.verb; not a tool's name.")
    version: int = Field(ge=1, strict=True, description="Raise it with every change of behaviour.")
    summary: str = Field(min_length=1, max_length=300, description="One sentence about its result.")
    inputs: dict[str, JsonValue] = Field(
        description="JSON Schema of the inputs: a closed object whose properties have a description, and are required or have a default."
    )
    preconditions: list[dict[str, JsonValue]] = Field(
        default=[], max_length=100, description="Expectations of scene.expect that must hold before the first step."
    )
    steps: list[MacroStep] = Field(min_length=1, max_length=MAX_STEPS, description="The calls, in order.")
    postconditions: list[dict[str, JsonValue]] = Field(
        default=[], max_length=100, description="Expectations of scene.expect that must hold after the last step."
    )
    rollback: bool = Field(
        strict=True,
        description="True: all steps or none. False: a failing step stops the later ones, and the earlier ones remain.",
    )
    determinism: Determinism = Field(description="At most as strong as that of its weakest step.")
    examples: list[MacroExample] = Field(min_length=1, description="Valid inputs.")


@dataclass(frozen=True)
class Macro:
    """A checked macro. `source` is "package", or the file that it comes from."""

    document: MacroDocument
    source: str
    level_of_steps: Callable[[], SafetyLevel]
    """Returns the highest level of the steps. It loads their tools, so it only runs on demand."""

    @cached_property
    def safety_level(self) -> SafetyLevel:
        """The highest safety level of its steps."""
        return self.level_of_steps()

    @property
    def name(self) -> str:
        return self.document.name

    @property
    def version(self) -> int:
        return self.document.version

    @property
    def determinism(self) -> Determinism:
        return self.document.determinism

    @cached_property
    def fingerprint(self) -> str:
        """The hash of the whole document."""
        return digest(self.document.model_dump(mode="json"))

    @property
    def properties(self) -> Mapping[str, Any]:
        """The schemas of the inputs by name."""
        return properties_of(self.document.inputs)

    @cached_property
    def _checker(self) -> Checker:
        advice = argument_advice(self.properties, f"See: blendwright macros {self.name}")
        return Checker(dict(self.document.inputs), Fault.ARGS_INVALID, advice)

    def complete(self, raw: Any) -> tuple[dict[str, Any], tuple[Finding, ...]]:
        """Return the inputs with defaults filled in, or findings with pointers relative to the inputs."""
        findings = tuple(self._checker.findings(raw))
        if findings:
            return {}, findings
        values: dict[str, Any] = {}
        for name, schema in self.properties.items():
            if "default" in schema:
                values[name] = schema["default"]
        inputs = dict(self.document.inputs)
        return whole_numbers({**values, **raw}, inputs, inputs), ()

    def declaration(self) -> dict[str, Any]:
        """Return all promises of the macro as data, for the reference page, the host and the planner."""
        return {
            **self.document.model_dump(mode="json"),
            "safety_level": self.safety_level.value,
            "fingerprint": self.fingerprint,
        }


def properties_of(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return inputs.get("properties", {})


def macro_registry(macros: Iterable[Macro]) -> Registry:
    """Return the registry of the macros for a contract; two sides with equal fingerprints have the same macros."""
    return registry(str(REGISTRY_VERSION), {macro.name: macro.fingerprint for macro in macros})
