"""What a macro is: its document, as it is published, and the macro that was checked and may be called."""

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

# Of the registry as a whole: what a contract says beside its fingerprint.
REGISTRY_VERSION = 1
FORMAT = "macro.v1"
# Steps are numbered with three digits.
MOST_STEPS = 999


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, defer_build=True)


class MacroStep(_Part):
    """One call of a tool or of another macro."""

    title: str = Field(min_length=1, max_length=120, description="What this step does, for reports.")
    tool: str = Field(min_length=1, description="Name of the tool or macro that it calls.")
    args: dict[str, JsonValue] = Field(
        default={},
        description="Its arguments. {{input}} as a whole value keeps the input's type; inside a text it is written out.",
    )
    for_each: str | None = Field(
        default=None, description="An input that is a list: the step is repeated for each of its values, as {{each}}."
    )


class MacroExample(_Part):
    """Inputs that work; a macro is checked with them when it is loaded."""

    inputs: dict[str, JsonValue] = Field(description="The inputs.")
    given: list[tuple[str, dict[str, JsonValue]]] = Field(
        default=[], description="Calls that set the stage, as [tool, arguments]."
    )


class MacroDocument(_Part):
    """A macro: several tool calls under one name."""

    format: Literal["macro.v1"] = Field(description="The version of this schema.")
    name: str = Field(pattern=r"^[a-z]+\.[a-z]+(_[a-z]+)*$", description="Its name, like noun.verb; no tool's name.")
    version: int = Field(ge=1, strict=True, description="Raised whenever it does something else than before.")
    summary: str = Field(min_length=1, max_length=300, description="One sentence on what it makes.")
    inputs: dict[str, JsonValue] = Field(
        description="JSON Schema of the inputs: a closed object whose properties are described, and required or with a default."
    )
    preconditions: list[dict[str, JsonValue]] = Field(
        default=[], max_length=100, description="Expectations of scene.expect that must hold before the first step."
    )
    steps: list[MacroStep] = Field(min_length=1, max_length=MOST_STEPS, description="The calls, in order.")
    postconditions: list[dict[str, JsonValue]] = Field(
        default=[], max_length=100, description="Expectations of scene.expect that must hold after the last step."
    )
    rollback: bool = Field(
        strict=True,
        description="True: all steps or none. False: a failing step stops the later ones, and what was done stays.",
    )
    determinism: Determinism = Field(description="No stronger than that of its weakest step.")
    examples: list[MacroExample] = Field(min_length=1, description="Inputs that work.")


@dataclass(frozen=True)
class Macro:
    """A checked macro. `source` is "package", or the file that it was read from."""

    document: MacroDocument
    source: str
    level_of_steps: Callable[[], SafetyLevel]
    """Asked once, when somebody needs it: the tools of the steps are loaded for it."""

    @cached_property
    def safety_level(self) -> SafetyLevel:
        """The highest of its steps."""
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
        """One hash over everything the document says."""
        return digest(self.document.model_dump(mode="json"))

    @property
    def properties(self) -> Mapping[str, Any]:
        """The inputs by name, each with its schema."""
        return properties_of(self.document.inputs)

    @cached_property
    def _checker(self) -> Checker:
        advice = argument_advice(self.properties, f"See: blendwright macros {self.name}")
        return Checker(dict(self.document.inputs), Fault.ARGS_INVALID, advice)

    def complete(self, raw: Any) -> tuple[dict[str, Any], tuple[Finding, ...]]:
        """The inputs with defaults filled in, or what is wrong with them, with pointers relative to them."""
        findings = tuple(self._checker.findings(raw))
        if findings:
            return {}, findings
        defaults = {name: schema["default"] for name, schema in self.properties.items() if "default" in schema}
        inputs = dict(self.document.inputs)
        return whole_numbers({**defaults, **raw}, inputs, inputs), ()

    def declaration(self) -> dict[str, Any]:
        """Everything it promises, as data: what the reference page, the host and the planner are told."""
        return {
            **self.document.model_dump(mode="json"),
            "safety_level": self.safety_level.value,
            "fingerprint": self.fingerprint,
        }


def properties_of(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
    return inputs.get("properties", {})


def macro_registry(macros: Iterable[Macro]) -> Registry:
    """All of them by reference, as a contract names them; two sides with the same fingerprint mean the same by every name."""
    return registry(str(REGISTRY_VERSION), {macro.name: macro.fingerprint for macro in macros})
