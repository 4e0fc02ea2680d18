"""Every broker key that this broker enforces, once.

Keys that only give topics their default (`log.segment.bytes`, `min.insync.replicas`, ...) are not
repeated here: they are declared with their topic key, and `BrokerConfig.topic_defaults` holds them.
What Kafka has and kwire has not is listed in `unsupported.py`.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kwire.config.endpoints import (
    PROTOCOLS,
    Endpoint,
    check_listeners,
    connection_limits,
    endpoints,
    protocol_map,
)
from kwire.config.keys import (
    DAY_MS,
    INT_MAX,
    LONG_MAX,
    MIB,
    MINUTE_MS,
    SECOND_MS,
    ConfigType,
    Key,
    Parser,
    boolean,
    double_in,
    int_in,
    key,
    keys_of,
    long_in,
    one_of,
    optional_text,
    settings,
    split_list,
)
from kwire.config.topic import TOPIC_KEYS, TopicConfig, check_together
from kwire.errors import InvalidConfig


def _names() -> Parser[tuple[str, ...]]:
    return Parser(ConfigType.LIST, lambda text: tuple(split_list(text)), ",".join)


def _assignors(*allowed: str) -> Parser[tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        names = tuple(split_list(text))
        if not names or len(set(names)) != len(names) or not set(names) <= set(allowed):
            raise ValueError(f"must name each of {', '.join(allowed)} at most once")
        return names

    return Parser(ConfigType.LIST, read, ",".join)


@settings
class BrokerConfig:
    """What this broker was told, with every default filled in."""

    topic_defaults: TopicConfig = TopicConfig()

    node_id: int = key(
        "node.id",
        int_in(0),
        default=1,
        importance="high",
        doc="The number by which clients know this node. `broker.id` is the same.",
    )
    broker_rack: str | None = key(
        "broker.rack",
        optional_text(),
        default=None,
        doc="Where this broker stands; clients see it in the metadata.",
    )
    listeners: tuple[Endpoint, ...] = key(
        "listeners",
        endpoints(),
        default=(Endpoint("PLAINTEXT", "localhost", 9092),),
        importance="high",
        doc="""Where to listen: NAME://host:port, comma separated; an empty host means everywhere,
        port 0 a free one. Unlike Kafka's, the default listens on this machine only.""",
    )
    advertised_listeners: tuple[Endpoint, ...] = key(
        "advertised.listeners",
        endpoints(),
        default=(),
        importance="high",
        doc="What clients are told to connect to, if it differs from `listeners`.",
    )
    listener_security_protocol_map: Mapping[str, str] = key(
        "listener.security.protocol.map",
        protocol_map(),
        default={protocol: protocol for protocol in PROTOCOLS},
        importance="low",
        doc="Which protocol each listener's name stands for. Only PLAINTEXT is served yet.",
    )
    controller_listener_names: tuple[str, ...] = key(
        "controller.listener.names",
        _names(),
        default=(),
        importance="high",
        doc="""Listeners that a KRaft file sets aside for controllers: they are not opened, since
        one node has no separate controller.""",
    )
    log_dirs: tuple[str, ...] = key(
        "log.dirs",
        _names(),
        default=("kwire-data",),
        importance="high",
        doc="The directory that holds the partitions. `log.dir` is the same. One is supported yet.",
    )
    num_partitions: int = key(
        "num.partitions",
        int_in(1),
        default=1,
        doc="How many partitions a topic gets when whoever creates it does not say.",
    )
    default_replication_factor: int = key(
        "default.replication.factor",
        int_in(1),
        default=1,
        doc="How many replicas a partition gets when whoever creates it does not say.",
    )
    auto_create_topics_enable: bool = key(
        "auto.create.topics.enable",
        boolean(),
        default=True,
        importance="high",
        doc="Whether a topic comes into being when a client first asks for it.",
    )
    delete_topic_enable: bool = key(
        "delete.topic.enable",
        boolean(),
        default=True,
        importance="high",
        doc="Whether topics can be deleted.",
    )
    socket_request_max_bytes: int = key(
        "socket.request.max.bytes",
        int_in(1),
        default=100 * MIB,
        importance="high",
        doc="A connection that announces a larger request is closed.",
    )
    socket_send_buffer_bytes: int = key(
        "socket.send.buffer.bytes",
        int_in(-1),
        default=100 * 1024,
        importance="high",
        doc="SO_SNDBUF of the connections; -1 leaves it to the operating system.",
    )
    socket_receive_buffer_bytes: int = key(
        "socket.receive.buffer.bytes",
        int_in(-1),
        default=100 * 1024,
        importance="high",
        doc="SO_RCVBUF of the connections; -1 leaves it to the operating system.",
    )
    queued_max_request_bytes: int = key(
        "queued.max.request.bytes",
        long_in(),
        default=256 * MIB,
        doc="""How many bytes of large requests that are still arriving may be held for all
        connections together; above it they wait. -1 means no limit, which is Kafka's default.""",
    )
    connections_max_idle_ms: int = key(
        "connections.max.idle.ms",
        long_in(),
        default=10 * MINUTE_MS,
        doc="A connection without a request for this long is closed; negative means never.",
    )
    kwire_first_request_timeout_ms: int = key(
        "kwire.first.request.timeout.ms",
        int_in(1),
        default=10_000,
        importance="low",
        doc="A connection that has sent no whole request after this time is closed.",
    )
    max_connections: int = key(
        "max.connections",
        int_in(0),
        default=INT_MAX,
        dynamic=True,
        doc="How many connections may be open at once.",
    )
    max_connections_per_ip: int = key(
        "max.connections.per.ip",
        int_in(0),
        default=INT_MAX,
        dynamic=True,
        doc="How many connections may be open at once from one address.",
    )
    max_connections_per_ip_overrides: Mapping[str, int] = key(
        "max.connections.per.ip.overrides",
        connection_limits(),
        default={},
        dynamic=True,
        doc="Other limits for some addresses: address:count, comma separated.",
    )
    fetch_max_bytes: int = key(
        "fetch.max.bytes",
        int_in(1024),
        default=55 * MIB,
        doc="The most bytes of records that one fetch is answered with.",
    )
    max_incremental_fetch_session_cache_slots: int = key(
        "max.incremental.fetch.session.cache.slots",
        int_in(0),
        default=1000,
        doc="How many fetch sessions are remembered.",
    )
    max_request_partition_size_limit: int = key(
        "max.request.partition.size.limit",
        int_in(1),
        default=2000,
        doc="The most partitions that one DescribeTopicPartitions is answered with.",
    )
    log_retention_check_interval_ms: int = key(
        "log.retention.check.interval.ms",
        long_in(1),
        default=5 * MINUTE_MS,
        doc="How often retention looks for segments to delete.",
    )
    log_initial_task_delay_ms: int = key(
        "log.initial.task.delay.ms",
        long_in(0),
        default=30 * SECOND_MS,
        importance="low",
        doc="How long after the start retention, flushing and checkpoints begin.",
    )
    log_flush_scheduler_interval_ms: int = key(
        "log.flush.scheduler.interval.ms",
        long_in(),
        default=LONG_MAX,
        importance="high",
        doc="""Used for topics while log.flush.interval.ms is not set. How often it is checked
        whether a log is due is no setting in kwire: ten times a second.""",
    )
    log_flush_offset_checkpoint_interval_ms: int = key(
        "log.flush.offset.checkpoint.interval.ms",
        int_in(0),
        default=MINUTE_MS,
        importance="high",
        doc="How often the recovery points are written down.",
    )
    log_flush_start_offset_checkpoint_interval_ms: int = key(
        "log.flush.start.offset.checkpoint.interval.ms",
        int_in(0),
        default=MINUTE_MS,
        importance="high",
        doc="How often the log start offsets are written down.",
    )
    log_cleaner_enable: bool = key(
        "log.cleaner.enable",
        boolean(),
        default=True,
        doc="Whether topics with the cleanup policy `compact` are compacted.",
    )
    log_cleaner_backoff_ms: int = key(
        "log.cleaner.backoff.ms",
        long_in(0),
        default=15 * SECOND_MS,
        dynamic=True,
        doc="How long compaction sleeps when there is nothing to compact.",
    )
    log_cleaner_dedupe_buffer_size: int = key(
        "log.cleaner.dedupe.buffer.size",
        long_in(MIB),
        default=128 * MIB,
        dynamic=True,
        doc="How much memory compaction may use for the keys it has seen.",
    )
    log_cleaner_io_max_bytes_per_second: float = key(
        "log.cleaner.io.max.bytes.per.second",
        double_in(1),
        default=sys.float_info.max,
        dynamic=True,
        doc="How fast compaction may read and write, taken together.",
    )
    producer_id_expiration_ms: int = key(
        "producer.id.expiration.ms",
        int_in(1),
        default=DAY_MS,
        importance="low",
        dynamic=True,
        doc="How long a partition remembers an idempotent producer that writes no more.",
    )
    producer_id_expiration_check_interval_ms: int = key(
        "producer.id.expiration.check.interval.ms",
        int_in(1),
        default=10 * MINUTE_MS,
        importance="low",
        doc="How often partitions look for producers to forget.",
    )
    group_min_session_timeout_ms: int = key(
        "group.min.session.timeout.ms",
        int_in(),
        default=6 * SECOND_MS,
        doc="A member may not ask for a shorter session timeout.",
    )
    group_max_session_timeout_ms: int = key(
        "group.max.session.timeout.ms",
        int_in(),
        default=30 * MINUTE_MS,
        doc="A member may not ask for a longer session timeout.",
    )
    group_initial_rebalance_delay_ms: int = key(
        "group.initial.rebalance.delay.ms",
        int_in(0),
        default=0,
        doc="""How long a new group waits for more members before its first rebalance. Kafka's
        default is 3000; on one node the first consumer need not wait.""",
    )
    group_max_size: int = key(
        "group.max.size",
        int_in(1),
        default=INT_MAX,
        doc="How many members a group may have.",
    )
    group_consumer_session_timeout_ms: int = key(
        "group.consumer.session.timeout.ms",
        int_in(1),
        default=45 * SECOND_MS,
        doc="How long a member of a group of the new protocol may be silent.",
    )
    group_consumer_min_session_timeout_ms: int = key(
        "group.consumer.min.session.timeout.ms",
        int_in(1),
        default=45 * SECOND_MS,
        doc="`group.consumer.session.timeout.ms` may not be shorter.",
    )
    group_consumer_max_session_timeout_ms: int = key(
        "group.consumer.max.session.timeout.ms",
        int_in(1),
        default=60 * SECOND_MS,
        doc="`group.consumer.session.timeout.ms` may not be longer.",
    )
    group_consumer_heartbeat_interval_ms: int = key(
        "group.consumer.heartbeat.interval.ms",
        int_in(1),
        default=5 * SECOND_MS,
        doc="How often members of groups of the new protocol are to send heartbeats.",
    )
    group_consumer_min_heartbeat_interval_ms: int = key(
        "group.consumer.min.heartbeat.interval.ms",
        int_in(1),
        default=5 * SECOND_MS,
        doc="`group.consumer.heartbeat.interval.ms` may not be shorter.",
    )
    group_consumer_max_heartbeat_interval_ms: int = key(
        "group.consumer.max.heartbeat.interval.ms",
        int_in(1),
        default=15 * SECOND_MS,
        doc="`group.consumer.heartbeat.interval.ms` may not be longer.",
    )
    group_consumer_max_size: int = key(
        "group.consumer.max.size",
        int_in(1),
        default=INT_MAX,
        doc="How many members a group of the new protocol may have.",
    )
    group_consumer_assignors: tuple[str, ...] = key(
        "group.consumer.assignors",
        _assignors("uniform", "range"),
        default=("uniform", "range"),
        doc="""The assignors that members of groups of the new protocol may name. The first one is
        taken where nobody names any. Kafka's names are taken, and no classes.""",
    )
    group_consumer_migration_policy: str = key(
        "group.consumer.migration.policy",
        one_of("bidirectional", "upgrade", "downgrade", "disabled"),
        default="bidirectional",
        doc="""Which groups with members change their protocol: classic ones when a member of the
        new protocol joins (upgrade), and back when the last such member is gone (downgrade).""",
    )
    offset_metadata_max_bytes: int = key(
        "offset.metadata.max.bytes",
        int_in(),
        default=4096,
        importance="high",
        doc="How long the note may be that a client commits with an offset.",
    )
    offsets_retention_minutes: int = key(
        "offsets.retention.minutes",
        int_in(1),
        default=7 * 24 * 60,
        importance="high",
        doc="""How long offsets are kept after their group lost its last member, or after the last
        commit where the group has no members or does not read the topic any longer.""",
    )
    offsets_retention_check_interval_ms: int = key(
        "offsets.retention.check.interval.ms",
        long_in(1),
        default=10 * MINUTE_MS,
        importance="high",
        doc="How often expired offsets are looked for.",
    )
    offsets_topic_num_partitions: int = key(
        "offsets.topic.num.partitions",
        int_in(1),
        default=50,
        importance="high",
        doc="How many partitions `__consumer_offsets` gets when it is made.",
    )
    offsets_topic_replication_factor: int = key(
        "offsets.topic.replication.factor",
        int_in(1),
        default=1,
        importance="high",
        doc="How many replicas `__consumer_offsets` gets when it is made. Kafka's default is 3.",
    )
    offsets_topic_segment_bytes: int = key(
        "offsets.topic.segment.bytes",
        int_in(MIB),
        default=100 * MIB,
        importance="high",
        doc="The segment.bytes that `__consumer_offsets` gets when it is made.",
    )
    offsets_topic_compression_codec: int = key(
        "offsets.topic.compression.codec",
        int_in(0, 4),
        default=0,
        importance="high",
        doc="How coordinators compress what they write: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd.",
    )
    offsets_load_buffer_size: int = key(
        "offsets.load.buffer.size",
        int_in(1),
        default=5 * MIB,
        importance="high",
        doc="How many bytes of `__consumer_offsets` are read at once when a coordinator starts.",
    )
    transaction_max_timeout_ms: int = key(
        "transaction.max.timeout.ms",
        int_in(1),
        default=15 * MINUTE_MS,
        importance="high",
        doc="The longest transaction.timeout.ms that a producer may ask for.",
    )
    transactional_id_expiration_ms: int = key(
        "transactional.id.expiration.ms",
        int_in(1),
        default=7 * DAY_MS,
        importance="high",
        doc="How long a transactional id is remembered that no producer uses any more.",
    )
    transaction_partition_verification_enable: bool = key(
        "transaction.partition.verification.enable",
        boolean(),
        default=True,
        importance="low",
        dynamic=True,
        doc="""Whether a partition takes the first records of a transaction only if the coordinator
        knows that the transaction writes there.""",
    )
    add_partitions_to_txn_retry_backoff_max_ms: int = key(
        "add.partitions.to.txn.retry.backoff.max.ms",
        int_in(0),
        default=100,
        importance="high",
        doc="""How long the first records of a transaction wait for the end of the one before. Then
        the client is told to send them again.""",
    )
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = key(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms",
        int_in(1),
        default=10 * SECOND_MS,
        importance="low",
        doc="How often transactions are looked for that are open for longer than they may be.",
    )
    transaction_remove_expired_transaction_cleanup_interval_ms: int = key(
        "transaction.remove.expired.transaction.cleanup.interval.ms",
        int_in(1),
        default=60 * MINUTE_MS,
        importance="low",
        doc="How often transactional ids are looked for that can be forgotten.",
    )
    transaction_state_log_num_partitions: int = key(
        "transaction.state.log.num.partitions",
        int_in(1),
        default=50,
        importance="high",
        doc="How many partitions `__transaction_state` gets when it is made.",
    )
    transaction_state_log_replication_factor: int = key(
        "transaction.state.log.replication.factor",
        int_in(1),
        default=1,
        importance="high",
        doc="How many replicas `__transaction_state` gets when it is made. Kafka's default is 3.",
    )
    transaction_state_log_min_isr: int = key(
        "transaction.state.log.min.isr",
        int_in(1),
        default=1,
        importance="high",
        doc="The min.insync.replicas that `__transaction_state` gets. Kafka's default is 2.",
    )
    transaction_state_log_segment_bytes: int = key(
        "transaction.state.log.segment.bytes",
        int_in(MIB),
        default=100 * MIB,
        importance="high",
        doc="The segment.bytes that `__transaction_state` gets when it is made.",
    )
    transaction_state_log_load_buffer_size: int = key(
        "transaction.state.log.load.buffer.size",
        int_in(1),
        default=5 * MIB,
        importance="high",
        doc="How many bytes of `__transaction_state` are read at once when a coordinator starts.",
    )


