"""Nothing that a person is shown hides itself."""

from __future__ import annotations

import pytest

from blendwright.values.visible import visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("os.remove('x') # \x1b[1A\x1b[2K\nprint('hello')", "os.remove('x') # \\u001b[1A\\u001b[2K\nprint('hello')"),
        ("a\rb\x7f\x9b2J", "a\\u000db\\u007f\\u009b2J"),
        ("safe\u202eevil\u2066\u200b\u2028\u2029", "safe\\u202eevil\\u2066\\u200b\\u2028\\u2029"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_shows_nothing_by_itself_is_written_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(shown) == shown


def test_what_people_write_stays() -> None:
    for text in ("plain", "if a:\n\tb = 'Größe 日本語 🪑'\n", "a\u00a0b"):
        assert visible(text) == text
