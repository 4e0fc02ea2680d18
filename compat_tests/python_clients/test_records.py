"""Whatever one client writes, every client reads back unchanged."""

import pytest

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import A_TIMESTAMP, CODECS, Acks, Client, Seen, Sent

EVERY_SHAPE = [
    Sent(b"plain", timestamp=A_TIMESTAMP),
    Sent(b"keyed", key=b"key", timestamp=A_TIMESTAMP + 1),
    Sent(b"", key=b"", timestamp=A_TIMESTAMP + 2),
    Sent(None, key=b"tombstone", timestamp=A_TIMESTAMP + 3),
    Sent(b"headers", headers=(("a", b"1"), ("a", b"2"), ("b", b"")), timestamp=A_TIMESTAMP + 4),
    Sent(bytes(range(256)) * 40, key=b"\x00\xff", timestamp=A_TIMESTAMP + 5),
    Sent(b"an older one", timestamp=A_TIMESTAMP - 1000),
]


def _as_seen(records: list[Sent], first_offset: int = 0) -> list[Seen]:
    return [
        Seen(first_offset + n, one.value, one.key, one.headers, one.timestamp or -1, 0)
        for n, one in enumerate(records)
    ]


@pytest.mark.parametrize("codec", CODECS)
def test_every_shape_of_record_comes_back_to_every_client(
    client: Client, every_client: list[Client], topic: str, codec: str
) -> None:
    client.create(topic)
    assert client.write(topic, EVERY_SHAPE, codec=codec) == list(range(len(EVERY_SHAPE)))
    for reader in every_client:
        assert reader.read(topic, len(EVERY_SHAPE)) == _as_seen(EVERY_SHAPE)


@pytest.mark.parametrize(("acks", "idempotent"), [(0, False), (1, False), ("all", True)])
def test_every_guarantee_a_producer_may_ask_for_is_served(
    client: Client, topic: str, acks: Acks, idempotent: bool
) -> None:
    records = [Sent(b"%d" % n, timestamp=A_TIMESTAMP + n) for n in range(50)]
    client.create(topic)
    offsets = client.write(topic, records, acks=acks, idempotent=idempotent)
    if acks != 0:
        assert offsets == list(range(50))
    assert client.read(topic, 50) == _as_seen(records)


def test_a_header_without_a_value_is_not_an_empty_one(
    broker: BrokerProcess, every_client: list[Client], topic: str
) -> None:
    # kafka-python reads such a header but refuses to write it.
    writer = Confluent(broker.bootstrap)
    writer.create(topic)
    writer.write(topic, [Sent(b"x", headers=(("null", None), ("empty", b"")))])
    for reader in every_client:
        assert reader.read(topic, 1)[0].headers == (("null", None), ("empty", b""))


def test_partitions_count_their_offsets_apart(client: Client, topic: str) -> None:
    client.create(topic, partitions=3)
    records = [Sent(b"%d" % n, partition=n % 3) for n in range(9)]
    assert sorted(client.write(topic, records)) == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_log_append_time_replaces_what_the_producer_said(client: Client, topic: str) -> None:
    client.create(topic, configs={"message.timestamp.type": "LogAppendTime"})
    client.write(topic, [Sent(b"a", timestamp=1000), Sent(b"b", timestamp=2000)], codec="gzip")
    seen = client.read(topic, 2)
    assert [one.timestamp_type for one in seen] == [1, 1]
    assert all(one.timestamp > A_TIMESTAMP for one in seen)


def test_a_topic_may_recompress_what_it_is_given(client: Client, topic: str) -> None:
    client.create(topic, configs={"compression.type": "zstd"})
    records = [Sent(b"again and again " * 20, timestamp=A_TIMESTAMP + n) for n in range(20)]
    client.write(topic, records, codec="gzip")
    assert client.read(topic, 20) == _as_seen(records)
