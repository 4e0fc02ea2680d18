"""How to run the copier of each client."""

import sys
from collections.abc import Callable

from compat_tests.faults.copiers.terms import RECORDS_PER_TRANSACTION, Terms
from compat_tests.oracle.tools import TRANSACTIONAL_MESSAGE_COPIER, java


def _python(module: str) -> Callable[[Terms], list[str]]:
    name = f"compat_tests.faults.copiers.{module}"
    return lambda terms: [sys.executable, "-m", name, *terms.words()]


def _java(terms: Terms) -> list[str]:
    """Kafka's own, which speaks the second version of the transaction protocol (KIP-890)."""
    return java(
        TRANSACTIONAL_MESSAGE_COPIER,
        *("--broker-list", terms.address),
        *("--input-topic", terms.source),
        *("--input-partition", "-1"),
        *("--output-topic", terms.target),
        *("--consumer-group", terms.group),
        *("--transactional-id", terms.transactional_id),
        *("--transaction-size", str(RECORDS_PER_TRANSACTION)),
        *("--transaction-timeout", str(terms.transaction_timeout_ms)),
        "--enable-random-aborts",
        "--group-mode",
        "--use-group-metadata",
    )


COPIERS: dict[str, Callable[[Terms], list[str]]] = {
    "confluent": _python("confluent"),
    "kafka-python": _python("kafka_python"),
    "aiokafka": _python("aio"),
    "java": _java,
}
