"""Topics come, grow and go: what is asked for, checked as Kafka checks it, becomes a draft.

Texts of refusals are Kafka's, since people search for them, and so is the order of the checks.
"""

import logging
import re
from collections.abc import Mapping, Sequence

from kwire.config.topic import resolve_topic
from kwire.controller.commands import USE_DEFAULT, MorePartitions, NewTopic
from kwire.controller.draft import Draft
from kwire.controller.image import TopicImage
from kwire.controller.placement import check_assignment, new_partition, place
from kwire.errors import (
    InvalidConfig,
    InvalidPartitions,
    InvalidReplicaAssignment,
    InvalidReplicationFactor,
    InvalidRequest,
    InvalidTopic,
    PolicyViolation,
    TopicAlreadyExists,
    UnknownTopicOrPartition,
)
from kwire.types import new_uuid

MAX_NAME_LENGTH = 249
MAX_PARTITIONS_PER_REQUEST = 10_000
METADATA_LOG_OF_KAFKA = "__cluster_metadata"
"""Tools take a directory of that name for what a cluster of Kafka knows about itself."""

_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")
_log = logging.getLogger(__name__)


def check_name(name: str) -> None:
    """Refuse what cannot be a topic's name."""
    why = None
    if not name:
        why = "the empty string is not allowed"
    elif name in (".", ".."):
        why = f"'{name}' is not allowed"
    elif len(name) > MAX_NAME_LENGTH:
        why = f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    elif _LEGAL_NAME.fullmatch(name) is None:
        why = (
            f"'{name}' contains one or more characters other than ASCII alphanumerics,"
            " '.', '_' and '-'"
        )
    if why is not None:
        raise InvalidTopic(f"Topic name is invalid: {why}")


def check_partition_total(draft: Draft, topics: Sequence[NewTopic]) -> None:
    """Refuse a request as a whole that asks for more than a broker can make in one go."""
    default = draft.layers.broker.num_partitions
    total = 0
    for topic in topics:
        if topic.assignment:
            total += len(topic.assignment)
        else:
            count = topic.partition_count
            total += default if count == USE_DEFAULT else max(0, count)
    if total > MAX_PARTITIONS_PER_REQUEST:
        raise PolicyViolation("Excessively large number of partitions per request.")


def create_topic(draft: Draft, new: NewTopic) -> TopicImage:
    if draft.topic(new.name) is not None:
        raise TopicAlreadyExists(f"Topic '{new.name}' already exists.")
    check_name(new.name)
    if new.name == METADATA_LOG_OF_KAFKA:
        raise InvalidRequest(f"Creation of internal topic {new.name} is prohibited.")
    _check_collision(draft, new.name)
    config = _check_config(draft, new.config)
    replicas = _assigned(draft, new) if new.assignment else _placed(draft, new)
    if new.topic_id is not None and draft.image.topic_by_id(new.topic_id) is not None:
        raise InvalidRequest(f"The id of topic '{new.name}' belongs to another topic.")
    partitions = {
        index: new_partition(chosen, new.leader_epoch) for index, chosen in replicas.items()
    }
    topic = TopicImage(new.name, new.topic_id or new_uuid(), partitions, config)
    draft.create_topic(topic)
    return topic


def delete_topic(draft: Draft, name: str) -> None:
    draft.delete_topic(_existing(draft, name))


def add_partitions(draft: Draft, wanted: MorePartitions) -> None:
    topic = _existing(draft, wanted.topic)
    count = len(topic.partitions)
    if wanted.total_count == count:
        raise InvalidPartitions(f"Topic already has {count} partition(s).")
    if wanted.total_count < count:
        raise InvalidPartitions(
            f"The topic {topic.name} currently has {count} partition(s); {wanted.total_count}"
            " would not be an increase."
        )
    replicas = _more_replicas(draft, topic, wanted)
    draft.add_partitions(
        topic, {count + index: new_partition(chosen) for index, chosen in enumerate(replicas)}
    )


def _existing(draft: Draft, name: str) -> TopicImage:
    topic = draft.topic(name)
    if topic is None:
        raise UnknownTopicOrPartition("This server does not host this topic-partition.")
    return topic


def _check_collision(draft: Draft, name: str) -> None:
    """Names that differ only in '.' and '_' would share their metrics."""
    other = draft.colliding_topic(name)
    if other is not None:
        raise InvalidTopic(f"Topic '{name}' collides with existing topic: {other}")


def _check_config(draft: Draft, given: Mapping[str, str | None]) -> dict[str, str]:
    missing = [name for name, value in given.items() if value is None]
    if missing:
        raise InvalidConfig(f"Null value not supported for topic configs: {','.join(missing)}")
    config = {name: value for name, value in given.items() if value is not None}
    resolve_topic(config, draft.layers.broker)
    return config


def _placed(draft: Draft, new: NewTopic) -> dict[int, tuple[int, ...]]:
    factor, count = new.replication_factor, new.partition_count
    if factor < USE_DEFAULT or factor == 0:
        raise InvalidReplicationFactor(
            "Replication factor must be larger than 0, or -1 to use the default value."
        )
    if count < USE_DEFAULT or count == 0:
        raise InvalidPartitions("Number of partitions was set to an invalid non-positive value.")
    config = draft.layers.broker
    replicas = place(
        draft.image.brokers,
        first=0,
        count=config.num_partitions if count == USE_DEFAULT else count,
        replication_factor=config.default_replication_factor if factor == USE_DEFAULT else factor,
    )
    return dict(enumerate(replicas))


def _assigned(draft: Draft, new: NewTopic) -> dict[int, tuple[int, ...]]:
    if new.replication_factor != USE_DEFAULT:
        raise InvalidRequest(
            "A manual partition assignment was specified, but replication factor was not set to -1."
        )
    if new.partition_count != USE_DEFAULT:
        raise InvalidRequest(
            "A manual partition assignment was specified, but numPartitions was not set to -1."
        )
    factor = None
    for replicas in new.assignment.values():
        check_assignment(replicas, draft.image.brokers, factor)
        factor = len(replicas)
    chosen = {index: tuple(new.assignment[index]) for index in sorted(new.assignment)}
    if new.topic_id is not None:
        return _without_gaps(new.name, chosen)
    if list(chosen) != list(range(len(chosen))):
        raise InvalidReplicaAssignment(
            "partitions should be a consecutive 0-based integer sequence"
        )
    return chosen


def _without_gaps(name: str, found: Mapping[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """What is found on disk may be a part of a topic: the rest begins empty, beside the last."""
    last = max(found)
    missing = [index for index in range(last) if index not in found]
    if missing:
        _log.warning("partitions not found on disk begin empty topic=%s: %s", name, missing)
    return {index: found.get(index, found[last]) for index in range(last + 1)}


def _more_replicas(
    draft: Draft, topic: TopicImage, wanted: MorePartitions
) -> Sequence[Sequence[int]]:
    count = len(topic.partitions)
    additional = wanted.total_count - count
    if wanted.assignment is not None and len(wanted.assignment) != additional:
        raise InvalidReplicaAssignment(
            f"Attempted to add {additional} additional partition(s), but only"
            f" {len(wanted.assignment)} assignment(s) were specified."
        )
    if draft.new_partition_count + additional > MAX_PARTITIONS_PER_REQUEST:
        raise PolicyViolation("Unable to perform excessively large batch operation.")
    factor = len(topic.partitions[0].replicas)
    if wanted.assignment is None:
        return place(draft.image.brokers, first=count, count=additional, replication_factor=factor)
    for replicas in wanted.assignment:
        check_assignment(replicas, draft.image.brokers, factor)
    return wanted.assignment
