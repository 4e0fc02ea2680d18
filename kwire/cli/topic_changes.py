"""`kwire topic create`, `alter` and `delete`.

Several topics are changed by one request; each succeeds or fails alone. Failures go to standard
error, one line each, and make the exit code 1.
"""

import argparse
import sys
from typing import NamedTuple

from kwire.cli.cluster import connect
from kwire.cli.failures import WrongUsage
from kwire.cli.output import JSON, json_text
from kwire.codec.apis import (
    CREATE_PARTITIONS,
    CREATE_TOPICS,
    DELETE_TOPICS,
    INCREMENTAL_ALTER_CONFIGS,
)
from kwire.codec.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from kwire.codec.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.codec.messages.delete_topics import (
    DeletableTopic,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.codec.messages.incremental_alter_configs import (
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
)
from kwire.errors import ErrorCode
from kwire.peers.client import Client
from kwire.peers.failures import Refused

TOPIC_RESOURCE = 2
"""The number of topics among Kafka's resource types."""

_SET = 0
_DELETE = 1


class Outcome(NamedTuple):
    """What became of one topic; `error` says why nothing did."""

    topic: str
    result: str
    error: str | None = None


def create(arguments: argparse.Namespace) -> int:
    configs = [CreatableTopicConfig(name=name, value=value) for name, value in arguments.config]
    wanted = [
        CreatableTopic(
            name=name,
            num_partitions=arguments.partitions,
            replication_factor=arguments.replication_factor,
            configs=configs,
        )
        for name in _distinct(arguments.topics)
    ]
    with connect(arguments) as client:
        request = CreateTopicsRequest(topics=wanted, timeout_ms=client.timeout_ms)
        answer: CreateTopicsResponse = client.ask_controller(CREATE_TOPICS, request)
    tolerated = ErrorCode.TOPIC_ALREADY_EXISTS if arguments.if_not_exists else None
    outcomes = []
    for told in answer.topics:
        if told.error_code == tolerated:
            outcomes.append(Outcome(told.name, "exists"))
        else:
            outcomes.append(_outcome(told.name, "created", told.error_code, told.error_message))
    return _report(arguments, outcomes)


def delete(arguments: argparse.Namespace) -> int:
    names = _distinct(arguments.topics)
    with connect(arguments) as client:
        # Newer brokers take topics by name or id, older ones a plain list of names.
        request = DeleteTopicsRequest(
            topics=[DeletableTopic(name=name) for name in names],
            topic_names=names,
            timeout_ms=client.timeout_ms,
        )
        answer: DeleteTopicsResponse = client.ask_controller(DELETE_TOPICS, request)
    outcomes = []
    for told in answer.responses:
        name, code, message = told.name or "", told.error_code, told.error_message
        if code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
            if arguments.if_exists:
                outcomes.append(Outcome(name, "missing"))
                continue
            message = "there is no such topic"
        outcomes.append(_outcome(name, "deleted", code, message))
    return _report(arguments, outcomes)


def alter(arguments: argparse.Namespace) -> int:
    names = _distinct(arguments.topics)
    outcomes: list[Outcome] = []
    if not (arguments.config or arguments.delete_config or arguments.partitions):
        raise WrongUsage("nothing to alter: give --config, --delete-config or --partitions")
    with connect(arguments) as client:
        if arguments.config or arguments.delete_config:
            outcomes += _alter_configs(client, names, arguments)
        if arguments.partitions:
            failed = {each.topic for each in outcomes if each.error}
            rest = [name for name in names if name not in failed]
            grown = _add_partitions(client, rest, arguments.partitions) if rest else []
            outcomes = [each for each in outcomes if each.error] + grown
    return _report(arguments, outcomes)


def _alter_configs(
    client: Client, names: list[str], arguments: argparse.Namespace
) -> list[Outcome]:
    changes = [
        IncrementalAlterableConfig(name=name, config_operation=_SET, value=value)
        for name, value in arguments.config
    ]
    changes += [
        IncrementalAlterableConfig(name=name, config_operation=_DELETE, value=None)
        for name in arguments.delete_config
    ]
    resources = [
        IncrementalAlterConfigsResource(
            resource_type=TOPIC_RESOURCE, resource_name=name, configs=changes
        )
        for name in names
    ]
    request = IncrementalAlterConfigsRequest(resources=resources)
    answer: IncrementalAlterConfigsResponse = client.ask_controller(
        INCREMENTAL_ALTER_CONFIGS, request
    )
    return [
        _outcome(told.resource_name, "altered", told.error_code, told.error_message)
        for told in answer.responses
    ]


def _add_partitions(client: Client, names: list[str], total: int) -> list[Outcome]:
    wanted = [CreatePartitionsTopic(name=name, count=total, assignments=None) for name in names]
    request = CreatePartitionsRequest(topics=wanted, timeout_ms=client.timeout_ms)
    answer: CreatePartitionsResponse = client.ask_controller(CREATE_PARTITIONS, request)
    return [
        _outcome(told.name, "altered", told.error_code, told.error_message)
        for told in answer.results
    ]


def _distinct(names: list[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _outcome(topic: str, result: str, code: int, message: str | None) -> Outcome:
    if code == ErrorCode.NONE:
        return Outcome(topic, result)
    return Outcome(topic, "failed", str(Refused(code, message, what=f"topic {topic}")))


def _report(arguments: argparse.Namespace, outcomes: list[Outcome]) -> int:
    failed = [each.error for each in outcomes if each.error]
    if arguments.format == JSON:
        print(json_text([each._asdict() for each in outcomes]))
    else:
        for each in outcomes:
            if not each.error:
                print(f"{each.result} {each.topic}")
    for error in failed:
        print(f"kwire topic: {error}", file=sys.stderr)
    return 1 if failed else 0
