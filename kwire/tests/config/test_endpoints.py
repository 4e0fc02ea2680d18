"""Listeners: how they are written, which are refused."""

import pytest

from kwire.config.broker import resolve_broker
from kwire.config.endpoints import Endpoint, connection_limits, endpoints, reachable
from kwire.errors import InvalidConfig


def test_hosts_may_be_names_addresses_or_nothing() -> None:
    read = endpoints().read
    assert read("PLAINTEXT://:9092") == (Endpoint("PLAINTEXT", "", 9092),)
    assert read("a://h-1.x:1, b://[::1]:0") == (Endpoint("A", "h-1.x", 1), Endpoint("B", "::1", 0))
    assert str(Endpoint("B", "::1", 5)) == "B://[::1]:5"


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        ({"listeners": "nonsense"}, "Unable to parse nonsense to a broker endpoint"),
        ({"listeners": "PLAINTEXT://:70000"}, "Unable to parse"),
        ({"listeners": "PLAINTEXT://:1,PLAINTEXT://:2"}, "must have a different name"),
        ({"listeners": "IN://:1"}, "No security protocol defined for listener IN"),
        ({"listeners": "SSL://:1"}, "listener SSL asks for SSL: only PLAINTEXT is supported"),
        ({"listeners": ""}, "at least one listener"),
        ({"listeners": "PLAINTEXT://0.0.0.0:1"}, "nonroutable meta-address 0.0.0.0"),
        ({"advertised.listeners": "OTHER://h:1"}, "must be equal to or a subset"),
        ({"listener.security.protocol.map": "A:B"}, "No security protocol in 'A:B'"),
        ({"max.connections.per.ip.overrides": "localhost:5"}, "not of the form address:count"),
    ],
)
def test_listeners_that_cannot_be_are_refused(texts: dict[str, str], words: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        resolve_broker(texts)
    assert words in refused.value.message


def test_names_may_stand_for_plaintext() -> None:
    config = resolve_broker(
        {
            "listeners": "IN://:1,OUT://:2",
            "listener.security.protocol.map": "in:plaintext,OUT:PLAINTEXT,TLS:SSL",
            "advertised.listeners": "OUT://example.org:2",
        }
    )
    assert [one.name for one in config.listeners] == ["IN", "OUT"]
    assert [str(one) for one in config.advertised_listeners] == ["OUT://example.org:2"]


def test_bound_ports_and_the_hosts_name_fill_the_gaps() -> None:
    told = reachable([Endpoint("A", "", 0), Endpoint("B", "b", 5)], {"A": 7, "B": 9}, "me")
    assert told == (Endpoint("A", "me", 7), Endpoint("B", "b", 5))


def test_limits_of_addresses() -> None:
    assert connection_limits().read("10.0.0.1:3, [::1]:4") == {"10.0.0.1": 3, "::1": 4}
