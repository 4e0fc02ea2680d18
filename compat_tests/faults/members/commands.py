"""How to run a member of each client, and which kinds of groups each client knows."""

import sys
from collections.abc import Callable

from compat_tests.faults.members.terms import SESSION_TIMEOUT_MS, Terms
from compat_tests.oracle.tools import VERIFIABLE_CONSUMER, java

CLASSIC_JAVA = {
    "eager": "org.apache.kafka.clients.consumer.RangeAssignor",
    "cooperative": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}
FLAVOURS = {
    "confluent": ("eager", "cooperative", "consumer"),
    "kafka-python": ("eager", "cooperative"),
    "aiokafka": ("eager",),
    "java": ("eager", "cooperative", "consumer"),
}
"""`consumer` is the new protocol (KIP-848), the others are classic."""


def _python(module: str) -> Callable[[Terms], list[str]]:
    name = f"compat_tests.faults.members.{module}"
    return lambda terms: [sys.executable, "-m", name, *terms.words()]


def _java(terms: Terms) -> list[str]:
    options = ["--bootstrap-server", terms.address, "--topic", terms.topic]
    options += ["--group-id", terms.group, "--reset-policy", "earliest"]
    if terms.flavour == "consumer":
        options += ["--group-protocol", "consumer"]
    else:
        options += ["--group-protocol", "classic", "--session-timeout", str(SESSION_TIMEOUT_MS)]
        options += ["--assignment-strategy", CLASSIC_JAVA[terms.flavour]]
    if terms.instance:
        options += ["--group-instance-id", terms.instance]
    return java(VERIFIABLE_CONSUMER, *options)


MEMBERS: dict[str, Callable[[Terms], list[str]]] = {
    "confluent": _python("confluent"),
    "kafka-python": _python("kafka_python"),
    "aiokafka": _python("aio"),
    "java": _java,
}
