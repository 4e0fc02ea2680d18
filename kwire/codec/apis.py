"""Every API this codec can speak: its key, its versions, and where its messages are.

The ranges are those of Apache Kafka 4.3. What a broker *serves*, and so advertises, is decided by
its route table; this table says what can be read and written. Importing it loads no message: an
API's module is imported when its messages are first needed.
"""

from importlib import import_module
from typing import Any

from kwire.codec.compile import Decoder, Encoder, decoder, encoder

PEER_MEMORY_RATIO = 32
"""Answers come from brokers we chose to ask, so they may unfold further than requests may."""


class Api:
    """One API: the single place that knows its number, name, versions and message classes."""

    __slots__ = (
        "_codecs",
        "_messages",
        "first_readable",
        "flexible",
        "key",
        "name",
        "stem",
        "versions",
    )

    def __init__(
        self,
        key: int,
        stem: str,
        versions: tuple[int, int],
        flexible: int | None,
        first_readable: int | None = None,
    ) -> None:
        self.key = key
        self.stem = stem
        self.name = "".join(word.capitalize() for word in stem.split("_"))
        self.versions = versions
        self.flexible = flexible
        self.first_readable = versions[0] if first_readable is None else first_readable
        self._messages: dict[str, type[Any]] = {}
        self._codecs: dict[tuple[str, int], Any] = {}

    def __repr__(self) -> str:
        return f"Api({self.key}, {self.name})"

    def reads(self, version: int) -> bool:
        """Say whether requests of this version can be read at all."""
        return self.first_readable <= version <= self.versions[1]

    def is_flexible(self, version: int) -> bool:
        """Say whether this version has compact lengths and tagged fields (KIP-482)."""
        return self.flexible is not None and version >= self.flexible

    @property
    def request(self) -> type[Any]:
        return self._message("Request")

    @property
    def response(self) -> type[Any]:
        return self._message("Response")

    def decode_request(self, version: int) -> Decoder:
        try:
            found: Decoder = self._codecs["decode request", version]
        except KeyError:
            found = decoder(self.request, version, self.is_flexible(version))
            self._codecs["decode request", version] = found
        return found

    def encode_response(self, version: int) -> Encoder:
        try:
            found: Encoder = self._codecs["encode response", version]
        except KeyError:
            found = encoder(self.response, version, self.is_flexible(version))
            self._codecs["encode response", version] = found
        return found

    def encode_request(self, version: int) -> Encoder:
        try:
            found: Encoder = self._codecs["encode request", version]
        except KeyError:
            found = encoder(self.request, version, self.is_flexible(version))
            self._codecs["encode request", version] = found
        return found

    def decode_response(self, version: int) -> Decoder:
        try:
            found: Decoder = self._codecs["decode response", version]
        except KeyError:
            flexible = self.is_flexible(version)
            found = decoder(self.response, version, flexible, PEER_MEMORY_RATIO)
            self._codecs["decode response", version] = found
        return found

    def _message(self, suffix: str) -> type[Any]:
        if suffix not in self._messages:
            module = import_module(f"kwire.codec.messages.{self.stem}")
            self._messages[suffix] = getattr(module, self.name + suffix)
        return self._messages[suffix]


