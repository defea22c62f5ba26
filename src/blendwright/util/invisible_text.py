"""Signs that a person does not see, made visible: whoever is asked about a text must see all of it, and nothing else than it."""

from __future__ import annotations

import unicodedata

# Control (escape sequences of terminals), format (what turns the direction of writing), unassigned, private, surrogate, separators
# of lines and paragraphs, and spaces, which look like one another or like nothing.
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"})
# Letters and marks that show as nothing: what else Unicode calls ignorable by default (fillers, selectors of variants), and the
# empty braille pattern. Text can be told by them alone, in a name or between two signs of code.
IGNORED = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0}
    | set(range(0x180B, 0x1810))
    | set(range(0xFE00, 0xFE10))
    | set(range(0xE0100, 0xE01F0))
)
LAYOUT = " \n\t"


def escape_invisible(text: str) -> str:
    """The same text with every unseen sign as its escape, as in Python; blanks, line breaks and tabs stay.

    Also of an emoji that asks for its coloured form: it is shown, with what it is made of.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(sign) for sign in text)


def is_invisible(character: str) -> bool:
    """Return whether a character shows as nothing, controls how others show, or can be mistaken for a plain space."""
    if character == " ":
        return False
    return unicodedata.category(character) in UNSEEN or ord(character) in IGNORED


def _shown(sign: str) -> str:
    if sign in LAYOUT or not is_invisible(sign):
        return sign
    return sign.encode("unicode_escape", "surrogatepass").decode()
