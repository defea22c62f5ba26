"""scene.audit"""

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
# Rules that need a figure to compare with, and the arguments that give it.
NEEDS_ARGUMENT: dict[str, tuple[str, ...]] = {
    "polygon_budget": ("polygon_budget", "object_polygon_budget"),
    "texel_density": ("texel_density",),
}


class TexelDensity(Args):
    """How many pixels of a texture a metre of surface is to have."""

    image_size: int = Field(ge=1, le=65_536, description="Width of the square texture, in pixels.")
    least: PositiveFloat = Field(description="Fewest pixels per metre.")
    most: PositiveFloat = Field(description="Most pixels per metre.")


class AuditArgs(Args):
    objects: list[ObjectName] = Field(
        default=[],
        max_length=10_000,
        description="Objects to tell about, which everything else may hold or touch; none: everything that a render shows.",
    )
    rules: list[Rule] = Field(default=[], max_length=len(RULES), description="Rules to go by; none: all of them.")
    require: Severity | None = optional("Fail when there is a finding of this severity or a graver one.")
    most: int = Field(default=100, ge=1, le=1000, description="How many findings to list, the gravest first.")
    tolerance: float = Field(
        default=0.001,
        ge=1e-6,
        le=10.0,
        description="In metres: a smaller gap is a contact, a smaller overlap is no interpenetration.",
    )
    may_overlap: list[Name] = Field(
        default=[],
        max_length=1000,
        description="Objects that go through others on purpose: names or patterns (* and ?); nothing is told of their overlaps.",
    )
    ground: BoundedFloat | None = optional(
        "Height of the ground in metres, on which things may stand; left out, 0 and the lowest point of all."
    )
    polygon_budget: int | None = optional("Most triangles of all objects together, modifiers included.", ge=0)
    object_polygon_budget: int | None = optional("Most triangles of a single object.", ge=1)
    texel_density: TexelDensity | None = optional("How many pixels per metre textures are to have.")

    @model_validator(mode="after")
    def _has_what_its_rules_need(self) -> AuditArgs:
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
    rule: str = Field(description="The rule that it breaks; `rules` says what that means.")
    severity: Severity = Field(description="How grave it is.")
    object: str = Field(description="The object, or kind/name of another datablock; empty: the scene.")
    other: str = Field(description="The other object, where there are two.")
    measure: dict[str, float | int | str] = Field(description="What was measured; lengths in metres.")
    repair: list[RepairCall] = Field(description="Operations that mend it as they are; none: see the rule's cure.")


class RuleCount(Result):
    rule: str = Field(description="Name of the rule.")
    severity: Severity = Field(description="How grave its findings are.")
    count: int = Field(description="How many there are.")
    meaning: str = Field(description="What such an object is or has.")
    cure: str = Field(description="What to do about it.")


class Audited(Result):
    """What is wrong with a scene, grouped by rule, the gravest first."""

    objects: int = Field(description="How many objects were looked at.")
    triangles: int = Field(description="How many triangles they have, modifiers included and instances not.")
    errors: int = Field(description="How many findings are errors.")
    warnings: int = Field(description="How many are warnings.")
    infos: int = Field(description="How many are worth knowing.")
    checked: str = Field(default="", description="The rules that it was held to: 'all', or those that were asked for.")
    rules: list[RuleCount] = Field(description="The rules that were broken.")
    findings: list[AuditFinding] = Field(description="What was found, at most as many as were asked for.")
    complete: bool = Field(description="False when too many objects are in one place to compare each with each.")


class Audit(Reads[AuditArgs, Audited]):
    """Look a scene over as a technical artist would; each finding has a measure and operations that mend it. With `require` it is a gate.

    It finds what floats, goes through something else, is there twice, inside out, not closed, scaled, unused, unnamed, unlit, out of the
    picture, shut in or too heavy. Parts of one parent that go into each other count as joined.

    Meshes are looked at with their modifiers; instances count with their boxes. What lies wholly inside another surface touches nothing."""

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
        worst = SEVERITIES.index(args.require)
        flaws = [flaw for flaw in _Look(scene, args).flaws() if SEVERITIES.index(flaw.severity) <= worst]
        for flaw in flaws[: args.most]:
            yield Finding(Fault.VERIFICATION_FAILED, flaw.sentence(), "/require", _cure(flaw), flaw.rule)

    def apply(self, scene: Scene, args: AuditArgs) -> Audited:
        look = _Look(scene, args)
        flaws = look.flaws()
        severities = Counter(flaw.severity for flaw in flaws)
        counts: Counter[Rule] = Counter(flaw.rule for flaw in flaws)
        return Audited(
            objects=len(look.objects),
            triangles=sum(part.facts.triangles for part in look.parts),
            errors=severities["error"],
            warnings=severities["warning"],
            infos=severities["info"],
            checked=", ".join(args.rules) or "all",
            rules=[_rule_count(rule, count) for rule, count in counts.items()],
            findings=[_finding(flaw) for flaw in islice(flaws, args.most)],
            complete=look.contacts is None or look.contacts.complete,
        )


