"""The shared HTTP layer of all Blendwright servers: bounded connections and bodies, checks of origins, listening and shutdown."""

from __future__ import annotations

# The key in a request's scope that holds the id of its connection. Defined here, so that importing it loads no web server.
CONNECTION_ID = "blendwright.connection_id"
