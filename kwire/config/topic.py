"""Every topic key, once, and the broker keys that give each its default.

kwire's own defaults: two weeks of retention (Kafka: one). Topic names of keys lose the `log.` that
the broker's have; for times a broker may use coarser units, of which the finest that is set wins.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kwire.config.keys import (
    DAY_MS,
    HOUR_MS,
    INT_MAX,
    LONG_MAX,
    MIB,
    MINUTE_MS,
    ConfigType,
    Fallback,
    Parser,
    always_off,
    boolean,
    double_in,
    int_in,
    key,
    keys_of,
    long_in,
    one_of,
    set_of,
    settings,
)
from kwire.config.unsupported import UNSUPPORTED_TOPIC_KEYS
from kwire.errors import InvalidConfig

if TYPE_CHECKING:
    from kwire.config.broker import BrokerConfig

RETENTION_HOURS = 14 * 24


def _gzip_level() -> Parser[int]:
    """1 to 9, or -1 for zlib's own default."""
    plain = int_in(-1, 9)

    def read(text: str) -> int:
        value = plain.read(text)
        if value == 0:
            raise ValueError("Value must be between 1 and 9 or equal to -1")
        return value

    return Parser(ConfigType.INT, read, str, "[1,...,9] or -1")


@settings
class TopicConfig:
    """How one topic's partitions are stored, with every default filled in."""

    cleanup_policy: frozenset[str] = key(
        "cleanup.policy",
        set_of("compact", "delete"),
        default=frozenset({"delete"}),
        broker_name="log.cleanup.policy",
        doc="""What happens to old segments: `delete` drops them by retention time and size,
        `compact` keeps the last record of each key, both together do both, and nothing at all
        keeps them for ever.""",
    )
    compression_gzip_level: int = key(
        "compression.gzip.level",
        _gzip_level(),
        default=-1,
        broker_name="compression.gzip.level",
        doc="How hard gzip tries when `compression.type` is gzip.",
    )
    compression_lz4_level: int = key(
        "compression.lz4.level",
        int_in(1, 17),
        default=9,
        broker_name="compression.lz4.level",
        doc="How hard lz4 tries when `compression.type` is lz4.",
    )
    compression_type: str = key(
        "compression.type",
        one_of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
        default="producer",
        broker_name="compression.type",
        doc="""The codec batches are stored with. `producer` keeps whatever the producer chose; any
        other codec makes the broker recompress batches that come in a different one.""",
    )
    compression_zstd_level: int = key(
        "compression.zstd.level",
        int_in(-131072, 22),
        default=3,
        broker_name="compression.zstd.level",
        doc="How hard zstd tries when `compression.type` is zstd.",
    )
    delete_retention_ms: int = key(
        "delete.retention.ms",
        long_in(0),
        default=DAY_MS,
        broker_name="log.cleaner.delete.retention.ms",
        doc="""How long compaction keeps tombstones, so that a reader who starts from the beginning
        within that time learns of every deletion.""",
    )
    file_delete_delay_ms: int = key(
        "file.delete.delay.ms",
        long_in(0),
        default=MINUTE_MS,
        broker_name="log.segment.delete.delay.ms",
        doc="How long a file that was taken out of the log stays on disk before it is removed.",
    )
    flush_messages: int = key(
        "flush.messages",
        long_in(1),
        default=LONG_MAX,
        broker_name="log.flush.interval.messages",
        doc="""After how many records the log is forced to disk. With 1 nothing is acknowledged
        before it would survive a power cut.""",
    )
    flush_ms: int = key(
        "flush.ms",
        long_in(0),
        default=LONG_MAX,
        broker_name="log.flush.interval.ms",
        fallbacks=(Fallback("log.flush.scheduler.interval.ms", default=LONG_MAX),),
        doc="How long records may wait before the log is forced to disk.",
    )
    index_interval_bytes: int = key(
        "index.interval.bytes",
        int_in(0),
        default=4096,
        broker_name="log.index.interval.bytes",
        doc="After how many bytes of batches the offset index gets its next entry.",
    )
    max_compaction_lag_ms: int = key(
        "max.compaction.lag.ms",
        long_in(1),
        default=LONG_MAX,
        broker_name="log.cleaner.max.compaction.lag.ms",
        doc="A record is compacted at the latest this long after it was written.",
    )
    max_message_bytes: int = key(
        "max.message.bytes",
        int_in(0),
        default=MIB + 12,
        broker_name="message.max.bytes",
        doc="The largest batch that is taken, after compression.",
    )
    message_timestamp_after_max_ms: int = key(
        "message.timestamp.after.max.ms",
        long_in(0),
        default=HOUR_MS,
        broker_name="log.message.timestamp.after.max.ms",
        doc="How far a record's own timestamp may lie in the future; ignored with LogAppendTime.",
    )
    message_timestamp_before_max_ms: int = key(
        "message.timestamp.before.max.ms",
        long_in(0),
        default=LONG_MAX,
        broker_name="log.message.timestamp.before.max.ms",
        doc="How far a record's own timestamp may lie in the past; ignored with LogAppendTime.",
    )
    message_timestamp_type: str = key(
        "message.timestamp.type",
        one_of("CreateTime", "LogAppendTime"),
        default="CreateTime",
        broker_name="log.message.timestamp.type",
        doc="Whether records keep the producer's timestamp or get the time of their arrival.",
    )
    min_cleanable_dirty_ratio: float = key(
        "min.cleanable.dirty.ratio",
        double_in(0, 1),
        default=0.5,
        broker_name="log.cleaner.min.cleanable.ratio",
        doc="Compaction starts when this part of the log, in bytes, was not compacted yet.",
    )
    min_compaction_lag_ms: int = key(
        "min.compaction.lag.ms",
        long_in(0),
        default=0,
        broker_name="log.cleaner.min.compaction.lag.ms",
        doc="A record is left alone by compaction for this long after it was written.",
    )
    min_insync_replicas: int = key(
        "min.insync.replicas",
        int_in(1),
        default=1,
        broker_name="min.insync.replicas",
        doc="""With acks=all a write is refused while fewer replicas than this are in sync; more
        than the replication factor counts as the replication factor.""",
    )
    preallocate: bool = key(
        "preallocate",
        always_off("segments grow as they are written"),
        default=False,
        broker_name="log.preallocate",
        doc="Segments grow as they are written; only false is taken.",
    )
    remote_storage_enable: bool = key(
        "remote.storage.enable",
        always_off("there is no tiered storage"),
        default=False,
        doc="There is no tiered storage; only false is taken.",
    )
    retention_bytes: int = key(
        "retention.bytes",
        long_in(),
        default=-1,
        broker_name="log.retention.bytes",
        doc="""Old segments are deleted while the partition is larger than this; negative means no
        limit.""",
    )
    retention_ms: int = key(
        "retention.ms",
        long_in(-1),
        default=RETENTION_HOURS * HOUR_MS,
        broker_name="log.retention.ms",
        fallbacks=(
            Fallback("log.retention.minutes", MINUTE_MS),
            Fallback("log.retention.hours", HOUR_MS, default=RETENTION_HOURS),
        ),
        doc="""Segments whose newest record is older than this are deleted; -1 means never. kwire's
        default is two weeks, Kafka's is one.""",
    )
    segment_bytes: int = key(
        "segment.bytes",
        int_in(MIB, INT_MAX),
        default=1024 * MIB,
        broker_name="log.segment.bytes",
        doc="A segment is closed, and the next one opened, before it would grow past this size.",
    )
    segment_index_bytes: int = key(
        "segment.index.bytes",
        int_in(4),
        default=10 * MIB,
        broker_name="log.index.size.max.bytes",
        doc="How large the index of one segment may grow; a full index closes the segment.",
    )
    segment_jitter_ms: int = key(
        "segment.jitter.ms",
        long_in(0),
        default=0,
        broker_name="log.roll.jitter.ms",
        fallbacks=(Fallback("log.roll.jitter.hours", HOUR_MS, default=0, at_least=0),),
        doc="A random part of up to this much is taken off `segment.ms`, against rolls in step.",
    )
    segment_ms: int = key(
        "segment.ms",
        long_in(1),
        default=7 * DAY_MS,
        broker_name="log.roll.ms",
        fallbacks=(Fallback("log.roll.hours", HOUR_MS, default=7 * 24, at_least=1),),
        doc="A segment is closed this long after its first record, even if it is not full.",
    )
    unclean_leader_election_enable: bool = key(
        "unclean.leader.election.enable",
        boolean(),
        default=False,
        broker_name="unclean.leader.election.enable",
        doc="""Whether a replica that is not in sync may become leader when no other is left, which
        loses records. One node never has that choice.""",
    )


