"""A local page that leads from the button in the sidebar to the console in the user's browser. This module does not use bpy.

A browser receives an address on its command line, which every user of a machine can read. The address is therefore not the secret
link itself, but a page in a file that only its owner can read. The page redirects to the link.
"""

import http.client
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from blendwright.wire.console_door import KEY_HEADER, LINK, LINK_SECRET, LINKS, LOCAL_ADDRESS

# The time to wait for the console. Blender is blocked meanwhile; a console on this machine answers within milliseconds.
TIMEOUT_SECONDS = 3.0
MAX_ANSWER_BYTES = 4096
FILE = "console.html"
PAGE = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Blendwright</title>
<meta http-equiv="refresh" content="0;url={link}">
<p><a href="{link}">Open the console</a>
"""


def write_console_page(directory: Path, core: Mapping[str, Any]) -> str:
    """Write a page to `directory` that opens the console of this core once, and return its address.

    `directory` must be readable only by its owner. Raises OSError with a message for the user if the console gives no link."""
    link = _fresh_link(str(core.get("console", "")), str(core.get("console_key", "")))
    path = directory / FILE
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(PAGE.format(link=link))
    return path.as_uri()


def _fresh_link(address: str, key: str) -> str:
    if not LOCAL_ADDRESS.fullmatch(address):
        raise OSError("the console is not on this machine")
    parts = urlsplit(address)
    # `urllib.request` would use the user's proxy.
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
    answer: Any = None
    try:
        # The console accepts only requests whose Origin is its own page.
        headers = {"Origin": address.rstrip("/"), KEY_HEADER: key}
        connection.request("POST", LINKS, headers=headers)
        response = connection.getresponse()
        if response.status == 200:
            answer = json.loads(response.read(MAX_ANSWER_BYTES))
    except (http.client.HTTPException, ValueError) as error:
        raise OSError(f"the server at {address} is not a console") from error
    finally:
        connection.close()

    link: object = None
    if isinstance(answer, dict):
        link = cast("dict[str, Any]", answer).get("link")
    prefix = address + LINK
    if not isinstance(link, str) or not link.startswith(prefix) or not LINK_SECRET.fullmatch(link.removeprefix(prefix)):
        raise OSError("the console returned no link")
    return link