class _Look:
    """One pass over a scene: the parts are read once, whatever the rules."""

    def __init__(self, scene: Scene, args: AuditArgs) -> None:
        self._scene = scene
        self._args = args
        named = [scene.require(Kind.OBJECT, name, "/objects") for name in dict.fromkeys(args.objects)]
        self.objects: list[Block] = named or visible(scene)
        told = {obj.name for obj in self.objects}
        meets = self._asked("duplicate", "floating", "hidden_light", "interpenetrating", "joined")
        # What is not told about holds, carries and covers all the same.
        if named and meets:
            others = [obj for obj in visible(scene) if obj.name not in told]
        else:
            others = []
        self._surfaces = scene.surfaces([*self.objects, *others])
        self.parts: list[Part] = parts_of(scene, self.objects, self._surfaces)
        self._all_parts = [*self.parts, *parts_of(scene, others, self._surfaces)]
        if named:
            self._named = told
        else:
            self._named = None
        self.contacts: Contacts | None = None
        if self._asked("duplicate", "floating", "interpenetrating", "joined"):
            self.contacts = Contacts(scene, self._all_parts, self._surfaces, args.tolerance, told)

    def flaws(self) -> list[Flaw]:
        """What the rules that were asked for find, the gravest first."""
        return sorted((flaw for flaw in self._found() if self._asked(flaw.rule)), key=lambda flaw: flaw.rank)

    def _asked(self, *rules: Rule) -> bool:
        return not self._args.rules or any(rule in self._args.rules for rule in rules)

    def _found(self) -> Iterator[Flaw]:
        args, scene, parts = self._args, self._scene, self.parts
        yield from scale_flaws(scene, parts)
        yield from mesh_flaws(parts)
        yield from budget_flaws(parts, args.polygon_budget, args.object_polygon_budget)
        if args.texel_density is not None and self._asked("texel_density"):
            wanted = args.texel_density
            demand = TextureDemand(wanted.image_size, wanted.least, wanted.most)
            yield from texture_flaws(parts, self._surfaces, demand)
        if self.contacts is not None:
            yield from self._contact_flaws(self.contacts)
        if self._asked("out_of_frame"):
            yield from frame_flaws(scene, parts)
        if self._asked("hidden_light"):
            yield from hidden_light_flaws(scene, self._all_parts, self._surfaces, self._named)
        if not args.objects:
            yield from self._scene_flaws(scene)

    def _contact_flaws(self, contacts: Contacts) -> Iterator[Flaw]:
        if self._asked("duplicate"):
            yield from contacts.duplicates()
        if self._asked("interpenetrating", "joined"):
            patterns = [name_pattern(one).match for one in self._args.may_overlap]
            yield from contacts.interpenetrations(lambda name: any(match(name) for match in patterns))
        if self._asked("floating"):
            yield from contacts.floating(self._args.ground)

    def _scene_flaws(self, scene: Scene) -> Iterator[Flaw]:
        """What is not about single objects; whoever names some asks about these alone."""
        rules: Iterable[tuple[Rule, Any]] = (
            ("default_name", name_flaws),
            ("missing_file", file_flaws),
            ("no_camera", camera_flaws),
            ("no_light", light_flaws),
            ("orphan", orphan_flaws),
        )
        for rule, flaws in rules:
            if self._asked(rule):
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


def _cure(flaw: Flaw) -> str:
    tools = " and ".join(dict.fromkeys(tool for tool, _ in flaw.repairs()))
    cure = RULES[flaw.rule].cure
    if tools:
        return f"{cure} scene.audit without require names the call: {tools}."
    return cure
