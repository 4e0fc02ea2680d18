"""Topics come, grow and go: Kafka's checks, in Kafka's order and words."""

from collections.abc import Mapping, Sequence

import pytest

from kwire.config.layered import load
from kwire.controller.commands import MorePartitions, NewTopic
from kwire.controller.draft import Draft
from kwire.controller.image import ClusterImage
from kwire.controller.store import Create
from kwire.controller.topics import (
    MAX_PARTITIONS_PER_REQUEST,
    add_partitions,
    check_name,
    check_partition_total,
    create_topic,
    delete_topic,
)
from kwire.errors import (
    ErrorCode,
    InvalidReplicaAssignment,
    InvalidTopic,
    KwireError,
    PolicyViolation,
    UnknownTopicOrPartition,
)
from kwire.tests.controller.clusters import a_broker
from kwire.types import ZERO_UUID, new_uuid


@pytest.fixture
def draft() -> Draft:
    return a_draft()


def a_draft(brokers: Sequence[int] = (1,), config: Mapping[str, str] | None = None) -> Draft:
    image = ClusterImage("cluster")
    image.brokers = {node_id: a_broker(node_id) for node_id in brokers}
    return Draft(image, load(file=config), controller_epoch=3)


def _refusal(draft: Draft, new: NewTopic) -> tuple[ErrorCode, str]:
    with pytest.raises(KwireError) as refused:
        create_topic(draft, new)
    assert draft.ops == [], "what is refused leaves no trace in the draft"
    return refused.value.code, refused.value.message


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "x" * 249, "...", "__consumer_offsets"])
def test_a_name_may_be(name: str) -> None:
    check_name(name)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("", "the empty string is not allowed"),
        (".", "'.' is not allowed"),
        ("..", "'..' is not allowed"),
        ("x" * 250, f"the length of '{'x' * 250}' is longer than the max allowed length 249"),
        (
            "a/b",
            "'a/b' contains one or more characters other than ASCII alphanumerics,"
            " '.', '_' and '-'",
        ),
        (
            "ä\n",
            "'ä\n' contains one or more characters other than ASCII alphanumerics,"
            " '.', '_' and '-'",
        ),
    ],
)
def test_a_name_may_not_be(name: str, why: str) -> None:
    with pytest.raises(InvalidTopic) as refused:
        check_name(name)
    assert refused.value.message == f"Topic name is invalid: {why}"


def test_a_line_end_after_a_legal_name_is_not_overlooked() -> None:
    with pytest.raises(InvalidTopic):
        check_name("legal\n")


def test_counts_left_to_the_broker_are_its_settings() -> None:
    draft = a_draft((1, 2), {"num.partitions": "3", "default.replication.factor": "2"})
    topic = create_topic(draft, NewTopic("t"))
    assert [state.replicas for state in topic.partitions.values()] == [(1, 2), (2, 1), (1, 2)]
    assert {state.leader_epoch for state in topic.partitions.values()} == {0}


def test_a_new_topic_has_an_id_of_its_own(draft: Draft) -> None:
    first, second = create_topic(draft, NewTopic("a")), create_topic(draft, NewTopic("b"))
    assert len({first.topic_id, second.topic_id, ZERO_UUID}) == 3


def test_nodes_of_a_topic_come_parents_first(draft: Draft) -> None:
    create_topic(draft, NewTopic("t", 2, 1, config={"retention.ms": "5"}))
    paths = [op.path for op in draft.ops if isinstance(op, Create)]
    assert paths == [
        "/brokers/topics/t",
        "/config/topics/t",
        "/brokers/topics/t/partitions",
        "/brokers/topics/t/partitions/0",
        "/brokers/topics/t/partitions/0/state",
        "/brokers/topics/t/partitions/1",
        "/brokers/topics/t/partitions/1/state",
    ]
    assert len(paths) == len(draft.ops)


