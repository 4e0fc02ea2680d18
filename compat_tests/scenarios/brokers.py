"""The brokers of scenarios: both with the same limits, small enough to be reached in a test."""

from contextlib import closing
from pathlib import Path

from compat_tests.oracle.brokers import start_kafka, start_kwire
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.scenarios.play import Play
from kwire.codec.apis import FIND_COORDINATOR, INIT_PRODUCER_ID, OFFSET_FETCH
from kwire.errors import ErrorCode

GROUP, TRANSACTION = 0, 1

SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.min.session.timeout.ms": "300",
    "group.max.session.timeout.ms": "60000",
    "group.max.size": "3",
    "group.consumer.max.size": "3",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "2000",
    "offset.metadata.max.bytes": "64",
    # With one partition of each, nobody meets a coordinator that is still loading.
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.max.timeout.ms": "60000",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "100",
}

AT_ONCE = {
    "group.consumer.min.assignment.interval.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.assignor.offload.enable": "false",
}
"""Kafka may be told to compute assignments right away, as kwire always does."""


def start_kwire_for_scenarios(data_dir: Path, *, address: str | None = None) -> BrokerProcess:
    return _ready(start_kwire(data_dir, SETTINGS, address=address))


def start_kafka_for_scenarios(data_dir: Path) -> BrokerProcess:
    return _ready(start_kafka(data_dir, {**SETTINGS, **AT_ONCE}))


def _ready(broker: BrokerProcess) -> BrokerProcess:
    """Have both coordinators loaded, so that no scenario is told to come back later."""
    with closing(Play(broker.bootstrap)) as play:
        for key_type in (GROUP, TRANSACTION):
            play.arrange(
                FIND_COORDINATOR,
                3,
                key="first",
                key_type=key_type,
                until=lambda found: bool(found.error_code == ErrorCode.NONE),
            )
        play.arrange(
            OFFSET_FETCH,
            7,
            group_id="first",
            until=lambda told: bool(told.error_code == ErrorCode.NONE),
        )
        play.arrange(
            INIT_PRODUCER_ID,
            4,
            transactional_id="first",
            transaction_timeout_ms=1000,
            until=lambda told: bool(told.error_code == ErrorCode.NONE),
        )
    return broker
