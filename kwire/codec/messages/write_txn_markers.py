"""WriteTxnMarkers, key 27: a coordinator has the leaders write how a transaction ended.

v1 the first form that Kafka 4 speaks, flexible
v2 the version of transactions that the marker was made for (KIP-1228)
"""

from kwire.codec.schema import array, boolean, int8, int16, int32, int64, message, string, struct


@message
class TxnMarkerTopic:
    name: str = string()
    partition_indexes: list[int] = array(int32())


@message
class TxnMarker:
    producer_id: int = int64()
    producer_epoch: int = int16()
    # True commits, False aborts.
    transaction_result: bool = boolean()
    topics: list[TxnMarkerTopic] = array(struct(TxnMarkerTopic))
    coordinator_epoch: int = int32()
    transaction_version: int = int8(since=2)


@message
class WriteTxnMarkersRequest:
    markers: list[TxnMarker] = array(struct(TxnMarker))


@message
class TxnMarkerPartitionResult:
    partition_index: int = int32()
    error_code: int = int16()


@message
class TxnMarkerTopicResult:
    name: str = string()
    partitions: list[TxnMarkerPartitionResult] = array(struct(TxnMarkerPartitionResult))


@message
class TxnMarkerResult:
    producer_id: int = int64()
    topics: list[TxnMarkerTopicResult] = array(struct(TxnMarkerTopicResult))


@message
class WriteTxnMarkersResponse:
    markers: list[TxnMarkerResult] = array(struct(TxnMarkerResult))