# Produce is advertised from 0 because old librdkafka switches compression off otherwise
# (KAFKA-18659), but nothing below 3 is read: those versions carry records of the old formats.
PRODUCE = Api(0, "produce", (0, 13), 9, first_readable=3)
FETCH = Api(1, "fetch", (4, 18), 12)
LIST_OFFSETS = Api(2, "list_offsets", (1, 11), 6)
METADATA = Api(3, "metadata", (0, 13), 9)
OFFSET_COMMIT = Api(8, "offset_commit", (2, 10), 8)
OFFSET_FETCH = Api(9, "offset_fetch", (1, 10), 6)
FIND_COORDINATOR = Api(10, "find_coordinator", (0, 6), 3)
JOIN_GROUP = Api(11, "join_group", (0, 9), 6)
HEARTBEAT = Api(12, "heartbeat", (0, 4), 4)
LEAVE_GROUP = Api(13, "leave_group", (0, 5), 4)
SYNC_GROUP = Api(14, "sync_group", (0, 5), 4)
DESCRIBE_GROUPS = Api(15, "describe_groups", (0, 6), 5)
LIST_GROUPS = Api(16, "list_groups", (0, 5), 3)
API_VERSIONS = Api(18, "api_versions", (0, 4), 3)
CREATE_TOPICS = Api(19, "create_topics", (2, 7), 5)
DELETE_TOPICS = Api(20, "delete_topics", (1, 6), 4)
DELETE_RECORDS = Api(21, "delete_records", (0, 2), 2)
# Version 6 exists in the schema, marked unstable: brokers do not advertise it.
INIT_PRODUCER_ID = Api(22, "init_producer_id", (0, 5), 2)
OFFSET_FOR_LEADER_EPOCH = Api(23, "offset_for_leader_epoch", (2, 4), 4)
ADD_PARTITIONS_TO_TXN = Api(24, "add_partitions_to_txn", (0, 5), 3)
ADD_OFFSETS_TO_TXN = Api(25, "add_offsets_to_txn", (0, 4), 3)
END_TXN = Api(26, "end_txn", (0, 5), 3)
WRITE_TXN_MARKERS = Api(27, "write_txn_markers", (1, 2), 1)
TXN_OFFSET_COMMIT = Api(28, "txn_offset_commit", (0, 5), 3)
DESCRIBE_CONFIGS = Api(32, "describe_configs", (1, 4), 4)
ALTER_CONFIGS = Api(33, "alter_configs", (0, 2), 2)
DESCRIBE_LOG_DIRS = Api(35, "describe_log_dirs", (1, 5), 2)
CREATE_PARTITIONS = Api(37, "create_partitions", (0, 3), 2)
DELETE_GROUPS = Api(42, "delete_groups", (0, 2), 2)
INCREMENTAL_ALTER_CONFIGS = Api(44, "incremental_alter_configs", (0, 1), 1)
OFFSET_DELETE = Api(47, "offset_delete", (0, 0), None)
DESCRIBE_CLUSTER = Api(60, "describe_cluster", (0, 2), 0)
DESCRIBE_PRODUCERS = Api(61, "describe_producers", (0, 0), 0)
DESCRIBE_TRANSACTIONS = Api(65, "describe_transactions", (0, 0), 0)
LIST_TRANSACTIONS = Api(66, "list_transactions", (0, 2), 0)
CONSUMER_GROUP_HEARTBEAT = Api(68, "consumer_group_heartbeat", (0, 1), 0)
CONSUMER_GROUP_DESCRIBE = Api(69, "consumer_group_describe", (0, 1), 0)
DESCRIBE_TOPIC_PARTITIONS = Api(75, "describe_topic_partitions", (0, 0), 0)

BY_KEY: dict[int, Api] = {
    api.key: api
    for api in (
        PRODUCE,
        FETCH,
        LIST_OFFSETS,
        METADATA,
        OFFSET_COMMIT,
        OFFSET_FETCH,
        FIND_COORDINATOR,
        JOIN_GROUP,
        HEARTBEAT,
        LEAVE_GROUP,
        SYNC_GROUP,
        DESCRIBE_GROUPS,
        LIST_GROUPS,
        API_VERSIONS,
        CREATE_TOPICS,
        DELETE_TOPICS,
        DELETE_RECORDS,
        INIT_PRODUCER_ID,
        OFFSET_FOR_LEADER_EPOCH,
        ADD_PARTITIONS_TO_TXN,
        ADD_OFFSETS_TO_TXN,
        END_TXN,
        WRITE_TXN_MARKERS,
        TXN_OFFSET_COMMIT,
        DESCRIBE_CONFIGS,
        ALTER_CONFIGS,
        DESCRIBE_LOG_DIRS,
        CREATE_PARTITIONS,
        DELETE_GROUPS,
        INCREMENTAL_ALTER_CONFIGS,
        OFFSET_DELETE,
        DESCRIBE_CLUSTER,
        DESCRIBE_PRODUCERS,
        DESCRIBE_TRANSACTIONS,
        LIST_TRANSACTIONS,
        CONSUMER_GROUP_HEARTBEAT,
        CONSUMER_GROUP_DESCRIBE,
        DESCRIBE_TOPIC_PARTITIONS,
    )
}
