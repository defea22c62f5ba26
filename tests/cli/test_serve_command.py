"""blendwright serve: what it is told on the command line."""

from __future__ import annotations

import pytest

from blendwright.server.commands import address_of
from blendwright.values.errors import Refusal


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("localhost:1", ("localhost", 1)),
        ("[::1]:8000", ("[::1]", 8000)),
        ("::1:8000", ("[::1]", 8000)),
    ],
)
def test_an_address_is_a_host_and_a_port(text: str, address: tuple[str, int]) -> None:
    assert address_of(text) == address


@pytest.mark.parametrize(
    "text", ["", "8000", ":8000", "localhost", "localhost:", "localhost:0", "localhost:65536", "a:b"]
)
def test_what_is_no_address_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        address_of(text)
    assert refused.value.cure == "Give a host and a port, for example --http 127.0.0.1:8000."
