"""What recordings leave out, and what they must not."""

from compat_tests.scenarios.masks import Masks
from kwire.codec.apis import (
    FETCH,
    FIND_COORDINATOR,
    HEARTBEAT,
    INIT_PRODUCER_ID,
    JOIN_GROUP,
    LIST_GROUPS,
    OFFSET_FETCH,
)
from kwire.codec.messages.fetch import FetchPartitionResponse, FetchResponse, FetchTopicResponse
from kwire.codec.messages.find_coordinator import FindCoordinatorResponse
from kwire.codec.messages.heartbeat import HeartbeatResponse
from kwire.codec.messages.init_producer_id import InitProducerIdResponse
from kwire.codec.messages.join_group import JoinGroupMember, JoinGroupResponse
from kwire.codec.messages.list_groups import ListedGroup, ListGroupsResponse
from kwire.codec.messages.offset_fetch import OffsetFetchGroupResponse, OffsetFetchResponse
from kwire.codec.records.builder import build_batch, number
from kwire.codec.records.control import marker_key, marker_value
from kwire.errors import ErrorCode

ONE = "client-00000000-0000-4000-8000-000000000001"
TWO = "client-00000000-0000-4000-8000-000000000002"


def test_codes_are_shown_by_name_and_throttling_is_not() -> None:
    answer = HeartbeatResponse(throttle_time_ms=7, error_code=ErrorCode.ILLEGAL_GENERATION)
    assert Masks("-run").show(answer, HEARTBEAT, 4) == {"error_code": "ILLEGAL_GENERATION"}


def test_only_fields_of_the_version_are_shown() -> None:
    assert Masks("-run").show(OffsetFetchResponse(), OFFSET_FETCH, 1) == {}
    assert Masks("-run").show(OffsetFetchResponse(), OFFSET_FETCH, 2) == {"error_code": "NONE"}
    answer = OffsetFetchResponse(groups=[OffsetFetchGroupResponse(group_id="group-run")])
    assert Masks("-run").show(answer, OFFSET_FETCH, 8)["groups"][0]["group_id"] == "group"


def test_ids_are_named_in_the_order_they_are_seen_in() -> None:
    masks = Masks("-run")
    members = [JoinGroupMember(member_id=TWO), JoinGroupMember(member_id=ONE)]
    answer = JoinGroupResponse(leader=TWO, member_id=ONE, members=members)
    shown = masks.show(answer, JOIN_GROUP, 9)
    assert (shown["leader"], shown["member_id"]) == ("client-<id 1>", "client-<id 2>")
    assert [one["member_id"] for one in shown["members"]] == ["client-<id 1>", "client-<id 2>"]


def test_producers_keep_their_names_within_a_run() -> None:
    masks = Masks("-run")
    told = [
        masks.show(InitProducerIdResponse(producer_id=given), INIT_PRODUCER_ID, 4)["producer_id"]
        for given in (4000, 5000, 4000)
    ]
    assert told == ["<producer 1>", "<producer 2>", "<producer 1>"]


def test_nobody_at_no_place_is_told_from_somebody_somewhere() -> None:
    nobody = FindCoordinatorResponse(node_id=-1, host="", port=-1)
    somebody = FindCoordinatorResponse(node_id=3, host="localhost", port=9092)
    shown = [Masks("-run").show(one, FIND_COORDINATOR, 0) for one in (nobody, somebody)]
    assert [one["port"] for one in shown] == [-1, "<port>"]
    assert [one.get("host") for one in shown] == [None, "<host>"]


def test_groups_of_other_runs_are_not_listed() -> None:
    listed = [ListedGroup(group_id="b-run"), ListedGroup(group_id="c-else"), ListedGroup()]
    shown = Masks("-run").show(ListGroupsResponse(groups=listed), LIST_GROUPS, 0)
    assert [group["group_id"] for group in shown["groups"]] == ["b"]


def test_batches_are_shown_by_their_headers() -> None:
    data = build_batch(number([(b"k", b"v")] * 2, 1), producer_id=9, producer_epoch=1)
    pair = (marker_key(is_abort=True), marker_value(0))
    end = build_batch(number([pair], 1, base_offset=2), base_offset=2, producer_id=9, control=True)
    partition = FetchPartitionResponse(records=bytes(data + end))
    answer = FetchResponse(responses=[FetchTopicResponse(partitions=[partition])])
    shown = Masks("-run").show(answer, FETCH, 12)["responses"][0]["partitions"][0]["records"]
    assert [batch["offsets"] for batch in shown] == [[0, 1], [2, 2]]
    assert [batch["producer_id"] for batch in shown] == ["<producer 1>"] * 2
    assert shown[1]["marker"] == "abort"
