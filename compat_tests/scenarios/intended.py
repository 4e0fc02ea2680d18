"""Where kwire answers otherwise than Kafka on purpose: each with its reason.

A difference that is gone is a failed test, so this list tells no more than is true. What a user
could notice stands in docs/reference/differences.md too.
"""

import re
from typing import NamedTuple

from compat_tests.scenarios.recordings import Difference


class Intended(NamedTuple):
    why: str
    seen_in: tuple[str, str]
    """A module and a scenario of it in which the difference shows."""
    path: str
    """A pattern of steps and fields; kwire may differ there and nowhere else."""
    kafka: str | None = None
    here: str | None = None
    only_there: bool = False

    def covers(self, stem: str, name: str, found: Difference) -> bool:
        return (
            (not self.only_there or (stem, name) == self.seen_in)
            and re.search(self.path, found.asked + found.path) is not None
            and self.kafka in (None, found.kafka)
            and self.here in (None, found.here)
        )


INTENDED = (
    Intended(
        "kwire says in words what is wrong where Kafka leaves the words to the client",
        seen_in=("transactions.idempotence", "a gap is refused"),
        path=r"\.error_message$",
        kafka="the default",
        here='"<words>"',
    ),
    Intended(
        "kwire leaves the words of FindCoordinator to the client; Kafka's are NONE for no error",
        seen_in=("groups.finding", "every version names the coordinator of a group"),
        path=r"FindCoordinator v\d\.(coordinators\[\d\]\.)?error_message$",
        kafka='"<words>"',
        here="the default",
    ),
    Intended(
        "aborted transactions come in the order of their first offsets, which readers rely on",
        seen_in=(
            "transactions.reading",
            "aborted transactions that end in another order are all named",
        ),
        path=r"\.aborted_transactions\[\d\]\.",
        only_there=True,
    ),
    Intended(
        "the topics that match a pattern are in the very first answer, not in a later one",
        seen_in=("groups.modern", "a subscription by pattern gets what matches"),
        path=r"\.(member_epoch|topic_partitions)$",
        only_there=True,
    ),
    Intended(
        "Kafka fails over a subscription it cannot read, and never answers",
        seen_in=(
            "groups.joining",
            "a subscription that claims more topics than it holds is no reason to fail",
        ),
        path=r"JoinGroup v\d+$",
        kafka='"silence"',
        only_there=True,
    ),
)
