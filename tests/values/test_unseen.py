from __future__ import annotations

import pytest

from blendwright.values.unseen import in_plain_sight


@pytest.mark.parametrize("text", ["", "print('a')\n\tpass\n", "Größe 日本語 👩 \\u202e", "a b"])
def test_what_a_person_sees_stays_as_it_is(text: str) -> None:
    assert in_plain_sight(text) == text


@pytest.mark.parametrize(
    ("sign", "shown"),
    [
        ("\x1b", "\\x1b"),
        ("\r", "\\r"),
        ("\x08", "\\x08"),
        ("\x9b", "\\x9b"),
        ("\u202e", "\\u202e"),
        ("\u2066", "\\u2066"),
        ("\u200b", "\\u200b"),
        ("\u2028", "\\u2028"),
        ("\ue000", "\\ue000"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_a_person_does_not_see_is_written_out(sign: str, shown: str) -> None:
    assert in_plain_sight(f"a{sign}b") == f"a{shown}b"
