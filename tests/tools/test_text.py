"""Peculiar behaviour of text.create; what holds for all tools is in the conformance suite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import bpy
import pytest

if TYPE_CHECKING:
    from support.stage.stage import Stage


def text(name: str) -> Any:
    blocks: Any = bpy.data.curves
    return blocks[name]


def test_the_text_says_what_was_asked_literally(stage: Stage) -> None:
    body = "  Zwei\nZeilen, ü & 文 "
    stage.do("text.create", {"name": "Sign", "body": body, "size": 0.5, "extrude": 0.1, "align_x": "CENTER"})
    sign = text("Sign")
    assert (sign.body, sign.size, sign.align_x) == (body, 0.5, "CENTER")
    assert sign.extrude == pytest.approx(0.1)


def test_the_built_in_font_is_reported_once_and_gone_after_a_revert(stage: Stage) -> None:
    answer = stage.call("text.create", {"name": "One", "body": "1"}, rehearse="inverse")
    assert ["fonts", "Bfont Regular", "created"] in answer["changes"]
    assert answer["reverted_by"] == "inverse"
    fonts: Any = bpy.data.fonts
    assert len(fonts) == 0
    stage.do("text.create", {"name": "One", "body": "1"})
    answer = stage.call("text.create", {"name": "Two", "body": "2"})
    assert not [change for change in answer["changes"] if change[0] == "fonts"]


def test_another_text_under_the_name_is_a_conflict(stage: Stage) -> None:
    stage.do("text.create", {"name": "Sign", "body": "Open"})
    assert stage.do("text.create", {"name": "Sign", "body": "Open"})["created"] is False
    findings = stage.refusal("text.create", {"name": "Sign", "body": "Closed"})
    assert [finding["pointer"] for finding in findings] == ["/name", "/body"]


def test_an_empty_text_is_invalid(stage: Stage) -> None:
    assert stage.invalid("text.create", {"name": "Sign", "body": ""}) == ["/body"]
