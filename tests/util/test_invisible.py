from __future__ import annotations

import pytest

from blendwright.util.invisible_text import escape_invisible


@pytest.mark.parametrize("text", ["", "print('a')\n\tpass\n", "Größe 日本語 👩 \\u202e", "a b"])
def test_what_a_person_sees_stays_as_it_is(text: str) -> None:
    assert escape_invisible(text) == text


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
        ("\ufe00", "\\ufe00"),
        ("\ufe0f", "\\ufe0f"),
        ("\U000e0100", "\\U000e0100"),
        ("\U000e01ef", "\\U000e01ef"),
        ("\u034f", "\\u034f"),
        ("\u17b5", "\\u17b5"),
        ("\u180f", "\\u180f"),
        ("\u3164", "\\u3164"),
        ("\u115f", "\\u115f"),
        ("\u1160", "\\u1160"),
        ("\uffa0", "\\uffa0"),
        ("\u2800", "\\u2800"),
        ("\xa0", "\\xa0"),
        ("\u2003", "\\u2003"),
        ("\u3000", "\\u3000"),
    ],
)
def test_what_a_person_does_not_see_is_written_out(sign: str, shown: str) -> None:
    assert escape_invisible(f"a{sign}b") == f"a{shown}b"
