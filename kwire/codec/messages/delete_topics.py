"""DeleteTopics, key 20: the controller deletes topics.

v1 throttle time
v2 the broker answers first and throttles after (KIP-219)
v3 TOPIC_DELETION_DISABLED may be answered (KIP-322)
v4 flexible
v5 error message; THROTTLING_QUOTA_EXCEEDED may be answered (KIP-599)
v6 a topic is named by its name or by its id (KIP-516)
"""

from kwire.codec.schema import array, int16, int32, message, string, struct, uuid


@message
class DeletableTopic:
    name: str | None = string(nullable=True, default=None)
    topic_id: bytes = uuid()


@message
class DeleteTopicsRequest:
    topics: list[DeletableTopic] = array(struct(DeletableTopic), since=6)
    topic_names: list[str] = array(string(), until=5)
    timeout_ms: int = int32()


@message
class DeletableTopicResult:
    name: str | None = string(nullable_since=6)
    topic_id: bytes = uuid(since=6)
    error_code: int = int16()
    error_message: str | None = string(since=5, nullable=True, default=None)


@message
class DeleteTopicsResponse:
    throttle_time_ms: int = int32()
    responses: list[DeletableTopicResult] = array(struct(DeletableTopicResult))
