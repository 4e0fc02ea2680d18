"""Which heartbeats of the new protocol make sense, whatever the group (KIP-848)."""

from kwire.errors import InvalidRequest, UnsupportedAssignor
from kwire.groups.commands import ConsumerHeartbeat
from kwire.groups.modern_members import JOINS, LEAVES_FOR_NOW, NONE
from kwire.groups.topic_patterns import pattern


def check_request(command: ConsumerHeartbeat, assignors: tuple[str, ...]) -> None:
    """Refuse what no group could make sense of."""
    _check_names(command)
    if command.member_epoch == JOINS:
        _check_join(command)
    elif command.member_epoch < LEAVES_FOR_NOW:
        raise InvalidRequest("MemberEpoch is invalid.")
    if command.member_epoch == LEAVES_FOR_NOW and command.instance_id is None:
        raise InvalidRequest("InstanceId can't be null.")
    if command.assignor is not None and command.assignor not in assignors:
        raise UnsupportedAssignor(
            f"ServerAssignor {command.assignor} is not supported."
            f" Supported assignors: {', '.join(assignors)}."
        )
    if command.regex:
        pattern(command.regex)


def _check_names(command: ConsumerHeartbeat) -> None:
    must_have_id = command.makes_own_id or command.member_epoch != JOINS
    for name, value in (
        ("MemberId", command.member_id if must_have_id else None),
        ("GroupId", command.group_id),
        ("InstanceId", command.instance_id),
        ("RackId", command.rack_id),
    ):
        if value is not None and not value.strip():
            raise InvalidRequest(f"{name} can't be empty.")


def _check_join(command: ConsumerHeartbeat) -> None:
    if command.rebalance_timeout_ms is None:
        raise InvalidRequest("RebalanceTimeoutMs must be provided in first request.")
    if command.owned != NONE:
        raise InvalidRequest("TopicPartitions must be empty when (re-)joining.")
    if command.topics is None and command.regex is None:
        raise InvalidRequest(
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when"
            " (re-)joining."
        )