TOPIC_KEYS = keys_of(TopicConfig)


def parse_topic_overrides(overrides: Mapping[str, str]) -> dict[str, Any]:
    """Attribute and value of each override; InvalidConfig for the first that is not allowed."""
    values: dict[str, Any] = {}
    for name, value in overrides.items():
        declared = TOPIC_KEYS.get(name)
        if declared is not None:
            values[declared.attribute] = declared.parse(value)
        elif name in UNSUPPORTED_TOPIC_KEYS:
            why = UNSUPPORTED_TOPIC_KEYS[name]
            raise InvalidConfig(f"Topic config {name} is not supported by kwire: {why}")
        else:
            raise InvalidConfig(f"Unknown topic config name: {name}")
    return values


def resolve_topic(overrides: Mapping[str, str], broker: "BrokerConfig") -> TopicConfig:
    """The topic's own settings over the broker's defaults; topics without any share one object."""
    if not overrides:
        return broker.topic_defaults
    resolved = replace(broker.topic_defaults, **parse_topic_overrides(overrides))
    check_together(resolved)
    return resolved


def check_together(config: TopicConfig) -> None:
    """What no single key can tell."""
    least, most = config.min_compaction_lag_ms, config.max_compaction_lag_ms
    if least > most:
        raise InvalidConfig(
            f"conflict topic config setting min.compaction.lag.ms ({least})"
            f" > max.compaction.lag.ms ({most})"
        )
