"""Groups that are not the plain kind: cooperative, with static members, seen by admins."""

import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

PARTITIONS = 4
PATIENCE_S = 30
GROUP_ID_NOT_FOUND = 69

Join = Callable[..., Consumer]


@pytest.fixture
def filled(broker: BrokerProcess, topic: str) -> str:
    client = Confluent(broker.bootstrap)
    client.create(topic, partitions=PARTITIONS)
    client.write(topic, [Sent(b"%d" % p, partition=p) for p in range(PARTITIONS)])
    return topic


@pytest.fixture
def join(broker: BrokerProcess, filled: str) -> Iterator[Join]:
    """Join the test's group with any settings; whoever is left at the end leaves."""
    members: list[Consumer] = []

    def join(**settings: object) -> Consumer:
        member = Consumer(
            {
                "bootstrap.servers": broker.bootstrap,
                "group.id": f"group-of-{filled}",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "session.timeout.ms": 6000,
                "heartbeat.interval.ms": 200,
                "log_level": 0,
                **{name.replace("_", "."): value for name, value in settings.items()},
            }
        )
        members.append(member)
        return member

    yield join
    for member in members:
        member.close()


def _share(member: Consumer) -> set[int]:
    member.poll(0.05)
    return {where.partition for where in member.assignment()}


def _until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < deadline, f"not so after {PATIENCE_S} s"


def test_a_cooperative_group_takes_away_only_what_moves(join: Join, filled: str) -> None:
    lost: list[int] = []
    cooperative = {"partition_assignment_strategy": "cooperative-sticky"}
    first = join(**cooperative)
    first.subscribe([filled], on_revoke=lambda _, taken: lost.extend(t.partition for t in taken))
    _until(lambda: _share(first) == set(range(PARTITIONS)))
    second = join(**cooperative)
    second.subscribe([filled])
    _until(lambda: len(_share(first)) == len(_share(second)) == PARTITIONS // 2)
    assert len(lost) == PARTITIONS // 2
    assert _share(first) | _share(second) == set(range(PARTITIONS))


def test_a_static_member_comes_back_without_a_rebalance(join: Join, filled: str) -> None:
    rebalances: list[object] = []
    first, second = (join(group_instance_id=name) for name in ("one", "two"))
    first.subscribe([filled], on_assign=lambda _, given: rebalances.append(given))
    second.subscribe([filled])
    _until(lambda: len(_share(first)) == len(_share(second)) == PARTITIONS // 2)
    before, share = len(rebalances), _share(second)
    second.close()
    again = join(group_instance_id="two")
    again.subscribe([filled])
    _until(lambda: _share(again) == share and len(_share(first)) == PARTITIONS // 2)
    assert len(rebalances) == before


def test_two_of_the_same_name_are_one_too_many(join: Join, filled: str) -> None:
    first, second = join(group_instance_id="one"), join(group_instance_id="one")
    first.subscribe([filled])
    _until(lambda: len(_share(first)) == PARTITIONS)
    second.subscribe([filled])
    _until(lambda: len(_share(second)) == PARTITIONS)
    fenced: list[str] = []

    def is_fenced() -> bool:
        message = first.poll(0.1)
        if message is not None and message.error() is not None:
            fenced.append(message.error().name())
        return "_FATAL" in fenced

    _until(is_fenced)


def test_an_admin_lists_describes_alters_and_deletes_groups(
    broker: BrokerProcess, join: Join, filled: str
) -> None:
    group = f"group-of-{filled}"
    admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 0})
    member = join(client_id="a-member")
    member.subscribe([filled])
    _until(lambda: len(_share(member)) == PARTITIONS)
    member.commit(offsets=[TopicPartition(filled, 1, 1)], asynchronous=False)
    listed = admin.list_consumer_groups(request_timeout=10).result()
    assert group in {one.group_id: one.state.name for one in listed.valid}
    described = admin.describe_consumer_groups([group])[group].result(10)
    assert described.state.name == "STABLE"
    (only,) = described.members
    assert only.client_id == "a-member"
    assert {where.partition for where in only.assignment.topic_partitions} == set(range(PARTITIONS))
    member.close()
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(filled, 2, 7)])
    eventually(
        lambda: admin.describe_consumer_groups([group])[group].result(10).state.name,
        lambda state: state == "EMPTY",
    )
    admin.alter_consumer_group_offsets([wanted])[group].result(10)
    asked = [ConsumerGroupTopicPartitions(group)]
    found = admin.list_consumer_group_offsets(asked)[group].result(10)
    assert {one.partition: one.offset for one in found.topic_partitions} == {1: 1, 2: 7}
    admin.delete_consumer_groups([group])[group].result(10)
    with pytest.raises(Exception, match="GROUP_ID_NOT_FOUND") as gone:
        admin.delete_consumer_groups([group])[group].result(10)
    assert gone.value.args[0].code() == GROUP_ID_NOT_FOUND