# Older names: the first is what the broker enforces, the second is taken when the first is not set.
ALIASES = {"node.id": "broker.id", "log.dirs": "log.dir"}


def keys_of_topic_defaults() -> dict[str, Key[Any]]:
    """The broker's side of each topic key: the same declaration under the broker's name."""
    found: dict[str, Key[Any]] = {}
    for declared in TOPIC_KEYS.values():
        if declared.broker_name is None:
            continue
        default = None if declared.fallbacks else declared.default
        found[declared.broker_name] = replace(
            declared,
            name=declared.broker_name,
            default=default,
            broker_name=None,
            fallbacks=(),
            dynamic=True,
        )
        for other in declared.fallbacks:
            doc = f"Used for topics while {declared.broker_name} is not set. {declared.doc}"
            found[other.name] = Key(
                other.name, int_in(other.at_least), other.default, doc, declared.importance
            )
    return found


def _keys_of_aliases() -> dict[str, Key[Any]]:
    declared = keys_of(BrokerConfig)
    return {
        alias: replace(declared[name], name=alias, default=None) for name, alias in ALIASES.items()
    }


BROKER_KEYS: Mapping[str, Key[Any]] = {
    **keys_of_topic_defaults(),
    **_keys_of_aliases(),
    **keys_of(BrokerConfig),
}


