"""Asking a group's coordinator: found anew, and waited for while it is not there yet."""

from collections.abc import Iterator
from typing import Any

import pytest

from kwire.codec.apis import DELETE_GROUPS, FIND_COORDINATOR, METADATA
from kwire.codec.messages.delete_groups import (
    DeletableGroupResult,
    DeleteGroupsRequest,
    DeleteGroupsResponse,
)
from kwire.codec.messages.find_coordinator import Coordinator, FindCoordinatorResponse
from kwire.codec.messages.metadata import MetadataBroker, MetadataResponse
from kwire.errors import ErrorCode
from kwire.peers.client import Client
from kwire.peers.coordinators import ask_coordinator, coordinator_of
from kwire.peers.failures import Refused
from kwire.tests.peers.fake_broker import FakeBroker


class _Coordinating(FakeBroker):
    """Node 1 coordinates; the codes that stand in line are answered first."""

    def __init__(self) -> None:
        self.not_found: list[ErrorCode] = []
        self.not_deleted: list[ErrorCode] = []
        super().__init__()
        self.answers[METADATA] = lambda _: self._metadata()
        self.answers[FIND_COORDINATOR] = lambda _: self._find()
        self.answers[DELETE_GROUPS] = lambda _: self._delete()

    def _metadata(self) -> MetadataResponse:
        host, port = self.address
        return MetadataResponse(brokers=[MetadataBroker(node_id=1, host=host, port=port)])

    def _find(self) -> FindCoordinatorResponse:
        code = self.not_found.pop(0) if self.not_found else ErrorCode.NONE
        found = Coordinator(key="g", node_id=1, error_code=code)
        return FindCoordinatorResponse(error_code=code, node_id=1, coordinators=[found])

    def _delete(self) -> DeleteGroupsResponse:
        code = self.not_deleted.pop(0) if self.not_deleted else ErrorCode.NONE
        return DeleteGroupsResponse(results=[DeletableGroupResult(group_id="g", error_code=code)])


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Iterator[_Coordinating]:
    monkeypatch.setattr("kwire.peers.coordinators.RETRY_PAUSE_S", 0.0)
    with _Coordinating() as fake:
        yield fake


def _delete(client: Client) -> Any:
    request = DeleteGroupsRequest(groups_names=["g"])
    answer = ask_coordinator(
        client, "g", DELETE_GROUPS, request, lambda told: told.results[0].error_code
    )
    return answer.results[0].error_code


@pytest.mark.parametrize("newest", [3, 6])
def test_old_and_new_brokers_tell_who_coordinates(broker: _Coordinating, newest: int) -> None:
    broker.newest[FIND_COORDINATOR] = newest
    with Client([broker.address]) as client:
        assert coordinator_of(client, "g") == 1
    (asked,) = broker.asked_for(FIND_COORDINATOR)
    assert (asked.key, asked.coordinator_keys) == (("g", []) if newest == 3 else ("", ["g"]))


def test_a_coordinator_that_is_not_there_yet_is_waited_for(broker: _Coordinating) -> None:
    broker.not_found = [ErrorCode.COORDINATOR_NOT_AVAILABLE]
    broker.not_deleted = [ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, ErrorCode.NOT_COORDINATOR]
    with Client([broker.address]) as client:
        assert _delete(client) == ErrorCode.NONE
    assert len(broker.asked_for(FIND_COORDINATOR)) == 4


def test_what_does_not_pass_by_itself_is_for_the_caller(broker: _Coordinating) -> None:
    broker.not_deleted = [ErrorCode.NON_EMPTY_GROUP]
    with Client([broker.address]) as client:
        assert _delete(client) == ErrorCode.NON_EMPTY_GROUP


def test_nobody_waits_for_ever(broker: _Coordinating) -> None:
    broker.not_found = [ErrorCode.COORDINATOR_NOT_AVAILABLE] * 100_000
    with Client([broker.address], timeout_s=0.2) as client, pytest.raises(Refused) as refused:
        coordinator_of(client, "g")
    assert refused.value.code == ErrorCode.COORDINATOR_NOT_AVAILABLE


def test_a_refusal_that_stays_is_told_at_once(broker: _Coordinating) -> None:
    broker.not_found = [ErrorCode.GROUP_AUTHORIZATION_FAILED]
    with Client([broker.address]) as client, pytest.raises(Refused, match="coordinator of group g"):
        coordinator_of(client, "g")
