"""The access of an attached window to the console of its core: the console's address, and a key that requests links.

Only the private socket of the window carries the key. The key alone opens nothing: it requests a link that is valid
once.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

LINKS = "/api/links"
KEY_HEADER = "x-window-key"
LINK = "#link="
# The addresses of a console on this machine and of a link into it. A window opens no other address.
LOCAL_ADDRESS = re.compile(r"http://(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}/")
LINK_SECRET = re.compile(r"[A-Za-z0-9_-]{16,200}")


@dataclass(frozen=True, slots=True)
class ConsoleDoor:
    """The address of the console's page and the key of a window. Logs do not contain the key."""

    address: str
    key: str = field(repr=False)

    def shown(self) -> dict[str, str]:
        """Return the fields that a window receives."""
        return {"console": self.address, "console_key": self.key}