def resolve_broker(texts: Mapping[str, str]) -> BrokerConfig:
    """The configuration that these texts amount to; InvalidConfig if they cannot be."""
    parsed = {name: BROKER_KEYS[name].parse(text) for name, text in texts.items()}
    for name, alias in ALIASES.items():
        if alias in parsed:
            if name == "node.id" and parsed.get(name, parsed[alias]) != parsed[alias]:
                raise InvalidConfig("You must set `node.id` to the same value as `broker.id`.")
            parsed.setdefault(name, parsed[alias])
    own = {
        declared.attribute: parsed[name]
        for name, declared in keys_of(BrokerConfig).items()
        if name in parsed
    }
    resolved = BrokerConfig(topic_defaults=_resolve_topic_defaults(parsed), **own)
    return _check(_without_controller_listeners(resolved))


def _resolve_topic_defaults(parsed: Mapping[str, Any]) -> TopicConfig:
    values: dict[str, Any] = {}
    for declared in TOPIC_KEYS.values():
        if declared.broker_name is not None and declared.broker_name in parsed:
            values[declared.attribute] = parsed[declared.broker_name]
            continue
        for other in declared.fallbacks:
            if other.name in parsed:
                coarse = parsed[other.name]
                values[declared.attribute] = coarse * other.unit_ms if coarse >= 0 else -1
                break
    resolved = TopicConfig(**values)
    if resolved.retention_ms == 0:
        raise InvalidConfig(
            "log.retention.ms must be unlimited (-1) or, greater than or equal to 1"
        )
    check_together(resolved)
    return resolved


