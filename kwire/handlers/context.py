"""What a handler may reach, and what it is told about who asks."""

from dataclasses import dataclass
from typing import NamedTuple

from kwire.clock import Clock
from kwire.config.broker import BrokerConfig
from kwire.controller.controller import Controller
from kwire.controller.producer_ids import ProducerIds
from kwire.groups.service import GroupService
from kwire.log.flush import GroupCommit
from kwire.log.store import LogStore
from kwire.replication.fetch_sessions import FetchSessions
from kwire.replication.hosted import Hosted
from kwire.tasks import Scheduler
from kwire.transactions.service import TransactionService


class HangUp(Exception):
    """The request cannot be answered; Kafka closes the connection in such a case, and so do we."""


class Peer(NamedTuple):
    """The other end of a connection."""

    host: str
    port: int
    listener_name: str

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(slots=True)
class Node:
    """The rooms of one broker, as its handlers see them."""

    controller: Controller
    hosted: Hosted
    log_store: LogStore
    group_commit: GroupCommit
    producer_ids: ProducerIds
    fetch_sessions: FetchSessions
    groups: GroupService
    transactions: TransactionService
    scheduler: Scheduler
    clock: Clock

    @property
    def config(self) -> BrokerConfig:
        """What is in force now: dynamic settings change it while the broker runs."""
        return self.controller.layers.broker


class RequestContext(NamedTuple):
    node: Node
    version: int
    client_id: str | None
    peer: Peer
