"""HTTP as every server of ours speaks it: connections and bodies with bounds, who may ask from where, and one way to listen and to end."""

from __future__ import annotations

# The key under which a request has the id of its connection. Here, so that whoever needs no more loads no web server.
CONNECTION_ID = "blendwright.connection_id"