def _without_controller_listeners(config: BrokerConfig) -> BrokerConfig:
    aside = {name.upper() for name in config.controller_listener_names}
    listeners = tuple(one for one in config.listeners if one.name not in aside)
    advertised = tuple(one for one in config.advertised_listeners if one.name not in aside)
    return replace(config, listeners=listeners, advertised_listeners=advertised or listeners)


def _check(config: BrokerConfig) -> BrokerConfig:
    """What no single key can tell."""
    check_listeners(
        config.listeners, config.advertised_listeners, config.listener_security_protocol_map
    )
    if len(config.log_dirs) != 1:
        raise InvalidConfig("log.dirs: exactly one directory is supported yet")
    if 0 < config.queued_max_request_bytes < config.socket_request_max_bytes:
        raise InvalidConfig(
            "queued.max.request.bytes must be larger or equal to socket.request.max.bytes"
        )
    if config.max_connections_per_ip == 0 and not config.max_connections_per_ip_overrides:
        raise InvalidConfig(
            "max.connections.per.ip can be set to zero only if"
            " max.connections.per.ip.overrides property is set."
        )
    _check_consumer_groups(config)
    return config


def _check_consumer_groups(config: BrokerConfig) -> None:
    heartbeat_ms = config.group_consumer_heartbeat_interval_ms
    for name, value, least, most in (
        (
            "heartbeat.interval.ms",
            heartbeat_ms,
            config.group_consumer_min_heartbeat_interval_ms,
            config.group_consumer_max_heartbeat_interval_ms,
        ),
        (
            "session.timeout.ms",
            config.group_consumer_session_timeout_ms,
            config.group_consumer_min_session_timeout_ms,
            config.group_consumer_max_session_timeout_ms,
        ),
    ):
        if not least <= value <= most:
            raise InvalidConfig(
                f"group.consumer.{name} must not be below group.consumer.min.{name}"
                f" ({least}) nor above group.consumer.max.{name} ({most})"
            )
    if heartbeat_ms >= config.group_consumer_session_timeout_ms:
        raise InvalidConfig(
            "group.consumer.heartbeat.interval.ms must be less than"
            " group.consumer.session.timeout.ms"
        )
