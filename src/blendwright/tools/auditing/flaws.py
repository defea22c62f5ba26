"""The audit rules by name, and the flaw that a rule reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Measure = Mapping[str, float | int | str]
# A call that repairs a flaw: the tool's name and its arguments.
Repair = tuple[str, Mapping[str, Any]]

Rule = Literal[
    "default_name", "degenerate", "duplicate", "flipped_normals", "floating", "hidden_light", "inside_out", "interpenetrating",
    "joined", "loose", "missing_file", "negative_scale", "no_camera", "no_light", "non_manifold", "open_edges", "orphan", "out_of_frame",
    "polygon_budget", "texel_density", "unapplied_scale",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule's severity, its meaning as a predicate of the subject, and the fix to suggest without a repair call."""

    severity: Severity
    meaning: str
    cure: str


RULES: Mapping[Rule, RuleText] = {
    "default_name": RuleText(
        "info", "has a default name from Blender or from copying", "Give it a descriptive name with object.rename."
    ),
    "degenerate": RuleText("warning", "has faces without area", "Merge vertices at the same position."),
    "duplicate": RuleText("error", "is identical to another object at the same position", "Delete one of them."),
    "flipped_normals": RuleText(
        "warning", "has neighbouring faces with opposite normals", "Make its normals consistent."
    ),
    "floating": RuleText("warning", "does not touch any object or the ground", "Move it until it rests on something."),
    "hidden_light": RuleText(
        "warning",
        "may be hidden because a closed surface surrounds it",
        "Move the light out of that object, open the object, or give it a translucent material.",
    ),
    "inside_out": RuleText("error", "is closed, but its normals point inward", "Flip its normals."),
    "interpenetrating": RuleText(
        "warning",
        "intersects another object",
        "Move one of them. If it is intended, name the object in may_overlap, for example ['Mortar*'].",
    ),
    "joined": RuleText(
        "info",
        "has parts that intersect, as joined parts do",
        "Keep them if that is intended; otherwise move them apart.",
    ),
    "loose": RuleText(
        "warning", "has vertices or edges without a face", "Delete vertices and edges that belong to no face."
    ),
    "missing_file": RuleText(
        "error", "refers to a file that does not exist", "Restore the file, or choose another one."
    ),
    "negative_scale": RuleText("warning", "is mirrored by a negative scale", "Apply its scale, and flip its normals."),
    "no_camera": RuleText("warning", "has no camera to render through", "Create a camera."),
    "no_light": RuleText("warning", "has no light source", "Create a light, or give the world a background."),
    "non_manifold": RuleText("warning", "has edges at which more than two faces meet", "Remove its inner faces."),
    "open_edges": RuleText("info", "is not closed", "Fill the holes if it should be solid."),
    "orphan": RuleText("info", "has no users", "Remove it with scene.purge."),
    "out_of_frame": RuleText(
        "info", "does not see all rendered objects", "Move these objects or the camera if they should be visible."
    ),
    "polygon_budget": RuleText("error", "has more triangles than allowed", "Reduce its number of faces."),
    "texel_density": RuleText(
        "warning", "has more or fewer pixels per metre than allowed, or no UV map", "Scale its UV map."
    ),
    "unapplied_scale": RuleText(
        "info", "has a scale other than 1", "Apply the scale to the mesh, so that the scale is 1."
    ),
}


def no_repairs() -> Sequence[Repair]:
    return ()


@dataclass(frozen=True, slots=True)
class Flaw:
    """A violation of a rule by one subject.

    `repairs` is called only for flaws that are reported, because some repairs need to examine the scene.
    """

    rule: Rule
    subject: str
    """Name of the object, or `kind/name` of another datablock; empty for the scene."""
    measure: Measure
    other: str = ""
    repairs: Callable[[], Sequence[Repair]] = no_repairs

    @property
    def severity(self) -> Severity:
        return RULES[self.rule].severity

    @property
    def rank(self) -> tuple[int, str, str, str]:
        """Return the sort key of flaws: most severe first, then by rule and names."""
        return SEVERITIES.index(self.severity), self.rule, self.subject, self.other

    def sentence(self) -> str:
        """Return the flaw as one English sentence without a full stop."""
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
