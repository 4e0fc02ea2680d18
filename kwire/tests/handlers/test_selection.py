"""What Kafka knows as operations, as bit fields, and which topics are internal."""

from kwire.handlers.selection import CLUSTER_OPERATIONS, TOPIC_OPERATIONS, is_internal


def test_the_bit_fields_are_those_kafka_answers_without_an_authorizer() -> None:
    assert TOPIC_OPERATIONS == 3576
    assert CLUSTER_OPERATIONS == 8096


def test_only_the_topics_of_coordinators_are_internal() -> None:
    assert is_internal("__consumer_offsets")
    assert is_internal("__transaction_state")
    assert not is_internal("__my_topic")
