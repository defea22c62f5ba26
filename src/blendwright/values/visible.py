"""Text from others for a person's eyes: what would hide, move or erase other text is shown as an escape instead."""

from __future__ import annotations

import unicodedata

# Cc control, Cf format (direction overrides among them), Cs surrogates, Zl/Zp line and paragraph separators.
UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def visible(text: str) -> str:
    """The text with every character that shows nothing by itself written out, but for new lines and tabs. A second time changes nothing."""
    if text.isprintable():
        return text
    return "".join(
        sign if sign in "\n\t" or unicodedata.category(sign) not in UNSEEN else _escaped(sign) for sign in text
    )


def _escaped(sign: str) -> str:
    return f"\\u{ord(sign):04x}" if ord(sign) < 0x10000 else f"\\U{ord(sign):08x}"
