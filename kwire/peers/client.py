"""A small client of a whole cluster: it finds brokers, controller and leaders by Metadata.

Blocking and single-threaded. The command line uses it; nothing here depends on another Kafka
client. Answers are handed back as they are: what an error code in them means is for the caller.
"""

import time
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Self

from kwire.codec.apis import METADATA, Api
from kwire.codec.messages.metadata import (
    MetadataRequest,
    MetadataRequestTopic,
    MetadataResponse,
)
from kwire.errors import ErrorCode
from kwire.peers.connection import Address, Connection
from kwire.peers.failures import Disconnected, Refused, TookTooLong, Unreachable

RETRY_PAUSE_S = 0.1

# Errors that pass by themselves: a topic that was just made, a leader that just moved.
PASSING = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.LEADER_NOT_AVAILABLE,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.REPLICA_NOT_AVAILABLE,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.OFFSET_NOT_AVAILABLE,
        ErrorCode.KAFKA_STORAGE_ERROR,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_CONTROLLER,
    }
)


_HINTS: dict[int, str] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "there is no such topic",
    ErrorCode.INVALID_TOPIC_EXCEPTION: "a topic cannot have that name",
}


class TopicView(NamedTuple):
    """A topic as Metadata tells it, with the leader of each partition."""

    name: str
    topic_id: bytes
    leaders: dict[int, int]

    def by_leader(self, partitions: Iterable[int]) -> dict[int, list[int]]:
        """The partitions under the node that leads them."""
        grouped: dict[int, list[int]] = {}
        for partition in sorted(partitions):
            grouped.setdefault(self.leaders[partition], []).append(partition)
        return grouped


class Client:
    """A client of the cluster behind some bootstrap addresses."""

    def __init__(
        self, bootstrap: Sequence[Address], *, client_id: str = "kwire", timeout_s: float = 10.0
    ) -> None:
        self._bootstrap = tuple(bootstrap)
        self._client_id = client_id
        self.timeout_s = timeout_s
        self._nodes: dict[int, Address] = {}
        self._controller_id = -1
        self._open: dict[Address, Connection] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        for connection in self._open.values():
            connection.close()
        self._open.clear()

    @property
    def timeout_ms(self) -> int:
        """How long a broker may take, as requests tell it."""
        return int(self.timeout_s * 1000)

    def ask(self, api: Api, message: Any) -> Any:
        """Ask any broker that answers."""
        failures: list[str] = []
        for address in dict.fromkeys((*self._open, *self._nodes.values(), *self._bootstrap)):
            try:
                return self._request(address, api, message)
            except (Unreachable, Disconnected) as failed:
                failures.append(str(failed))
        raise Unreachable("; ".join(failures))

    def ask_node(
        self, node_id: int, api: Api, message: Any, *, wait_s: float = 0.0, may_repeat: bool = True
    ) -> Any:
        """Ask one broker by its id.

        `wait_s` is what the request itself may wait there. `may_repeat` is False for what must not
        be done twice if the connection breaks before the answer is here.
        """
        address = self._address_of(node_id)
        timeout_s = self.timeout_s + wait_s
        try:
            return self._request(address, api, message, timeout_s=timeout_s, may_repeat=may_repeat)
        except Unreachable as failed:
            # Often the wrong advertised listener, so it must be told where the address is from.
            raise Unreachable(f"{failed} (the cluster says that node {node_id} is there)") from None

    def send_to_node(self, node_id: int, api: Api, message: Any) -> None:
        """Send one broker what it does not answer."""
        address = self._address_of(node_id)
        try:
            self._connection(address).send(api, message)
        except Disconnected:
            self._forget(address)
            raise

    def ask_controller(self, api: Api, message: Any) -> Any:
        """Ask the broker that changes topics."""
        if self._controller_id not in self._nodes:
            self.metadata([])
        if self._controller_id not in self._nodes:
            return self.ask(api, message)
        return self.ask_node(self._controller_id, api, message, may_repeat=False)

    def metadata(self, names: Iterable[str] | None, *, create: bool = False) -> MetadataResponse:
        """The cluster with the named topics (all of them for None), as the broker tells it."""
        wanted = None if names is None else [MetadataRequestTopic(name=name) for name in names]
        request = MetadataRequest(topics=wanted, allow_auto_topic_creation=create)
        answer: MetadataResponse = self.ask(METADATA, request)
        self._nodes = {each.node_id: Address(each.host, each.port) for each in answer.brokers}
        self._controller_id = answer.controller_id
        return answer

    def topic(self, name: str, *, create: bool = False) -> TopicView:
        """One topic with a leader for every partition; waits for what is just being made."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            (told,) = self.metadata([name], create=create).topics
            codes = [told.error_code, *(each.error_code for each in told.partitions)]
            problem = next((code for code in codes if code), ErrorCode.NONE)
            if not problem:
                leaders = {each.partition_index: each.leader_id for each in told.partitions}
                return TopicView(name, told.topic_id, leaders)
            is_missing = problem == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and not create
            if is_missing or problem not in PASSING or time.monotonic() >= deadline:
                raise Refused(problem, _HINTS.get(problem), what=f"topic {name}")
            time.sleep(RETRY_PAUSE_S)

    def topic_after_trouble(self, name: str) -> TopicView:
        """The topic as it is once a broker answers again, which may be after a short while."""
        deadline = time.monotonic() + self.timeout_s
        while True:
            time.sleep(RETRY_PAUSE_S)
            try:
                return self.topic(name)
            except (Unreachable, Disconnected):
                if time.monotonic() >= deadline:
                    raise

    def _address_of(self, node_id: int) -> Address:
        if node_id not in self._nodes:
            self.metadata([])
        if node_id not in self._nodes:
            raise Unreachable(f"the cluster does not say where node {node_id} is")
        return self._nodes[node_id]

    def _request(
        self,
        address: Address,
        api: Api,
        message: Any,
        *,
        timeout_s: float | None = None,
        may_repeat: bool = True,
    ) -> Any:
        """Ask at an address; once more, on a new connection, if one that stood idle has ended."""
        was_open = address in self._open
        try:
            return self._connection(address).request(api, message, timeout_s=timeout_s)
        except Disconnected:
            self._forget(address)
            if not (was_open and may_repeat):
                raise
        except TookTooLong:
            self._forget(address)
            raise
        return self._request(address, api, message, timeout_s=timeout_s, may_repeat=False)

    def _connection(self, address: Address) -> Connection:
        if address not in self._open:
            self._open[address] = Connection(
                address, client_id=self._client_id, timeout_s=self.timeout_s
            )
        return self._open[address]

    def _forget(self, address: Address) -> None:
        connection = self._open.pop(address, None)
        if connection is not None:
            connection.close()
