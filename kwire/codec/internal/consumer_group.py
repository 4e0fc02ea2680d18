"""A group of the new protocol (KIP-848), as `__consumer_offsets` holds it: what all members share.

    group               key  i16 3  | group string
                        value  i16 0 | epoch i32
    partition metadata  key  i16 4  | group string
                        value  i16 0 | topics [ id uuid | name string | partition count i32
                                             | racks of partitions [ ... ] ]
    target assignment   key  i16 6  | group string
                        value  i16 0 | epoch of the assignment i32
    regular expression  key  i16 16 | group string | regular expression string
                        value  i16 0 | topics [string] | version of the image i64 | time i64

What is kept for each member is in `consumer_group_member`. All values are flexible, so that newer
brokers can add to them; a null value deletes. The racks are no longer used (Kafka 4.0), and empty.
"""

from kwire.codec.internal.versioned import Format
from kwire.codec.schema import array, int32, int64, message, string, struct, uuid

GROUP_KEY = 3
PARTITION_METADATA_KEY = 4
TARGET_METADATA_KEY = 6
REGULAR_EXPRESSION_KEY = 16

_VALUE_VERSION = 0


@message
class GroupKey:
    """The same key for the epoch, the partition metadata and the target's epoch."""

    group_id: str = string()


@message
class RegularExpressionKey:
    group_id: str = string()
    regular_expression: str = string()


@message
class GroupValue:
    epoch: int = int32()


@message
class PartitionRacks:
    partition: int = int32()
    racks: list[str] = array(string())


@message
class StoredTopic:
    topic_id: bytes = uuid()
    topic_name: str = string()
    num_partitions: int = int32()
    partition_metadata: list[PartitionRacks] = array(struct(PartitionRacks))


@message
class PartitionMetadataValue:
    topics: list[StoredTopic] = array(struct(StoredTopic))


@message
class TargetMetadataValue:
    assignment_epoch: int = int32()


@message
class RegularExpressionValue:
    topics: list[str] = array(string())
    version: int = int64()
    timestamp: int = int64()


_GROUP_KEYS = Format(GroupKey, (GROUP_KEY, TARGET_METADATA_KEY), None)
_REGULAR_EXPRESSION_KEY = Format(
    RegularExpressionKey, (REGULAR_EXPRESSION_KEY, REGULAR_EXPRESSION_KEY), None
)
_GROUP = Format(GroupValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION)
_PARTITION_METADATA = Format(
    PartitionMetadataValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION
)
_TARGET_METADATA = Format(TargetMetadataValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION)
_REGULAR_EXPRESSION = Format(
    RegularExpressionValue, (_VALUE_VERSION, _VALUE_VERSION), _VALUE_VERSION
)


def write_key(kind: int, group_id: str) -> bytes:
    """The key of one of the three records that a group has once."""
    return _GROUP_KEYS.write(GroupKey(group_id=group_id), kind)


def read_key(stored: bytes) -> str:
    return _GROUP_KEYS.read(stored).group_id


def write_regular_expression_key(group_id: str, regular_expression: str) -> bytes:
    key = RegularExpressionKey(group_id=group_id, regular_expression=regular_expression)
    return _REGULAR_EXPRESSION_KEY.write(key, REGULAR_EXPRESSION_KEY)


def read_regular_expression_key(stored: bytes) -> RegularExpressionKey:
    return _REGULAR_EXPRESSION_KEY.read(stored)


def write_group(epoch: int) -> bytes:
    return _GROUP.write(GroupValue(epoch=epoch), _VALUE_VERSION)


def read_group(stored: bytes) -> int:
    """The group's epoch."""
    return _GROUP.read(stored).epoch


def write_partition_metadata(topics: list[StoredTopic]) -> bytes:
    return _PARTITION_METADATA.write(PartitionMetadataValue(topics=topics), _VALUE_VERSION)


def read_partition_metadata(stored: bytes) -> list[StoredTopic]:
    return _PARTITION_METADATA.read(stored).topics


def write_target_metadata(assignment_epoch: int) -> bytes:
    value = TargetMetadataValue(assignment_epoch=assignment_epoch)
    return _TARGET_METADATA.write(value, _VALUE_VERSION)


def read_target_metadata(stored: bytes) -> int:
    """The epoch that the target assignment was made for."""
    return _TARGET_METADATA.read(stored).assignment_epoch


def write_regular_expression(topics: list[str], version: int, timestamp: int) -> bytes:
    value = RegularExpressionValue(topics=topics, version=version, timestamp=timestamp)
    return _REGULAR_EXPRESSION.write(value, _VALUE_VERSION)


def read_regular_expression(stored: bytes) -> RegularExpressionValue:
    return _REGULAR_EXPRESSION.read(stored)
