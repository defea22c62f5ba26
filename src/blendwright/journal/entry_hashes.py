"""What an audit record says of the commit or reading that it belongs to: one hash over everything that its row holds.

So the chain covers arguments and receipts, and not only ids and scenes. A receipt names its record, whose hash is not known before that
of the entry: the receipt is hashed as it is without that name, which is written behind everything else in it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import orjson

from blendwright.records.audit import AuditHead

FIELD = "entry_hash"
# The columns that neither the record itself nor arguments and receipt say, in the order in which they are hashed.
COMMIT_FIELDS = ("number", "parent", "kind", "operation_key", "tool_version", "replayable", "timestamp", "generation")
READING_FIELDS = ("operation_key", "tool_version", "timestamp")


def entry_hash(fields: Sequence[Any], args: str, receipt: str) -> str:
    """Of the fields above, and of arguments and receipt as they are written, the latter without its record. No line of JSON has an end
    of line in it, so nothing can be moved from one of the three to another."""
    digest = hashlib.sha256(orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE))
    digest.update(f"{args}\n{receipt}".encode())
    return digest.hexdigest()


def with_record(receipt: str, record: AuditHead) -> str:
    """The receipt with the name of its record."""
    return f"{receipt[:-1]}{_ending(receipt == '{}', record)}"


def without_record(receipt: str, record: AuditHead) -> str | None:
    """The receipt as it was before it had the name of this record; None where it does not end with that."""
    for empty in (False, True):
        ending = _ending(empty, record)
        if receipt.endswith(ending) and (receipt == f"{{{ending}") == empty:
            return f"{receipt[: -len(ending)]}}}"
    return None


def _ending(empty: bool, record: AuditHead) -> str:
    return f'{"" if empty else ","}"audit":{{"hash":"{record.hash}","sequence":{record.sequence}}}}}'
