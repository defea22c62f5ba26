"""The rules of an audit by name, and a flaw: what one of them found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Measure = Mapping[str, float | int | str]
# A call that mends something: the tool's name, and its arguments.
Repair = tuple[str, Mapping[str, Any]]

Rule = Literal[
    "default_name", "degenerate", "duplicate", "flipped_normals", "floating", "hidden_light", "inside_out", "interpenetrating",
    "joined", "loose", "missing_file", "negative_scale", "no_camera", "no_light", "non_manifold", "open_edges", "orphan", "out_of_frame",
    "polygon_budget", "texel_density", "unapplied_scale",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RuleText:
    """How grave it is, what it means, and what to do where no repair can be named."""

    severity: Severity
    meaning: str
    cure: str


RULES: Mapping[Rule, RuleText] = {
    "default_name": RuleText(
        "info", "has a name that Blender or a copy gave it", "Give it a name that says what it is, with object.rename."
    ),
    "degenerate": RuleText("warning", "has faces without area", "Merge vertices that lie on each other."),
    "duplicate": RuleText("error", "lies in the same place as its equal", "Delete one of them."),
    "flipped_normals": RuleText(
        "warning", "has neighbouring faces that look to opposite sides", "Turn its faces to one side."
    ),
    "floating": RuleText("warning", "touches nothing and stands on nothing", "Move it until it rests on something."),
    "hidden_light": RuleText(
        "warning",
        "may be hidden: a closed surface is all around it",
        "Move the light out of it, open it, or give it a material that lets light through.",
    ),
    "inside_out": RuleText("error", "is closed, and its faces look inward", "Turn its faces around."),
    "interpenetrating": RuleText(
        "warning",
        "goes through another object",
        "Move one of them; what is meant to, name in may_overlap: ['Mortar*'].",
    ),
    "joined": RuleText(
        "info",
        "has parts that go into each other, as joined ones do",
        "Leave them, where that is meant; otherwise move them apart.",
    ),
    "loose": RuleText("warning", "has vertices or edges without a face", "Delete what belongs to no face."),
    "missing_file": RuleText("error", "names a file that is not there", "Bring the file back, or name another one."),
    "negative_scale": RuleText("warning", "is mirrored by a negative scale", "Apply its scale, and turn its faces."),
    "no_camera": RuleText("warning", "has no camera to render through", "Create a camera."),
    "no_light": RuleText("warning", "has nothing that shines", "Create a light, or give the world a background."),
    "non_manifold": RuleText(
        "warning", "has edges at which more than two faces meet", "Take the faces inside of it away."
    ),
    "open_edges": RuleText("info", "is not closed", "Fill the holes, where it should be solid."),
    "orphan": RuleText("info", "is used by nothing", "Remove it with scene.purge."),
    "out_of_frame": RuleText(
        "info", "does not see all that a render has", "Move these objects or the camera, where they are to be seen."
    ),
    "polygon_budget": RuleText("error", "has more triangles than allowed", "Give it fewer faces."),
    "texel_density": RuleText(
        "warning", "has more or fewer pixels per metre than allowed, or no UV map", "Scale its UV map."
    ),
    "unapplied_scale": RuleText(
        "info", "has a scale other than 1", "Make the mesh as large as it should be, with a scale of 1."
    ),
}


def no_repairs() -> Sequence[Repair]:
    return ()


@dataclass(frozen=True, slots=True)
class Flaw:
    """What a rule found. `repairs` are made for those only that are told: some have to look around first."""

    rule: Rule
    subject: str
    """The object, or `kind/name` of another datablock; empty where it is the scene."""
    measure: Measure
    other: str = ""
    repairs: Callable[[], Sequence[Repair]] = no_repairs

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity

    @property
    def rank(self) -> tuple[int, str, str, str]:
        """By which flaws are listed: the gravest first."""
        return SEVERITIES.index(self.severity), self.rule, self.subject, self.other

    def sentence(self) -> str:
        if self.subject:
            subject = f"'{self.subject}'"
        else:
            subject = "the scene"
        figures = ", ".join(f"{name} {value}" for name, value in self.measure.items())
        words = f"{subject} {RULES[self.rule].meaning}"
        if self.other:
            words += f": '{self.other}'"
        if figures:
            return f"{words} ({figures})"
        return words