@pytest.mark.parametrize(
    ("new", "code", "words"),
    [
        (
            NewTopic("t", 0, 1),
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            NewTopic("t", -2, 1),
            ErrorCode.INVALID_PARTITIONS,
            "Number of partitions was set to an invalid non-positive value.",
        ),
        (
            NewTopic("t", 0, 0),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            NewTopic("t", 1, -2),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Replication factor must be larger than 0, or -1 to use the default value.",
        ),
        (
            NewTopic("t", 1, 3),
            ErrorCode.INVALID_REPLICATION_FACTOR,
            "Unable to replicate the partition 3 time(s): The target replication factor of 3 cannot"
            " be reached because only 1 broker(s) are registered.",
        ),
        (
            NewTopic("t", -1, 1, {0: [1]}),
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but replication factor was not set to"
            " -1.",
        ),
        (
            NewTopic("t", 1, -1, {0: [1]}),
            ErrorCode.INVALID_REQUEST,
            "A manual partition assignment was specified, but numPartitions was not set to -1.",
        ),
        (
            NewTopic("t", assignment={0: [1], 2: [1]}),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "partitions should be a consecutive 0-based integer sequence",
        ),
        (
            NewTopic("t", assignment={0: []}),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes an empty replica list.",
        ),
        (
            NewTopic("t", 0, 0, config={"a": None, "b": None}),
            ErrorCode.INVALID_CONFIG,
            "Null value not supported for topic configs: a,b",
        ),
        (
            NewTopic("t", 0, 0, config={"no.such.key": "1"}),
            ErrorCode.INVALID_CONFIG,
            "Unknown topic config name: no.such.key",
        ),
        (
            NewTopic("a b", 0, 0, config={"no.such.key": "1"}),
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            "Topic name is invalid: 'a b' contains one or more characters other than ASCII"
            " alphanumerics, '.', '_' and '-'",
        ),
        (
            NewTopic("__cluster_metadata"),
            ErrorCode.INVALID_REQUEST,
            "Creation of internal topic __cluster_metadata is prohibited.",
        ),
    ],
)
def test_what_cannot_be_created_is_refused_as_kafka_does(
    draft: Draft, new: NewTopic, code: ErrorCode, words: str
) -> None:
    assert _refusal(draft, new) == (code, words)


def test_a_topic_is_not_created_twice() -> None:
    draft = a_draft()
    create_topic(draft, NewTopic("a.b"))
    draft.ops.clear()
    assert _refusal(draft, NewTopic("a.b", 0, 0)) == (
        ErrorCode.TOPIC_ALREADY_EXISTS,
        "Topic 'a.b' already exists.",
    )


def test_names_that_differ_in_dots_and_underscores_only_collide() -> None:
    draft = a_draft()
    create_topic(draft, NewTopic("a.b_c"))
    draft.ops.clear()
    assert _refusal(draft, NewTopic("a_b.c")) == (
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        "Topic 'a_b.c' collides with existing topic: a.b_c",
    )
    create_topic(draft, NewTopic("a-b-c"))


def test_replicas_may_be_named_one_by_one() -> None:
    topic = create_topic(a_draft((1, 2)), NewTopic("t", assignment={1: [1, 2], 0: [2, 1]}))
    assert [(index, state.leader) for index, state in topic.partitions.items()] == [(0, 2), (1, 1)]


def test_a_topic_found_on_disk_keeps_its_id_and_goes_on_with_its_leader_epoch(
    draft: Draft,
) -> None:
    topic_id = new_uuid()
    found = NewTopic("t", assignment={0: [1], 1: [1]}, topic_id=topic_id, leader_epoch=6)
    topic = create_topic(draft, found)
    assert topic.topic_id == topic_id
    assert [state.leader_epoch for state in topic.partitions.values()] == [6, 6]


def test_partitions_missing_on_disk_begin_empty(
    draft: Draft, caplog: pytest.LogCaptureFixture
) -> None:
    topic = create_topic(draft, NewTopic("t", assignment={3: [1], 1: [1]}, topic_id=new_uuid()))
    assert list(topic.partitions) == [0, 1, 2, 3]
    assert "topic=t: [0, 2]" in caplog.text


def test_an_id_found_on_disk_twice_is_refused(draft: Draft) -> None:
    first = create_topic(draft, NewTopic("a"))
    draft.image.apply(draft.change())
    draft.ops.clear()
    again = NewTopic("b", assignment={0: [1]}, topic_id=first.topic_id)
    assert _refusal(draft, again)[0] == ErrorCode.INVALID_REQUEST


