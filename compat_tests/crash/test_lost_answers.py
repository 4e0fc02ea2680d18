"""Answers that get lost on the way: whoever is idempotent is not written twice."""

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka import Producer

from compat_tests.crash.lossy_proxy import LossyProxy
from compat_tests.oracle.brokers import free_address, kafka_command, kwire_command
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent

RECORDS = 2000
LOSS = 0.1
READY = {"kwire": "kwire is ready", "kafka": "Kafka Server started"}
COMMANDS: dict[str, Callable[..., list[str]]] = {"kwire": kwire_command, "kafka": kafka_command}


@pytest.mark.parametrize("name", ["kwire", pytest.param("kafka", marks=pytest.mark.jvm)])
def test_records_whose_answers_were_lost_are_there_once(name: str, tmp_path: Path) -> None:
    address = free_address()
    with LossyProxy(address, loss=LOSS, seed=5) as proxy:
        # Clients are told to come through the proxy, whomever they ask first.
        settings = {"advertised.listeners": f"PLAINTEXT://{proxy.address}"}
        command = COMMANDS[name](tmp_path / "data", address, settings)
        with BrokerProcess(command, proxy.address, tmp_path / "data") as broker:
            broker.wait_for(READY[name], timeout_s=60)
            client = Confluent(proxy.address)
            client.create("topic")
            acknowledged = _produce(proxy.address)
            assert proxy.lost > 5
            seen = client.read("topic", RECORDS)
            assert [one.value for one in seen] == [b"%d" % n for n in range(RECORDS)]
            assert client.first_and_end("topic") == (0, RECORDS)
            assert acknowledged == {b"%d" % n: n for n in range(RECORDS)}


def _produce(address: str) -> dict[bytes, int]:
    """Write through the proxy, a few records at a time; returns the offset of each value."""
    told: dict[bytes, int] = {}
    failed: list[str] = []

    def delivered(error: object, message: object) -> None:
        if error is not None:
            failed.append(str(error))
        else:
            told[message.value()] = message.offset()  # type: ignore[attr-defined]  # untyped

    producer = Producer(
        {
            "bootstrap.servers": address,
            "enable.idempotence": True,
            "batch.num.messages": 10,
            "linger.ms": 1,
            "reconnect.backoff.ms": 1,
            "reconnect.backoff.max.ms": 10,
            "retry.backoff.ms": 5,
            "retry.backoff.max.ms": 20,
            "log_level": 0,
            "on_delivery": delivered,
        }
    )
    for number in range(RECORDS):
        producer.produce("topic", b"%d" % number, partition=0)
        producer.poll(0)
    assert producer.flush(60) == 0
    assert failed == []
    return told
