"""A fake broker that remembers: topics with their settings, and logs held in memory.

It knows just enough to be written to, read from and administered; the real broker's rules are the
business of its own tests.
"""

from collections import defaultdict
from typing import Any

from kwire.codec import apis
from kwire.codec.messages.create_partitions import (
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kwire.codec.messages.create_topics import (
    CreatableTopic,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from kwire.codec.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
)
from kwire.codec.messages.describe_configs import (
    DescribeConfigsEntry,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kwire.codec.messages.fetch import (
    FetchPartition,
    FetchPartitionResponse,
    FetchRequest,
    FetchResponse,
    FetchTopicResponse,
)
from kwire.codec.messages.incremental_alter_configs import (
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResourceResponse,
    IncrementalAlterConfigsResponse,
)
from kwire.codec.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from kwire.codec.messages.list_offsets import (
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from kwire.codec.messages.metadata import (
    MetadataBroker,
    MetadataPartition,
    MetadataRequest,
    MetadataResponse,
    MetadataTopic,
)
from kwire.codec.messages.produce import (
    ProducePartition,
    ProducePartitionResponse,
    ProduceRequest,
    ProduceResponse,
    ProduceTopicResponse,
)
from kwire.codec.records.batch import each_batch, parse_header, stamp
from kwire.codec.records.record import Record, each_record
from kwire.errors import ErrorCode
from kwire.tests.peers.fake_broker import FakeBroker
from kwire.types import ZERO_UUID


class FakeTopic:
    def __init__(self, topic_id: bytes, partitions: int, configs: dict[str, str | None]) -> None:
        self.topic_id = topic_id
        self.partitions = partitions
        self.configs = configs
        self.batches: dict[int, list[bytes]] = defaultdict(list)
        self.start_offset = 0

    def end(self, partition: int) -> int:
        batches = self.batches[partition]
        return parse_header(batches[-1]).next_offset if batches else 0

    def append(self, partition: int, batch: bytes | bytearray | memoryview) -> int:
        stamped = bytearray(batch)
        base_offset = self.end(partition)
        stamp(stamped, 0, base_offset, 0)
        self.batches[partition].append(bytes(stamped))
        return base_offset

    def records(self, partition: int = 0) -> list[Record]:
        return [
            record
            for batch in self.batches[partition]
            for record in each_record(batch, parse_header(batch))
        ]


class FakeTopics(FakeBroker):
    """Everything the client rooms ask a broker for."""

    def __init__(self, node_id: int = 1) -> None:
        super().__init__(node_id)
        self.topics: dict[str, FakeTopic] = {}
        self.auto_create = True
        self._producers = 0
        self.answers |= {
            apis.METADATA: self.metadata,
            apis.CREATE_TOPICS: self.create_topics,
            apis.DELETE_TOPICS: self.delete_topics,
            apis.CREATE_PARTITIONS: self.create_partitions,
            apis.DESCRIBE_CONFIGS: self.describe_configs,
            apis.INCREMENTAL_ALTER_CONFIGS: self.alter_configs,
            apis.INIT_PRODUCER_ID: self.init_producer_id,
            apis.PRODUCE: self.produce,
            apis.LIST_OFFSETS: self.list_offsets,
            apis.FETCH: self.fetch,
        }

    @property
    def bootstrap(self) -> str:
        return str(self.address)

    def add(self, name: str, partitions: int = 1, **configs: str | None) -> FakeTopic:
        topic_id = (len(self.topics) + 1).to_bytes(16, "big")
        named = {key.replace("_", "."): value for key, value in configs.items()}
        self.topics[name] = FakeTopic(topic_id, partitions, named)
        return self.topics[name]

    def metadata(self, request: MetadataRequest) -> MetadataResponse:
        wanted = None if request.topics is None else [str(each.name) for each in request.topics]
        if wanted and request.allow_auto_topic_creation and self.auto_create:
            for name in wanted:
                self.topics.get(name) or self.add(name)
        host, port = self.address
        return MetadataResponse(
            brokers=[MetadataBroker(node_id=self.node_id, host=host, port=port)],
            cluster_id="fake",
            controller_id=self.node_id,
            topics=[self._described(name) for name in (self.topics if wanted is None else wanted)],
        )

    def _described(self, name: str) -> MetadataTopic:
        if name not in self.topics:
            return MetadataTopic(error_code=ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, name=name)
        topic = self.topics[name]
        partitions = [
            MetadataPartition(
                partition_index=index,
                leader_id=self.node_id,
                leader_epoch=0,
                replica_nodes=[self.node_id],
                isr_nodes=[self.node_id],
            )
            for index in range(topic.partitions)
        ]
        return MetadataTopic(
            name=name,
            topic_id=topic.topic_id,
            is_internal=name.startswith("__"),
            partitions=partitions,
        )

    def create_topics(self, request: CreateTopicsRequest) -> CreateTopicsResponse:
        return CreateTopicsResponse(topics=[self._create(each) for each in request.topics])

    def _create(self, wanted: CreatableTopic) -> CreatableTopicResult:
        if wanted.name in self.topics:
            return CreatableTopicResult(
                name=wanted.name,
                error_code=ErrorCode.TOPIC_ALREADY_EXISTS,
                error_message=f"Topic '{wanted.name}' already exists.",
            )
        made = self.add(wanted.name, max(1, wanted.num_partitions))
        made.configs = {each.name: each.value for each in wanted.configs}
        return CreatableTopicResult(
            name=wanted.name,
            topic_id=made.topic_id,
            num_partitions=made.partitions,
            replication_factor=max(1, wanted.replication_factor),
            configs=[],
        )

    def delete_topics(self, request: DeleteTopicsRequest) -> DeleteTopicsResponse:
        results = []
        for each in request.topics:
            known = self.topics.pop(str(each.name), None)
            code = ErrorCode.NONE if known else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            results.append(
                DeletableTopicResult(name=each.name, topic_id=ZERO_UUID, error_code=code)
            )
        return DeleteTopicsResponse(responses=results)

    def create_partitions(self, request: CreatePartitionsRequest) -> CreatePartitionsResponse:
        results = []
        for each in request.topics:
            result = CreatePartitionsTopicResult(name=each.name)
            if each.count <= self.topics[each.name].partitions:
                result.error_code = ErrorCode.INVALID_PARTITIONS
                result.error_message = f"The topic already has {each.count} partitions."
            else:
                self.topics[each.name].partitions = each.count
            results.append(result)
        return CreatePartitionsResponse(results=results)

    def describe_configs(self, request: DescribeConfigsRequest) -> DescribeConfigsResponse:
        results = []
        for each in request.resources:
            entries = [
                DescribeConfigsEntry(name=name, value=value, config_source=1)
                for name, value in self.topics[each.resource_name].configs.items()
            ]
            entries.append(
                DescribeConfigsEntry(name="cleanup.policy", value="delete", config_source=5)
            )
            results.append(
                DescribeConfigsResult(
                    resource_type=2, resource_name=each.resource_name, configs=entries
                )
            )
        return DescribeConfigsResponse(results=results)

    def alter_configs(
        self, request: IncrementalAlterConfigsRequest
    ) -> IncrementalAlterConfigsResponse:
        responses = []
        for each in request.resources:
            for change in each.configs:
                if change.config_operation == 0:
                    self.topics[each.resource_name].configs[change.name] = change.value
                else:
                    self.topics[each.resource_name].configs.pop(change.name, None)
            responses.append(
                IncrementalAlterConfigsResourceResponse(
                    resource_type=2, resource_name=each.resource_name
                )
            )
        return IncrementalAlterConfigsResponse(responses=responses)

    def init_producer_id(self, request: InitProducerIdRequest) -> InitProducerIdResponse:
        self._producers += 1
        return InitProducerIdResponse(producer_id=self._producers, producer_epoch=0)

    def produce(self, request: ProduceRequest) -> ProduceResponse | None:
        topics = []
        for each in request.topic_data:
            partitions = [
                self._store(self._by_id(each.topic_id), one) for one in each.partition_data
            ]
            topics.append(
                ProduceTopicResponse(topic_id=each.topic_id, partition_responses=partitions)
            )
        return None if request.acks == 0 else ProduceResponse(responses=topics)

    def _store(self, topic: FakeTopic, wanted: ProducePartition) -> ProducePartitionResponse:
        assert wanted.records is not None
        base_offset = topic.append(wanted.index, wanted.records)
        return ProducePartitionResponse(index=wanted.index, base_offset=base_offset)

    def list_offsets(self, request: ListOffsetsRequest) -> ListOffsetsResponse:
        topics = []
        for each in request.topics:
            topic = self.topics[each.name]
            partitions = [
                ListOffsetsPartitionResponse(
                    partition_index=one.partition_index,
                    offset=_offset_at(topic, one.partition_index, one.timestamp),
                )
                for one in each.partitions
            ]
            topics.append(ListOffsetsTopicResponse(name=each.name, partitions=partitions))
        return ListOffsetsResponse(topics=topics)

    def fetch(self, request: FetchRequest) -> FetchResponse:
        topics = []
        for each in request.topics:
            topic = self._by_id(each.topic_id)
            partitions = [_fetched(topic, one) for one in each.partitions]
            topics.append(FetchTopicResponse(topic_id=each.topic_id, partitions=partitions))
        return FetchResponse(responses=topics)

    def _by_id(self, topic_id: bytes) -> FakeTopic:
        return next(each for each in self.topics.values() if each.topic_id == topic_id)


def _offset_at(topic: FakeTopic, partition: int, timestamp: int) -> int:
    if timestamp == -1:
        return topic.end(partition)
    if timestamp == -2:
        return topic.start_offset
    later = (each.offset for each in topic.records(partition) if each.timestamp >= timestamp)
    return next(later, -1)


def _fetched(topic: FakeTopic, wanted: FetchPartition) -> FetchPartitionResponse:
    end = topic.end(wanted.partition)
    answer: dict[str, Any] = {"partition_index": wanted.partition, "high_watermark": end}
    if not topic.start_offset <= wanted.fetch_offset <= end:
        return FetchPartitionResponse(error_code=ErrorCode.OFFSET_OUT_OF_RANGE, **answer)
    data = b"".join(topic.batches[wanted.partition])
    start = next(
        (at for at, header in each_batch(data) if header.last_offset >= wanted.fetch_offset),
        len(data),
    )
    return FetchPartitionResponse(
        last_stable_offset=end, aborted_transactions=None, records=data[start:], **answer
    )
