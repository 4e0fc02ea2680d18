"""Names that are odd but legal: each is an ordinary topic, whatever its directory looks like."""

from pathlib import Path

import pytest

from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

ODD_NAMES = {
    "as long as can be": "x" * 249,
    "like a partition": "orders-0",
    "like two partitions": "orders-0-0",
    "like a deleted partition": "t.0123456789abcdef0123456789abcdef-delete",
    "like a partition on its way": "t.0123456789abcdef0123456789abcdef-future",
    "like a stray": "t.0123456789abcdef0123456789abcdef-stray",
    "like a segment": "00000000000000000000.log",
    "like a checkpoint": "recovery-point-offset-checkpoint",
    "hidden": ".hidden",
    "an option": "--delete",
    "three dots": "...",
    "upper case": "UPPER",
    "lower case": "upper",
}


@pytest.mark.parametrize("name", ODD_NAMES.values(), ids=ODD_NAMES)
def test_an_odd_name_is_an_ordinary_topic(broker: BrokerProcess, name: str) -> None:
    client = Confluent(broker.bootstrap)
    for _ in range(2):
        client.create(name)
        assert client.write(name, [Sent(name.encode())]) == [0]
        assert [one.value for one in client.read(name, 1)] == [name.encode()]
        client.delete(name)
        eventually(client.topics, lambda seen: name not in seen)


def test_odd_names_survive_together(tmp_path: Path) -> None:
    for is_killed in (True, False):
        with start_kwire(tmp_path / "data") as broker:
            client = Confluent(broker.bootstrap)
            if not client.topics():
                for name in ODD_NAMES.values():
                    client.create(name)
                    client.write(name, [Sent(name.encode())])
            # A consumer looks for its coordinator, and so the internal topic comes into being.
            assert client.topics() - {"__consumer_offsets"} == set(ODD_NAMES.values())
            for name in ODD_NAMES.values():
                assert [one.value for one in client.read(name, 1)] == [name.encode()]
            if is_killed:
                broker.kill()
