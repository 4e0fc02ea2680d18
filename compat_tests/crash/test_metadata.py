"""What an admin or a group was told is done stays done when the broker dies right afterwards."""

import random
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.members import ConfluentMember
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

ROUNDS = 6
CHANGES_PER_ROUND = 8


class Cluster:
    """What must be true: each topic with its partitions and its retention."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._made = 0
        self.topics: dict[str, tuple[int, str]] = {}

    def change(self, client: Confluent) -> None:
        """Do one thing that an admin might do, and remember it once it is acknowledged."""
        chosen = self._random.choice(["create", "create", "delete", "widen", "configure"])
        name = self._random.choice(sorted(self.topics)) if self.topics else ""
        if chosen == "create" or not self.topics:
            self._made += 1
            partitions = self._random.randint(1, 5)
            name = f"topic-{self._made}"
            client.create(name, partitions, {"retention.ms": "1000000"})
            self.topics[name] = (partitions, "1000000")
            return
        partitions, retention = self.topics[name]
        if chosen == "delete":
            client.delete(name)
            del self.topics[name]
        elif chosen == "widen":
            client.add_partitions(name, partitions + 2)
            self.topics[name] = (partitions + 2, retention)
        else:
            retention = str(self._random.randint(1, 10**9))
            client.replace_configs(name, {"retention.ms": retention})
            self.topics[name] = (partitions, retention)

    def expect(self, client: Confluent) -> None:
        seen = {
            name: (len(client.partitions(name)), client.configs(name)["retention.ms"])
            for name in client.topics()
            if not name.startswith("__")
        }
        assert seen == self.topics


def test_topics_and_settings_survive_a_kill(tmp_path: Path) -> None:
    cluster = Cluster(seed=11)
    for _ in range(ROUNDS):
        with start_kwire(tmp_path / "data") as broker:
            client = Confluent(broker.bootstrap)
            cluster.expect(client)
            for _ in range(CHANGES_PER_ROUND):
                cluster.change(client)
            broker.kill()
    with start_kwire(tmp_path / "data") as broker:
        client = Confluent(broker.bootstrap)
        cluster.expect(client)
        for name in cluster.topics:
            assert client.write(name, [Sent(b"usable")]) == [0]


def test_committed_offsets_survive_a_kill(tmp_path: Path) -> None:
    address = ""
    for number in range(1, 5):
        with start_kwire(tmp_path / "data", address=address or None) as broker:
            address = broker.bootstrap
            if number == 1:
                Confluent(address).create("topic", partitions=3)
            else:
                assert _committed(broker) == [number - 1, 10 * (number - 1), 100 * (number - 1)]
            offsets = [number, 10 * number, 100 * number]
            _commit(broker, offsets)
            broker.kill()


def test_a_group_goes_on_with_the_next_broker(tmp_path: Path) -> None:
    with start_kwire(tmp_path / "data") as broker:
        client = Confluent(broker.bootstrap)
        client.create("topic")
        client.write("topic", [Sent(b"before")])
        member = ConfluentMember(broker.bootstrap, "group", "topic")
        try:
            assert eventually(member.step, bool, timeout_s=20) == [b"before"]
            member.commit(0, 1)
            broker.kill()
            with start_kwire(tmp_path / "data", address=broker.bootstrap) as again:
                Confluent(again.bootstrap).write("topic", [Sent(b"after")])
                assert eventually(member.step, bool, timeout_s=30) == [b"after"]
                assert member.committed(0) == 1
                member.leave()
        finally:
            member.leave()


def _consumer(broker: BrokerProcess) -> Consumer:
    return Consumer({"bootstrap.servers": broker.bootstrap, "group.id": "group", "log_level": 0})


def _commit(broker: BrokerProcess, offsets: list[int]) -> None:
    consumer = _consumer(broker)
    wanted = [TopicPartition("topic", index, offset) for index, offset in enumerate(offsets)]
    consumer.commit(offsets=wanted, asynchronous=False)
    consumer.close()


def _committed(broker: BrokerProcess) -> list[int]:
    consumer = _consumer(broker)
    found = consumer.committed([TopicPartition("topic", index) for index in range(3)], timeout=10)
    consumer.close()
    return [one.offset for one in found]
