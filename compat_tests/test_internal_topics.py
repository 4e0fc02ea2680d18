"""The internal topics hold what Kafka's hold: its own decoders tell the same story of both."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from compat_tests.oracle import tools
from compat_tests.oracle.brokers import start_kafka, start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.members import ConfluentMember
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

pytestmark = pytest.mark.jvm

BROKERS: dict[str, Callable[[Path], BrokerProcess]] = {"kwire": start_kwire, "kafka": start_kafka}
PATIENCE_S = 30.0

# A group forms, commits and ends; then three transactions commit for it, the second in vain.
GROUP_STORY = [
    "generation 0 with 0 members",
    "generation 1 with 1 members",
    "offset 2",
    "generation 2 with 0 members",
    *("offset 3", "COMMIT"),
    *("offset 3", "ABORT"),
    *("offset 3", "COMMIT"),
]
# Empty; then for each: ongoing, ongoing with the group, prepared and complete.
TRANSACTION_STORY = [0, *(1, 1, 2, 4), *(1, 1, 3, 5), *(1, 1, 2, 4)]


@pytest.mark.parametrize("name", BROKERS)
def test_groups_and_transactions_are_stored_as_kafka_stores_them(name: str, tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with BROKERS[name](data_dir) as broker:
        _commit_as_a_group(broker)
        _commit_in_transactions(broker)
    offsets = _decoded(data_dir, "__consumer_offsets", "--offsets-decoder")
    assert [_event_of_group(line) for line in offsets] == GROUP_STORY
    states = _decoded(data_dir, "__transaction_state", "--transaction-log-decoder")
    assert [_payload(line)["transactionStatus"] for line in states] == TRANSACTION_STORY


def _commit_as_a_group(broker: BrokerProcess) -> None:
    client = Confluent(broker.bootstrap)
    client.create("topic")
    client.write("topic", [Sent(b"read")] * 3)
    member = ConfluentMember(broker.bootstrap, "readers", "topic")
    eventually(member.step, bool, timeout_s=PATIENCE_S)
    member.commit(0, 2)
    member.leave()


def _commit_in_transactions(broker: BrokerProcess) -> None:
    settings = {"bootstrap.servers": broker.bootstrap, "log_level": 0}
    producer = Producer({**settings, "transactional.id": "mover"})
    producer.init_transactions(PATIENCE_S)
    consumer = Consumer({**settings, "group.id": "readers"})
    metadata = consumer.consumer_group_metadata()
    for end in (
        producer.commit_transaction,
        producer.abort_transaction,
        producer.commit_transaction,
    ):
        producer.begin_transaction()
        producer.produce("topic", b"moved", partition=0)
        # The partition joins the transaction before the group does.
        assert producer.flush(PATIENCE_S) == 0
        positions = [TopicPartition("topic", 0, 3)]
        producer.send_offsets_to_transaction(positions, metadata, PATIENCE_S)
        end(PATIENCE_S)
    consumer.close()


def _decoded(data_dir: Path, topic: str, decoder: str) -> list[str]:
    """What Kafka's tool tells of each record of an internal topic."""
    logs = [str(log) for log in data_dir.glob(f"{topic}-*/*.log") if log.stat().st_size]
    ran = tools.run(tools.DUMP_LOG, decoder, "--files", ",".join(logs))
    assert (ran.code, ran.err) == (0, "")
    return [line for line in ran.lines if line.startswith("|")]


def _event_of_group(line: str) -> str:
    marker = re.search(r"endTxnMarker: (\w+)", line)
    if marker is not None:
        return marker[1]
    data = _payload(line)
    if "offset" in data:
        return f"offset {data['offset']}"
    return f"generation {data['generation']} with {len(data['members'])} members"


def _payload(line: str) -> dict[str, Any]:
    found = re.search(r" payload: (.*)$", line)
    assert found is not None, line
    data: dict[str, Any] = json.loads(found[1])["data"]
    return data
