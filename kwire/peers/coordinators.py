"""Asking the broker that coordinates a group."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

from kwire.codec.apis import FIND_COORDINATOR, Api
from kwire.codec.messages.find_coordinator import (
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kwire.errors import ErrorCode
from kwire.peers.client import RETRY_PAUSE_S, Client
from kwire.peers.failures import Refused, check

T = TypeVar("T")

# Errors of a coordinator that is about to be there, here or on another broker.
PASSING = frozenset(
    {
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
    }
)


def coordinator_of(client: Client, group_id: str) -> int:
    """The node that coordinates a group; waits for one that is just being made."""
    return _until_ready(client, lambda: _find(client, group_id))


def ask_coordinator(
    client: Client, group_id: str, api: Api, message: Any, code_of: Callable[[Any], int]
) -> Any:
    """Ask a group's coordinator; `code_of` finds in its answer whether it is there at all.

    Only errors that pass by themselves are looked at here; what else the answer says is for the
    caller.
    """

    def ask() -> Any:
        answer = client.ask_node(_find(client, group_id), api, message)
        code = code_of(answer)
        if code in PASSING:
            raise Refused(code, what=f"group {group_id}")
        return answer

    return _until_ready(client, ask)


def _find(client: Client, group_id: str) -> int:
    # Newer brokers take many keys, older ones one.
    request = FindCoordinatorRequest(key=group_id, coordinator_keys=[group_id])
    answer: FindCoordinatorResponse = client.ask(FIND_COORDINATOR, request)
    found = answer.coordinators[0] if answer.coordinators else answer
    check(found.error_code, found.error_message, what=f"coordinator of group {group_id}")
    return found.node_id


def _until_ready(client: Client, ask: Callable[[], T]) -> T:
    deadline = time.monotonic() + client.timeout_s
    while True:
        try:
            return ask()
        except Refused as refused:
            if refused.code not in PASSING or time.monotonic() >= deadline:
                raise
        time.sleep(RETRY_PAUSE_S)
