"""The route table: every API this broker serves, and so every API it advertises.

A route's handler lives in the module with the API's stem; it is imported with the first request, so
that a broker answers its first client before it has loaded what nobody asked for.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from kwire.codec import apis
from kwire.codec.apis import Api
from kwire.errors import ErrorCode
from kwire.handlers.context import RequestContext

Handle = Callable[[RequestContext, Any], Any]
Refuse = Callable[[RequestContext, Any, ErrorCode], Any]


class Route:
    __slots__ = ("_module", "api")

    def __init__(self, api: Api) -> None:
        self.api = api
        self._module: Any = None

    @property
    def handle(self) -> Handle:
        """Answer a request: at once, later, or (`None`) not at all."""
        handle: Handle = self._loaded().handle
        return handle

    @property
    def refuse(self) -> Refuse:
        """The answer that tells `code` in the way this API and version tell it."""
        refuse: Refuse = self._loaded().refuse
        return refuse

    def _loaded(self) -> Any:
        if self._module is None:
            self._module = import_module(f"kwire.handlers.{self.api.stem}")
        return self._module


ROUTES: dict[int, Route] = {
    api.key: Route(api)
    for api in (
        apis.PRODUCE,
        apis.FETCH,
        apis.LIST_OFFSETS,
        apis.METADATA,
        apis.OFFSET_COMMIT,
        apis.OFFSET_FETCH,
        apis.FIND_COORDINATOR,
        apis.JOIN_GROUP,
        apis.HEARTBEAT,
        apis.LEAVE_GROUP,
        apis.SYNC_GROUP,
        apis.DESCRIBE_GROUPS,
        apis.LIST_GROUPS,
        apis.API_VERSIONS,
        apis.CREATE_TOPICS,
        apis.DELETE_TOPICS,
        apis.DELETE_RECORDS,
        apis.INIT_PRODUCER_ID,
        apis.OFFSET_FOR_LEADER_EPOCH,
        apis.ADD_PARTITIONS_TO_TXN,
        apis.ADD_OFFSETS_TO_TXN,
        apis.END_TXN,
        apis.WRITE_TXN_MARKERS,
        apis.TXN_OFFSET_COMMIT,
        apis.DESCRIBE_CONFIGS,
        apis.ALTER_CONFIGS,
        apis.DESCRIBE_LOG_DIRS,
        apis.CREATE_PARTITIONS,
        apis.DELETE_GROUPS,
        apis.INCREMENTAL_ALTER_CONFIGS,
        apis.OFFSET_DELETE,
        apis.DESCRIBE_CLUSTER,
        apis.DESCRIBE_PRODUCERS,
        apis.DESCRIBE_TRANSACTIONS,
        apis.LIST_TRANSACTIONS,
        apis.CONSUMER_GROUP_HEARTBEAT,
        apis.CONSUMER_GROUP_DESCRIBE,
        apis.DESCRIBE_TOPIC_PARTITIONS,
    )
}
