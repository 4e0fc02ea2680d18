"""`kwire topic list` and `kwire topic describe`."""

import argparse
import sys
from typing import Any, NamedTuple

from kwire.cli.cluster import connect
from kwire.cli.output import JSON, Cell, json_text, table
from kwire.cli.topic_changes import TOPIC_RESOURCE
from kwire.codec.apis import DESCRIBE_CONFIGS
from kwire.codec.messages.describe_configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResponse,
)
from kwire.codec.messages.metadata import MetadataPartition, MetadataTopic
from kwire.errors import ErrorCode
from kwire.peers.client import Client, TopicView
from kwire.peers.failures import PeerError, Refused, check
from kwire.peers.reader import EARLIEST, LATEST, offsets_at
from kwire.types import ZERO_UUID, uuid_text

_DEFAULT_SOURCE = 5
_NO_LEADER = -1


def list_topics(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        topics = _all_topics(client, internal=arguments.internal)
    if arguments.format == JSON:
        print(json_text([_summary(each) for each in topics]))
    else:
        rows = [(each.name, len(each.partitions), _replication_factor(each)) for each in topics]
        print(table(("TOPIC", "PARTITIONS", "REPLICAS"), rows))
    return 0


def describe(arguments: argparse.Namespace) -> int:
    with connect(arguments) as client:
        if arguments.topics:
            names = list(dict.fromkeys(arguments.topics))
            told = client.metadata(names).topics
        else:
            told = _all_topics(client, internal=False)
        missing = [each for each in told if _is_missing(each)]
        found = [each for each in told if not _is_missing(each)]
        configs = _configs(client, [str(each.name) for each in found]) if found else {}
        described = [
            Description(each, configs[str(each.name)], _offsets(client, each)) for each in found
        ]
    if arguments.format == JSON:
        print(json_text([each.document() for each in described]))
    elif described:
        print("\n\n".join(each.text() for each in described))
    for each in missing:
        hint = "there is no such topic" if _is_unknown(each) else None
        print(
            f"kwire topic: {Refused(each.error_code, hint, what=f'topic {each.name}')}",
            file=sys.stderr,
        )
    return 1 if missing else 0


class Description(NamedTuple):
    """One topic with all that is shown of it."""

    topic: MetadataTopic
    configs: dict[str, str | None]
    offsets: dict[int, tuple[int, int]]

    def document(self) -> dict[str, Any]:
        return _summary(self.topic) | {
            "configs": self.configs,
            "partitions": [self._partition(each) for each in _partitions(self.topic)],
        }

    def _partition(self, told: MetadataPartition) -> dict[str, Any]:
        earliest, latest = self.offsets.get(told.partition_index, (None, None))
        return {
            "partition": told.partition_index,
            "leader": _leader(told),
            "leader_epoch": told.leader_epoch,
            "replicas": told.replica_nodes,
            "isr": told.isr_nodes,
            "offline_replicas": told.offline_replicas,
            "earliest_offset": earliest,
            "latest_offset": latest,
        }

    def text(self) -> str:
        settings = [f"{name}={value}" for name, value in self.configs.items()]
        lines = [
            f"Topic:              {self.topic.name}",
            f"Id:                 {_id(self.topic) or '-'}",
            f"Partitions:         {len(self.topic.partitions)}",
            f"Replication factor: {_replication_factor(self.topic)}",
            "Configs:            " + "\n                    ".join(settings or ["-"]),
            "",
            self._table(),
        ]
        return "\n".join(lines)

    def _table(self) -> str:
        titles = ("PARTITION", "LEADER", "EPOCH", "REPLICAS", "ISR", "EARLIEST", "LATEST")
        rows: list[tuple[Cell, ...]] = [
            (
                told.partition_index,
                _leader(told),
                told.leader_epoch,
                _nodes(told.replica_nodes),
                _nodes(told.isr_nodes),
                *self.offsets.get(told.partition_index, (None, None)),
            )
            for told in _partitions(self.topic)
        ]
        return table(titles, rows)


def _all_topics(client: Client, *, internal: bool) -> list[MetadataTopic]:
    topics = [each for each in client.metadata(None).topics if internal or not each.is_internal]
    return sorted(topics, key=lambda each: each.name or "")


def _summary(topic: MetadataTopic) -> dict[str, Any]:
    return {
        "topic": topic.name,
        "id": _id(topic),
        "internal": topic.is_internal,
        "partition_count": len(topic.partitions),
        "replication_factor": _replication_factor(topic),
    }


def _configs(client: Client, names: list[str]) -> dict[str, dict[str, str | None]]:
    """The settings of each topic that are not simply Kafka's default."""
    resources = [
        DescribeConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=name, configuration_keys=None
        )
        for name in names
    ]
    answer: DescribeConfigsResponse = client.ask(
        DESCRIBE_CONFIGS, DescribeConfigsRequest(resources=resources)
    )
    found = {}
    for told in answer.results:
        check(told.error_code, told.error_message, what=f"configs of topic {told.resource_name}")
        found[told.resource_name] = {
            entry.name: entry.value
            for entry in sorted(told.configs, key=lambda entry: entry.name)
            if entry.config_source != _DEFAULT_SOURCE
        }
    return found


def _offsets(client: Client, topic: MetadataTopic) -> dict[int, tuple[int, int]]:
    """Where each partition begins and ends; a leader that does not tell leaves a gap."""
    leaders = {
        each.partition_index: each.leader_id
        for each in topic.partitions
        if each.leader_id != _NO_LEADER
    }
    view = TopicView(str(topic.name), topic.topic_id, leaders)
    try:
        earliest = offsets_at(client, view, dict.fromkeys(leaders, EARLIEST), committed=False)
        latest = offsets_at(client, view, dict.fromkeys(leaders, LATEST), committed=False)
    except PeerError as error:
        print(f"kwire topic: no offsets of {topic.name}: {error}", file=sys.stderr)
        return {}
    return {partition: (earliest[partition], latest[partition]) for partition in leaders}


def _is_missing(topic: MetadataTopic) -> bool:
    return topic.error_code != ErrorCode.NONE and not topic.partitions


def _is_unknown(topic: MetadataTopic) -> bool:
    return topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def _partitions(topic: MetadataTopic) -> list[MetadataPartition]:
    return sorted(topic.partitions, key=lambda each: each.partition_index)


def _replication_factor(topic: MetadataTopic) -> int:
    return max((len(each.replica_nodes) for each in topic.partitions), default=0)


def _leader(told: MetadataPartition) -> int | None:
    return None if told.leader_id == _NO_LEADER else told.leader_id


def _id(topic: MetadataTopic) -> str | None:
    return None if topic.topic_id == ZERO_UUID else uuid_text(topic.topic_id)


def _nodes(nodes: list[int]) -> str:
    return ",".join(map(str, nodes)) or "-"
