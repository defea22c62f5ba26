"""From the button in the sidebar to the console in the person's browser: a fresh link, and a page that leads there. Without bpy.

A browser is started with an address on its command line, which every user of a machine can read. So the link is not given to it but a file
that only its owner can read, and that leads on to the link.
"""

import http.client
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

from blendwright.wire.console_door import KEY_HEADER, LINK, LINK_SECRET, LINKS, LOCAL_ADDRESS

# Blender stands still meanwhile. A console on this machine answers in a few milliseconds.
SECONDS = 3.0
MOST_BYTES = 4096
FILE = "console.html"
PAGE = """<!doctype html>
<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Blendwright</title>
<meta http-equiv="refresh" content="0;url={link}">
<p><a href="{link}">Open the console</a>
"""


def write_console_page(directory: Path, core: Mapping[str, Any]) -> str:
    """The address of a page that leads into the console of this core, once. Raises OSError, in words for a person, where it cannot be
    had. `directory` is readable for its owner alone."""
    link = _fresh_link(str(core.get("console", "")), str(core.get("console_key", "")))
    path = directory / FILE
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(PAGE.format(link=link))
    return path.as_uri()


def _fresh_link(address: str, key: str) -> str:
    if not LOCAL_ADDRESS.fullmatch(address):
        raise OSError("it is not on this machine")
    where = urlsplit(address)
    # Not urllib's opener, which would ask a proxy of the person's for it.
    connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=SECONDS)
    try:
        # An act says which page it comes from; this one comes from the console's own side.
        headers = {"Origin": address.rstrip("/"), KEY_HEADER: key}
        connection.request("POST", LINKS, headers=headers)
        answer = connection.getresponse()
        told: Any
        if answer.status == 200:
            told = json.loads(answer.read(MOST_BYTES))
        else:
            told = None
    except (http.client.HTTPException, ValueError) as error:
        raise OSError("what answers there is no console") from error
    finally:
        connection.close()
    link: object
    if isinstance(told, dict):
        link = cast("dict[str, Any]", told).get("link")
    else:
        link = None
    if not isinstance(link, str) or not link.startswith(address + LINK):
        raise OSError("it gives no link")
    if not LINK_SECRET.fullmatch(link.removeprefix(address + LINK)):
        raise OSError("it gives no link")
    return link
