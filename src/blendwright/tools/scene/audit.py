"""Tool scene.audit"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from blendwright.tool_api.arguments import Args, BoundedFloat, Name, PositiveFloat, Result, optional
from blendwright.tool_api.mentions import ObjectName
from blendwright.tool_api.promises import READ_ONLY
from blendwright.tool_api.scene import Block, Kind, Scene
from blendwright.tool_api.tool import Example, Findings, Reads
from blendwright.tools.auditing.flaws import RULES, SEVERITIES, Flaw, Rule, Severity
from blendwright.tools.auditing.hidden_lights import hidden_light_flaws
from blendwright.tools.auditing.mesh_rules import TextureDemand, budget_flaws, mesh_flaws, scale_flaws, texture_flaws
from blendwright.tools.auditing.parts import Part, parts_of
from blendwright.tools.auditing.placement_rules import Contacts, frame_flaws
from blendwright.tools.auditing.scene_rules import camera_flaws, file_flaws, light_flaws, name_flaws, orphan_flaws
from blendwright.tools.bounding_boxes import visible
from blendwright.tools.checks import existing_objects
from blendwright.tools.scene.object_filter import name_pattern
from blendwright.values.faults import Fault
from blendwright.values.findings import Finding

FLOOR = ("mesh.create_primitive", {"kind": "plane", "name": "Floor", "size": 10})
BOX = ("mesh.create_primitive", {"kind": "cube", "name": "Box", "location": [0, 0, 1]})
BALL = ("mesh.create_primitive", {"kind": "uv_sphere", "name": "Ball", "location": [3, 0, 4]})
# Rules that compare with a value, and the arguments that supply it.
NEEDS_ARGUMENT: dict[str, tuple[str, ...]] = {
    "polygon_budget": ("polygon_budget", "object_polygon_budget"),
    "texel_density": ("texel_density",),
}


class TexelDensity(Args):
    """Allowed number of texture pixels per metre of surface."""

    image_size: int = Field(ge=1, le=65_536, description="Width of the square texture, in pixels.")
    least: PositiveFloat = Field(description="Smallest number of pixels per metre.")
    most: PositiveFloat = Field(description="Largest number of pixels per metre.")


class AuditArgs(Args):
    objects: list[ObjectName] = Field(
        default=[],
        max_length=10_000,
        description="Objects to report on; all others may support or touch them. Default: everything that a render shows.",
    )
    rules: list[Rule] = Field(default=[], max_length=len(RULES), description="Rules to check. Default: all.")
    require: Severity | None = optional("Fail if there is a finding of this severity or a worse one.")
    most: int = Field(default=100, ge=1, le=1000, description="Largest number of listed findings, the worst first.")
    tolerance: float = Field(
        default=0.001,
        ge=1e-6,
        le=10.0,
        description="Distance in metres: a smaller gap is a contact, a smaller overlap is no interpenetration.",
    )
    may_overlap: list[Name] = Field(
        default=[],
        max_length=1000,
        description="Objects that intersect others on purpose: names or patterns (* and ?). Their overlaps are not reported.",
    )
    ground: BoundedFloat | None = optional(
        "Height of the ground in metres, which supports objects. Default: 0 and the lowest point of all objects."
    )
    polygon_budget: int | None = optional("Largest number of triangles of all objects together, with modifiers.", ge=0)
    object_polygon_budget: int | None = optional("Largest number of triangles of one object.", ge=1)
    texel_density: TexelDensity | None = optional("Allowed number of texture pixels per metre.")

    @model_validator(mode="after")
    def _check_rule_arguments(self) -> AuditArgs:
        for rule in self.rules:
            names = NEEDS_ARGUMENT.get(rule, ())
            if names and all(getattr(self, name) is None for name in names):
                context = {"rule": rule, "names": " or ".join(names)}
                raise PydanticCustomError("audit_rule", "the rule {rule} needs the argument {names}", context)
        return self


class RepairCall(Result):
    tool: str = Field(description="Name of a tool.")
    args: dict[str, Any] = Field(description="Its arguments.")


class AuditFinding(Result):
    rule: str = Field(description="Name of the broken rule; `rules` explains it.")
    severity: Severity = Field(description="Severity of the finding.")
    object: str = Field(description="The object, or kind/name of another datablock; empty for the scene.")
    other: str = Field(description="The second object, if the finding is about two.")
    measure: dict[str, float | int | str] = Field(description="Measured values; lengths in metres.")
    repair: list[RepairCall] = Field(description="Calls that fix it as they are. If empty, see the rule's cure.")


class RuleCount(Result):
    rule: str = Field(description="Name of the rule.")
    severity: Severity = Field(description="Severity of its findings.")
    count: int = Field(description="Number of findings.")
    meaning: str = Field(description="What is wrong with such an object.")
    cure: str = Field(description="How to fix it.")


class Audited(Result):
    """The findings of an audit and their counts by rule, the worst first."""

    objects: int = Field(description="Number of checked objects.")
    triangles: int = Field(description="Number of their triangles, with modifiers and without instances.")
    errors: int = Field(description="Number of findings that are errors.")
    warnings: int = Field(description="Number of findings that are warnings.")
    infos: int = Field(description="Number of findings that are information.")
    checked: str = Field(default="", description="The checked rules: 'all', or the requested ones.")
    rules: list[RuleCount] = Field(description="The broken rules.")
    findings: list[AuditFinding] = Field(description="The findings, limited by the argument `most`.")
    complete: bool = Field(description="False if too many objects are close together to compare every pair.")


class Audit(Reads[AuditArgs, Audited]):
    """Check a scene as a technical artist would; each finding has a measure and calls that fix it. `require` makes it a gate.

    It reports objects that float, intersect others, are duplicated, inside out, not closed, scaled, unused, unnamed, unlit,
    outside the picture, enclosed or too heavy. Intersecting parts of one parent count as joined.

    It checks meshes with their modifiers, and instances by their bounding boxes. An object that is entirely inside another
    surface touches nothing.
    """

    name = "scene.audit"
    version = 2
    promises = READ_ONLY.needs("scene_read")
    examples = (
        Example({}, FLOOR, BOX, BALL),
        Example({"objects": ["Box", "Floor"], "rules": ["floating", "inside_out"], "require": "warning"}, FLOOR, BOX),
        Example({"rules": ["interpenetrating", "joined"], "may_overlap": ["B?ll*"]}, BOX, BALL),
        Example({"object_polygon_budget": 500, "rules": ["polygon_budget"], "most": 1}, BOX, BALL),
    )

    def check(self, scene: Scene, args: AuditArgs) -> Findings:
        objects = yield from existing_objects(scene, args.objects, "/objects")
        if objects is None or args.require is None:
            return
        threshold = SEVERITIES.index(args.require)
        flaws = [flaw for flaw in _Inspection(scene, args).flaws() if SEVERITIES.index(flaw.severity) <= threshold]
        for flaw in flaws[: args.most]:
            yield Finding(Fault.VERIFICATION_FAILED, flaw.sentence(), "/require", _fix(flaw), flaw.rule)

    def apply(self, scene: Scene, args: AuditArgs) -> Audited:
        inspection = _Inspection(scene, args)
        flaws = inspection.flaws()
        severities = Counter(flaw.severity for flaw in flaws)
        counts: Counter[Rule] = Counter(flaw.rule for flaw in flaws)
        return Audited(
            objects=len(inspection.objects),
            triangles=sum(part.facts.triangles for part in inspection.parts),
            errors=severities["error"],
            warnings=severities["warning"],
            infos=severities["info"],
            checked=", ".join(args.rules) or "all",
            rules=[_rule_count(rule, count) for rule, count in counts.items()],
            findings=[_finding(flaw) for flaw in islice(flaws, args.most)],
            complete=inspection.contacts is None or inspection.contacts.complete,
        )


class _Inspection:
    """A pass over a scene, which reads the parts once for all rules."""

    def __init__(self, scene: Scene, args: AuditArgs) -> None:
        self._scene = scene
        self._args = args
        named = [scene.require(Kind.OBJECT, name, "/objects") for name in dict.fromkeys(args.objects)]
        self.objects: list[Block] = named or visible(scene)
        reported_names = {obj.name for obj in self.objects}
        # Further objects are not reported on, but they may support, carry and cover the reported ones.
        further: list[Block] = []
        if named and self._applies("duplicate", "floating", "hidden_light", "interpenetrating", "joined"):
            further = [obj for obj in visible(scene) if obj.name not in reported_names]
        self._surfaces = scene.surfaces([*self.objects, *further])
        self.parts: list[Part] = parts_of(scene, self.objects, self._surfaces)
        self._all_parts = [*self.parts, *parts_of(scene, further, self._surfaces)]
        self._named: set[str] | None = None
        if named:
            self._named = reported_names
        self.contacts: Contacts | None = None
        if self._applies("duplicate", "floating", "interpenetrating", "joined"):
            self.contacts = Contacts(scene, self._all_parts, self._surfaces, args.tolerance, reported_names)

    def flaws(self) -> list[Flaw]:
        """Return the flaws that the requested rules find, the worst first."""
        requested = [flaw for flaw in self._all_flaws() if self._applies(flaw.rule)]
        return sorted(requested, key=lambda flaw: flaw.rank)

    def _applies(self, *rules: Rule) -> bool:
        """Return True if at least one of the rules is requested."""
        return not self._args.rules or any(rule in self._args.rules for rule in rules)

    def _all_flaws(self) -> Iterator[Flaw]:
        args, scene, parts = self._args, self._scene, self.parts
        yield from scale_flaws(scene, parts)
        yield from mesh_flaws(parts)
        yield from budget_flaws(parts, args.polygon_budget, args.object_polygon_budget)
        density = args.texel_density
        if density is not None and self._applies("texel_density"):
            demand = TextureDemand(density.image_size, density.least, density.most)
            yield from texture_flaws(parts, self._surfaces, demand)
        if self.contacts is not None:
            yield from self._contact_flaws(self.contacts)
        if self._applies("out_of_frame"):
            yield from frame_flaws(scene, parts)
        if self._applies("hidden_light"):
            yield from hidden_light_flaws(scene, self._all_parts, self._surfaces, self._named)
        if not args.objects:
            yield from self._scene_flaws(scene)

    def _contact_flaws(self, contacts: Contacts) -> Iterator[Flaw]:
        if self._applies("duplicate"):
            yield from contacts.duplicates()
        if self._applies("interpenetrating", "joined"):
            patterns = [name_pattern(wildcards).match for wildcards in self._args.may_overlap]
            yield from contacts.interpenetrations(lambda name: any(match(name) for match in patterns))
        if self._applies("floating"):
            yield from contacts.floating(self._args.ground)

    def _scene_flaws(self, scene: Scene) -> Iterator[Flaw]:
        """Yield flaws that are not about single objects. A caller that names objects gets only the flaws of these."""
        rules: Iterable[tuple[Rule, Any]] = (
            ("default_name", name_flaws),
            ("missing_file", file_flaws),
            ("no_camera", camera_flaws),
            ("no_light", light_flaws),
            ("orphan", orphan_flaws),
        )
        for rule, flaws in rules:
            if self._applies(rule):
                yield from flaws(scene)


def _rule_count(rule: Rule, count: int) -> RuleCount:
    text = RULES[rule]
    return RuleCount(rule=rule, severity=text.severity, count=count, meaning=text.meaning, cure=text.cure)


def _finding(flaw: Flaw) -> AuditFinding:
    return AuditFinding(
        rule=flaw.rule,
        severity=flaw.severity,
        object=flaw.subject,
        other=flaw.other,
        measure=dict(flaw.measure),
        repair=[RepairCall(tool=tool, args=dict(args)) for tool, args in flaw.repairs()],
    )


def _fix(flaw: Flaw) -> str:
    tools = " and ".join(dict.fromkeys(tool for tool, _ in flaw.repairs()))
    fix = RULES[flaw.rule].cure
    if tools:
        return f"{fix} scene.audit without require returns the repair call: {tools}."
    return fix
