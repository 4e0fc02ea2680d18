"""Heartbeats that no group could make sense of, and those that are for the group to decide."""

import pytest

from kwire.errors import (
    InvalidRegularExpression,
    InvalidRequest,
    KwireError,
    UnsupportedAssignor,
)
from kwire.groups.commands import ConsumerHeartbeat
from kwire.groups.modern_members import NONE, IdPartition
from kwire.groups.modern_requests import check_request


def _join(**given: object) -> ConsumerHeartbeat:
    full = ConsumerHeartbeat(
        "g", "m", 0, topics=frozenset({"t"}), rebalance_timeout_ms=1000, owned=NONE
    )
    return full._replace(**given)  # type: ignore[arg-type]  # each has the type of its field


def _beat(**given: object) -> ConsumerHeartbeat:
    return ConsumerHeartbeat("g", "m", 2)._replace(**given)  # type: ignore[arg-type]  # as above


@pytest.mark.parametrize(
    ("command", "refusal", "words"),
    [
        (_join(group_id=""), InvalidRequest, "GroupId can't be empty."),
        (_join(group_id=" "), InvalidRequest, "GroupId can't be empty."),
        (_join(member_id=""), InvalidRequest, "MemberId can't be empty."),
        (_beat(member_id="", makes_own_id=False), InvalidRequest, "MemberId can't be empty."),
        (_join(instance_id=""), InvalidRequest, "InstanceId can't be empty."),
        (_join(rack_id=" "), InvalidRequest, "RackId can't be empty."),
        (_join(rebalance_timeout_ms=None), InvalidRequest, "RebalanceTimeoutMs must be provided"),
        (_join(owned=None), InvalidRequest, "TopicPartitions must be empty"),
        (_join(owned={IdPartition(b"t", 0)}), InvalidRequest, "TopicPartitions must be empty"),
        (_join(topics=None), InvalidRequest, "Either SubscribedTopicNames or SubscribedTopicRegex"),
        (_beat(member_epoch=-3), InvalidRequest, "MemberEpoch is invalid."),
        (_beat(member_epoch=-2), InvalidRequest, "InstanceId can't be null."),
        (_join(assignor="mine"), UnsupportedAssignor, "mine is not supported"),
        (_join(regex="["), InvalidRegularExpression, "is not a valid regular expression"),
    ],
)
def test_what_no_group_could_make_sense_of_is_refused(
    command: ConsumerHeartbeat, refusal: type[KwireError], words: str
) -> None:
    with pytest.raises(refusal, match=words):
        check_request(command, ("uniform", "range"))


@pytest.mark.parametrize(
    "command",
    [
        _join(),
        _join(member_id="", makes_own_id=False),
        _join(topics=None, regex="t.*"),
        _join(topics=None, regex=""),
        _join(assignor="range"),
        _beat(),
        _beat(member_epoch=-1),
        _beat(member_epoch=-2, instance_id="i"),
    ],
)
def test_everything_else_is_for_the_group_to_decide(command: ConsumerHeartbeat) -> None:
    check_request(command, ("uniform", "range"))
