"""How a window gets into the console of the core that is attached to it: where the console is, and the key with which a link is asked for.

The key goes over the private socket of the window alone. It opens nothing by itself: what it gets is a link that is good once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LINKS = "/api/links"
KEY_HEADER = "x-window-key"
LINK = "#link="
# Of a console on this machine, and of a link into it. Nothing else is ever opened from a window.
LOCAL_ADDRESS = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}/")
LINK_SECRET = re.compile(r"[A-Za-z0-9_-]{16,200}")


@dataclass(frozen=True, slots=True)
class ConsoleDoor:
    """`address` is that of the page. The key stands in no log."""

    address: str
    key: str = field(repr=False)

    def shown(self) -> dict[str, str]:
        """As a window is told of it."""
        return {"console": self.address, "console_key": self.key}
