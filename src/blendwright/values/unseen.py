"""Signs that a person does not see, made visible: whoever is asked about a text must see all of it, and nothing else than it."""

from __future__ import annotations

import unicodedata

# Control (escape sequences of terminals), format (what turns the direction of writing), unassigned, private, surrogate, and
# separators of lines and paragraphs.
UNSEEN = frozenset({"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp"})
LAYOUT = "\n\t"


def in_plain_sight(text: str) -> str:
    """The same text with every unseen sign as its escape, as in Python; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(sign) for sign in text)


def _shown(sign: str) -> str:
    if sign in LAYOUT or unicodedata.category(sign) not in UNSEEN:
        return sign
    return sign.encode("unicode_escape", "surrogatepass").decode()
