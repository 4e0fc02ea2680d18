"""Members of groups, for tests of handlers: each step through the codec, at any version."""

from dataclasses import dataclass
from typing import Any

from kwire.codec.messages.find_coordinator import FindCoordinatorRequest
from kwire.codec.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from kwire.codec.messages.join_group import (
    JoinGroupProtocol,
    JoinGroupRequest,
    JoinGroupResponse,
)
from kwire.codec.messages.offset_commit import (
    OffsetCommitPartition,
    OffsetCommitRequest,
    OffsetCommitTopic,
)
from kwire.codec.messages.sync_group import (
    SyncGroupAssignment,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kwire.errors import ErrorCode
from kwire.tasks import Later
from kwire.tests.groups.words import subscription
from kwire.tests.handlers.nodes import OpenNode

GROUP = "a-group"


def join_request(**fields: Any) -> JoinGroupRequest:
    given = {
        "group_id": GROUP,
        "session_timeout_ms": 10_000,
        "rebalance_timeout_ms": 60_000,
        "protocol_type": "consumer",
        "protocols": [JoinGroupProtocol(name="range", metadata=subscription("orders"))],
    }
    return JoinGroupRequest(**{**given, **fields})


def find_coordinator(node: OpenNode) -> None:
    """Make the internal topic, as every client's first question does."""
    found = node.ask(FindCoordinatorRequest(key=GROUP), 1)
    assert found.error_code == ErrorCode.NONE


@dataclass
class Member:
    node: OpenNode
    member_id: str = ""
    generation: int = -1

    def join(self, version: int = 5) -> Later[JoinGroupResponse]:
        """Join; with the id that the coordinator asks for, if it does."""
        answered = self.node.begin(join_request(member_id=self.member_id), version)
        if not self.member_id and answered.value is not None:
            assert answered.value.error_code == ErrorCode.MEMBER_ID_REQUIRED
            self.member_id = answered.value.member_id
            answered = self.node.begin(join_request(member_id=self.member_id), version)
        answered.then(self._joined)
        return answered

    def sync(self, **assignments: bytes) -> Later[SyncGroupResponse]:
        request = SyncGroupRequest(
            group_id=GROUP,
            member_id=self.member_id,
            generation_id=self.generation,
            assignments=[
                SyncGroupAssignment(member_id=self.member_id, assignment=assignment)
                for assignment in assignments.values()
            ],
        )
        return self.node.begin(request, 3)

    def heartbeat(self, version: int = 3) -> HeartbeatResponse:
        request = HeartbeatRequest(
            group_id=GROUP, member_id=self.member_id, generation_id=self.generation
        )
        response: HeartbeatResponse = self.node.ask(request, version)
        return response

    def _joined(self, answer: JoinGroupResponse) -> None:
        self.member_id, self.generation = answer.member_id, answer.generation_id


def a_stable_member(node: OpenNode) -> Member:
    """A group of one, with an assignment."""
    find_coordinator(node)
    member = Member(node)
    joined = member.join()
    node.scheduler.pass_time(0)
    assert joined.done
    member.sync(own=b"assigned")
    assert member.heartbeat().error_code == ErrorCode.NONE
    return member


def commit(node: OpenNode, topic: str, *offsets: int) -> None:
    """Commit for a group without members; the first offset is for partition 0, and so on."""
    partitions = [
        OffsetCommitPartition(
            partition_index=index, committed_offset=offset, committed_metadata="a note"
        )
        for index, offset in enumerate(offsets)
    ]
    topics = [OffsetCommitTopic(name=topic, partitions=partitions)]
    answer = node.ask(OffsetCommitRequest(group_id=GROUP, topics=topics), 7)
    codes = [one.error_code for one in answer.topics[0].partitions]
    assert codes == [ErrorCode.NONE] * len(offsets)
