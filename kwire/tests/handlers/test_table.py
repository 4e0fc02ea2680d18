"""Every route: what it serves it answers, in each version, however little a request says."""

from typing import Any

import pytest

from kwire.codec.apis import Api
from kwire.codec.messages.produce import ProduceRequest
from kwire.errors import ErrorCode
from kwire.handlers.context import Peer, RequestContext
from kwire.handlers.table import ROUTES
from kwire.tests.handlers.nodes import LISTENER, OpenNode

SERVED = [
    pytest.param(key, version, id=f"{route.api.name}-v{version}")
    for key, route in ROUTES.items()
    for version in range(route.api.first_readable, route.api.versions[1] + 1)
]


def _least(api: Api) -> Any:
    """A request that says nothing; Produce must say that it wants an answer."""
    request = api.request()
    if isinstance(request, ProduceRequest):
        request.acks = 1
    return request


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_a_request_that_says_nothing_is_answered(node: OpenNode, key: int, version: int) -> None:
    """An empty list has brought down brokers before (CVE-2026-83525)."""
    assert node.ask(_least(ROUTES[key].api), version) is not None


@pytest.mark.parametrize(("key", "version"), SERVED)
def test_a_refusal_can_be_told(node: OpenNode, key: int, version: int) -> None:
    route = ROUTES[key]
    ctx = RequestContext(node.node, version, None, Peer("127.0.0.1", 50000, LISTENER))
    refusal = route.refuse(ctx, _least(route.api), ErrorCode.UNKNOWN_SERVER_ERROR)
    assert b"".join(route.api.encode_response(version)(refusal))
