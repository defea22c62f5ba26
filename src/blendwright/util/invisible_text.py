"""Escapes for invisible characters, so that a person who approves a text sees all of it."""

from __future__ import annotations

import unicodedata

# Unicode categories: control (terminal escape sequences), format (changes of the writing direction), unassigned, private, surrogate,
# separators of lines and paragraphs, and spaces, which look alike or are invisible.
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
# Invisible letters and marks: the other default-ignorable characters of Unicode (fillers, variation selectors), and the empty braille
# pattern. Text can be hidden in them, in a name or between two characters of code.
IGNORED = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
LAYOUT = " \n\t"


def escape_invisible(text: str) -> str:
    """Return the text with every invisible character as a Python escape; blanks, line breaks and tabs stay.

    This includes the variation selector in a coloured emoji, which then appears as its parts.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_shown, text))


def is_invisible(character: str) -> bool:
    """Return True if a character is invisible, changes how its neighbours appear, or looks like a plain space."""
    if character == " ":
        return False
    return unicodedata.category(character) in UNSEEN or ord(character) in IGNORED


def _shown(character: str) -> str:
    if character in LAYOUT or not is_invisible(character):
        return character
    return character.encode("unicode_escape", "surrogatepass").decode()
