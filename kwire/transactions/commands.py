"""What transaction coordinators are asked to do, in our own words.

The first part comes from clients, the second from the clock and from whoever writes the markers.
What is not allowed is refused by a `KwireError`.
"""

from typing import NamedTuple

from kwire.errors import KwireError
from kwire.transactions.state import VERSION_1, ProducerIdentity
from kwire.types import TopicPartition


class NeedsProducerId(KwireError):
    """The command has to come again, with a new producer id."""


class InitProducer(NamedTuple):
    """Answered with a `ProducerIdentity`, once no transaction of the producer before is open."""

    transactional_id: str
    timeout_ms: int
    expected: ProducerIdentity | None = None
    """Who the producer was so far, if it goes on after an error (KIP-360)."""
    new_producer_id: int | None = None


class AddPartitions(NamedTuple):
    """Answered with None, once the log has them."""

    transactional_id: str
    producer: ProducerIdentity
    partitions: frozenset[TopicPartition]
    client_version: int = VERSION_1


class EndTransaction(NamedTuple):
    """Answered with the `ProducerIdentity` to go on with, before the markers are written."""

    transactional_id: str
    producer: ProducerIdentity
    is_commit: bool
    client_version: int = VERSION_1
    new_producer_id: int | None = None


class MarkersWritten(NamedTuple):
    """Every partition of a transaction knows how it ended."""

    transactional_id: str
    producer: ProducerIdentity


class MarkersMissing(NamedTuple):
    """Some partitions of a transaction could not be told yet how it ended."""

    transactional_id: str
    producer: ProducerIdentity


class WriteMarkersAgain(NamedTuple):
    transactional_id: str
    producer: ProducerIdentity


class EndTakesTooLong(NamedTuple):
    """Those who wait for a transaction to end are told to come again."""

    transactional_id: str


class AbortTimedOut(NamedTuple):
    """It is time to look for transactions that are open for too long."""


class ExpireIds(NamedTuple):
    """It is time to look for transactional ids that nobody uses any longer."""
