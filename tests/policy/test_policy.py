"""What the rules say to a call, decided on values alone: the strictest counts, and the nearest rule is the one."""

from __future__ import annotations

from pathlib import PurePath

import pytest

from blendwright.policy.policy import Levels, Modes, Rules, Verdict, named_rule, nearest_root, ruling
from blendwright.tool_api.promises import SafetyMode

ALLOW, ASK, DENY = Verdict.ALLOW, Verdict.ASK, Verdict.DENY
SAFE, UNSAFE = SafetyMode.HEADLESS_SAFE, SafetyMode.UNSAFE_OPS


@pytest.mark.parametrize(
    ("level", "mode", "root", "verdict", "asked"),
    [
        (ALLOW, ALLOW, ALLOW, ALLOW, ()),
        (ASK, ALLOW, ALLOW, ASK, ("destructive",)),
        (ALLOW, ASK, ALLOW, ASK, ("unsafe_ops",)),
        (ALLOW, ALLOW, ASK, ASK, ("/data",)),
        (ASK, DENY, ALLOW, DENY, ("destructive", "unsafe_ops")),
        (DENY, ASK, ALLOW, DENY, ("destructive", "unsafe_ops")),
        (ASK, ASK, DENY, DENY, ("destructive", "unsafe_ops", "/data")),
    ],
)
def test_the_strictest_rule_counts_and_every_strict_one_is_named(
    level: Verdict, mode: Verdict, root: Verdict, verdict: Verdict, asked: tuple[str, ...]
) -> None:
    rules = Rules(levels=Levels(destructive=level), modes=Modes(unsafe_ops=mode))
    found = ruling(rules, "object.delete", UNSAFE, "destructive", [("/data", root)])
    assert (found.verdict, found.grants) == (verdict, asked)
    assert len(found.reasons) == len(asked) and not found.in_person


def test_a_rule_for_a_tool_takes_the_place_of_its_level_and_of_nothing_else() -> None:
    rules = Rules(levels=Levels(destructive=DENY), modes=Modes(unsafe_ops=DENY), tools={"object.delete": ALLOW})
    assert ruling(rules, "object.delete", SAFE, "destructive").verdict is ALLOW
    assert ruling(rules, "object.delete", UNSAFE, "destructive").verdict is DENY
    assert ruling(rules, "object.delete", SAFE, "destructive", [("/data", DENY)]).verdict is DENY
    assert ruling(rules, "object.rename", SAFE, "destructive").verdict is DENY


def test_the_nearest_name_is_the_rule_of_a_tool() -> None:
    tools = {"*": ALLOW, "object.*": DENY, "object.delete": ASK, "object.del*": ALLOW}
    rules = Rules(tools=tools)
    assert named_rule(rules, "object.delete") == ("policy.tools.'object.delete'", ASK)
    assert named_rule(rules, "object.delegate") == ("policy.tools.'object.del*'", ALLOW)
    assert named_rule(rules, "object.rename") == ("policy.tools.'object.*'", DENY)
    assert named_rule(rules, "mesh.create") == ("policy.tools.'*'", ALLOW)
    assert named_rule(Rules(tools={"object": DENY}), "object.delete") is None, "a beginning ends with a star"


def test_the_innermost_directory_is_the_rule_of_a_file() -> None:
    roots = {"/": ASK, "/home/me": ALLOW, "/home/me/private": DENY}
    assert nearest_root(roots, PurePath("/home/me/a.blend")) == ("/home/me", ALLOW)
    assert nearest_root(roots, PurePath("/home/me/private/a.blend")) == ("/home/me/private", DENY)
    assert nearest_root(roots, PurePath("/home/me/privately/a.blend")) == ("/home/me", ALLOW)
    assert nearest_root(roots, PurePath("/home/meadow")) == ("/", ASK)
    assert nearest_root({"/home/me": ALLOW}, PurePath("/home/meadow/a.blend")) is None
