"""One run of one scenario against one broker: it asks, and remembers every answer.

Names are the run's own, so that scenarios never meet each other on a broker. Each request goes on
a connection of its own: what the broker knows of a group or a producer it knows by name, not by
connection.
"""

import time
import uuid
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from compat_tests.bad_input.talk import Outcome, exchange
from compat_tests.bad_input.wire import frame
from compat_tests.scenarios.masks import Masks
from kwire.codec.apis import CREATE_TOPICS, LIST_OFFSETS, Api
from kwire.codec.header import decode_response, encode_request
from kwire.codec.messages.create_topics import CreatableTopic
from kwire.codec.messages.list_offsets import ListOffsetsPartition, ListOffsetsTopic
from kwire.errors import ErrorCode

CLIENT_ID = "scenario"
PATIENCE_S = 5.0

Accept = Callable[[Any], bool]


class Step(NamedTuple):
    """What was asked, in words, and the answer without what differs from run to run."""

    asked: str
    answer: Any


class Topic(NamedTuple):
    name: str
    topic_id: bytes


class Parked:
    """A request that the broker may keep until something else happens."""

    def __init__(self, play: "Play", api: Api, version: int, outcome: Future[Outcome]) -> None:
        self._play = play
        self._api = api
        self._version = version
        self._outcome = outcome

    def answer(self) -> Any:
        """Wait for the answer; it counts as a step from here on."""
        return self._play.record(self._api, self._version, self._outcome.result())


class Play:
    """`before_step`, if given, is called with the number of each step before it is taken."""

    def __init__(self, address: str, before_step: Callable[[int], None] | None = None) -> None:
        self.steps: list[Step] = []
        self._address = address
        self._before_step = before_step
        self._token = uuid.uuid4().hex[:10]
        self._masks = Masks(f"-{self._token}")
        self._threads = ThreadPoolExecutor(max_workers=4)

    def close(self) -> None:
        self._threads.shutdown(cancel_futures=True)

    def name(self, noun: str) -> str:
        """A name of this run's own, which is `noun` in every recording."""
        return f"{noun}-{self._token}"

    def ask(self, api: Api, version: int, *, until: Accept | None = None, **fields: Any) -> Any:
        """Ask and record the answer; with `until`, only the first answer that will do."""
        if self._before_step is not None:
            self._before_step(len(self.steps) + 1)
        return self.record(api, version, self._ask(api, version, until, fields))

    def ask_later(self, api: Api, version: int, **fields: Any) -> Parked:
        """Send, and go on without the answer; the broker may have read it or not."""
        outcome = self._threads.submit(self._exchange, api, version, fields)
        return Parked(self, api, version, outcome)

    def arrange(self, api: Api, version: int, *, until: Accept | None = None, **fields: Any) -> Any:
        """Ask for something the scenario needs and is not about: nothing is recorded."""
        return self._read(api, version, self._ask(api, version, until, fields))

    def topic(self, noun: str = "topic", *, partitions: int = 2) -> Topic:
        """A new topic that is led, so that nobody is told to come back later."""
        name = self.name(noun)
        wanted = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)
        created = self.arrange(CREATE_TOPICS, 7, topics=[wanted], timeout_ms=10_000)
        assert created.topics[0].error_code == ErrorCode.NONE, created
        latest = [ListOffsetsPartition(partition_index=n, timestamp=-1) for n in range(partitions)]
        self.arrange(
            LIST_OFFSETS,
            7,
            replica_id=-1,
            topics=[ListOffsetsTopic(name=name, partitions=latest)],
            until=lambda told: all(
                one.error_code == ErrorCode.NONE for one in told.topics[0].partitions
            ),
        )
        topic = Topic(name, created.topics[0].topic_id)
        self._masks.know_topic(topic.topic_id, noun)
        return topic

    def record(self, api: Api, version: int, outcome: Outcome) -> Any:
        answer = self._read(api, version, outcome)
        shown = str(outcome) if answer is None else self._masks.show(answer, api, version)
        self.steps.append(Step(f"{len(self.steps) + 1}. {api.name} v{version}", shown))
        return answer

    def _ask(self, api: Api, version: int, until: Accept | None, fields: dict[str, Any]) -> Outcome:
        deadline = time.monotonic() + PATIENCE_S
        while True:
            outcome = self._exchange(api, version, fields)
            answer = self._read(api, version, outcome)
            # An answer that never comes right is recorded as it is: the comparison will tell.
            if until is None or answer is None or until(answer) or time.monotonic() > deadline:
                return outcome

    def _exchange(self, api: Api, version: int, fields: dict[str, Any]) -> Outcome:
        parts = encode_request(api, version, 1, CLIENT_ID, api.request(**fields))
        return exchange(self._address, frame(b"".join(parts)))

    def _read(self, api: Api, version: int, outcome: Outcome) -> Any:
        if outcome.answer is None:
            return None
        _, answer = decode_response(api, version, memoryview(outcome.answer))
        return answer