def test_a_request_for_absurdly_many_partitions_is_refused_as_a_whole() -> None:
    draft = a_draft(config={"num.partitions": "10"})
    half = MAX_PARTITIONS_PER_REQUEST // 2
    fitting = [NewTopic("a", half), NewTopic("b", half), NewTopic("c", -5)]
    check_partition_total(draft, fitting)
    for one_more in (NewTopic("d", 1), NewTopic("d"), NewTopic("d", assignment={0: [1]})):
        with pytest.raises(PolicyViolation, match=r"Excessively large number of partitions per"):
            check_partition_total(draft, [*fitting, one_more])


def test_a_deleted_topic_takes_its_nodes_along_children_first(draft: Draft) -> None:
    create_topic(draft, NewTopic("t", 1, 1))
    created = [op.path for op in draft.ops]
    draft.ops.clear()
    delete_topic(draft, "t")
    deleted = [op.path for op in draft.ops]
    assert sorted(deleted) == sorted(created)
    for path in deleted:
        after = deleted[deleted.index(path) + 1 :]
        assert not [child for child in after if child.startswith(f"{path}/")]


def test_a_topic_that_is_not_there_cannot_be_deleted_or_deleted_twice(draft: Draft) -> None:
    create_topic(draft, NewTopic("t"))
    delete_topic(draft, "t")
    for name in ("t", "none"):
        with pytest.raises(UnknownTopicOrPartition, match="does not host this topic-partition"):
            delete_topic(draft, name)


def test_new_partitions_have_as_many_replicas_as_the_old() -> None:
    draft = a_draft((1, 2))
    create_topic(draft, NewTopic("t", 1, 2))
    add_partitions(draft, MorePartitions("t", 3))
    grown = draft.topic("t")
    assert grown is not None
    assert [state.replicas for state in grown.partitions.values()] == [(1, 2), (2, 1), (1, 2)]


@pytest.mark.parametrize(
    ("wanted", "code", "words"),
    [
        (
            MorePartitions("t", 2),
            ErrorCode.INVALID_PARTITIONS,
            "Topic already has 2 partition(s).",
        ),
        (
            MorePartitions("t", 1),
            ErrorCode.INVALID_PARTITIONS,
            "The topic t currently has 2 partition(s); 1 would not be an increase.",
        ),
        (
            MorePartitions("t", 4, [[1]]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "Attempted to add 2 additional partition(s), but only 1 assignment(s) were specified.",
        ),
        (
            MorePartitions("t", 3, [[9]]),
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "The manual partition assignment includes broker 9, but no such broker is registered.",
        ),
        (
            MorePartitions("none", 3),
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            "This server does not host this topic-partition.",
        ),
        (
            MorePartitions("t", 3 + MAX_PARTITIONS_PER_REQUEST),
            ErrorCode.POLICY_VIOLATION,
            "Unable to perform excessively large batch operation.",
        ),
    ],
)
def test_partitions_that_cannot_be_added_are_refused_as_kafka_does(
    draft: Draft, wanted: MorePartitions, code: ErrorCode, words: str
) -> None:
    create_topic(draft, NewTopic("t", 2, 1))
    before = list(draft.ops)
    with pytest.raises(KwireError) as refused:
        add_partitions(draft, wanted)
    assert (refused.value.code, refused.value.message) == (code, words)
    assert draft.ops == before


def test_all_topics_of_a_request_share_the_limit_on_new_partitions(draft: Draft) -> None:
    create_topic(draft, NewTopic("a", 1, 1))
    draft.image.apply(draft.change())
    second = Draft(draft.image, draft.layers, 1)
    add_partitions(second, MorePartitions("a", MAX_PARTITIONS_PER_REQUEST))
    with pytest.raises(PolicyViolation):
        add_partitions(second, MorePartitions("a", MAX_PARTITIONS_PER_REQUEST + 2))


def test_replicas_of_new_partitions_may_be_named() -> None:
    draft = a_draft((1, 2))
    create_topic(draft, NewTopic("t", 1, 1))
    add_partitions(draft, MorePartitions("t", 3, [[2], [1]]))
    grown = draft.topic("t")
    assert grown is not None
    assert [state.leader for state in grown.partitions.values()] == [1, 2, 1]
    with pytest.raises(InvalidReplicaAssignment, match=r"with 2 replica\(s\), but this is not"):
        add_partitions(draft, MorePartitions("t", 4, [[1, 2]]))
