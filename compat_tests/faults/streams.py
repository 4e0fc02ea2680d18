"""Kafka Streams counts words exactly once (`exactly_once_v2`) while broker and program are killed.

The program is Kafka's own example, unchanged: it reads lines, counts in a store that it keeps in a
compacted changelog topic, and writes all counts whenever the lines are a second further on.
"""

import random
import threading
import time
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from compat_tests.crash.ledger import Broken
from compat_tests.faults.mortal import MortalBroker
from compat_tests.faults.offsets import Bystander
from compat_tests.faults.workers import Worker
from compat_tests.oracle.tools import STREAMS_WORD_COUNT, java
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.values import Sent

LINES = "streams-plaintext-input"
COUNTS = "streams-wordcount-processor-output"
LAST_WORD = "over"
WORDS = ("all", "streams", "lead", "to", "kafka", "join", "hello", "once")
WORDS_PER_LINE = 5
COMMIT_INTERVAL_MS = 100
BETWEEN_LINES_MS = 100
PATIENCE_S = 60.0


class Summary(NamedTuple):
    lines: int
    words: int
    broker_kills: int
    program_kills: int
    gave_up: int
    counted_s: float

    def __str__(self) -> str:
        return (
            f"Kafka Streams counted {self.words} words of {self.lines} lines in"
            f" {self.counted_s:.1f} s, each of them once; broker killed {self.broker_kills} times,"
            f" the program {self.program_kills} times; it gave up {self.gave_up} times"
        )


def run(data_dir: Path, lines: int, kills: int) -> Summary:
    """Write the lines in pieces, and kill the broker after each while they are being counted."""
    with MortalBroker(data_dir, {}) as broker:
        client = Confluent(broker.address)
        client.create(LINES)
        client.create(COUNTS)
        written = _lines(lines)
        began = time.monotonic()
        program = Worker(java(STREAMS_WORD_COUNT, str(_properties(data_dir, broker.address))))
        try:
            size = len(written) // (kills + 1) + 1
            for number, start in enumerate(range(0, len(written), size)):
                client.write(LINES, written[start : start + size], idempotent=True)
                _wait_for(broker.address, _counted(written[: start + size // 4]), program)
                if number < kills:
                    broker.restart() if number % 2 == 0 else program.kill()
            wanted = _counted(written)
            _wait_for(broker.address, wanted, program)
        finally:
            program.retire()
        counted_s = time.monotonic() - began
        _expect_right(_read(broker.address), wanted)
    words = sum(wanted.values())
    return Summary(lines, words, broker.kills, kills - broker.kills, program.gave_up, counted_s)


def _properties(data_dir: Path, address: str) -> Path:
    path = data_dir.with_name("streams.properties")
    settings = {
        "bootstrap.servers": address,
        "processing.guarantee": "exactly_once_v2",
        "commit.interval.ms": COMMIT_INTERVAL_MS,
        "consumer.session.timeout.ms": 6000,
        "consumer.heartbeat.interval.ms": 500,
        "state.dir": data_dir.with_name("streams-state"),
    }
    path.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return path


def _lines(count: int) -> list[Sent]:
    """So many lines, and one that comes much later and makes the program tell the last counts."""
    chance = random.Random(count)
    start_ms = time.time_ns() // 1_000_000 - (count + 100) * BETWEEN_LINES_MS
    texts = [" ".join(chance.choices(WORDS, k=WORDS_PER_LINE)) for _ in range(count)]
    lines = [
        Sent(text.encode(), timestamp=start_ms + number * BETWEEN_LINES_MS)
        for number, text in enumerate(texts)
    ]
    last_ms = start_ms + (count + 100) * BETWEEN_LINES_MS
    return [*lines, Sent(LAST_WORD.encode(), timestamp=last_ms)]


def _counted(lines: list[Sent]) -> Counter[str]:
    return Counter(word for line in lines for word in (line.value or b"").decode().split())


def _wait_for(address: str, wanted: Counter[str], program: Worker) -> None:
    """Return when every word was counted at least that often."""
    deadline = time.monotonic() + PATIENCE_S
    pause = threading.Event()
    while True:
        counts = _read(address)
        if all(max(counts.get(word, [0])) >= wanted[word] for word in wanted):
            return
        if time.monotonic() > deadline:
            last = {word: max(found) for word, found in counts.items()}
            raise Broken(f"{last} and not {dict(wanted)}: {program.last_words}")
        pause.wait(0.2)


def _read(address: str) -> dict[str, list[int]]:
    """Every committed count of each word, in the order in which they were written."""
    with Bystander(address, COUNTS, 1, group="never-joined", committed_only=True) as reader:
        (records,) = reader.read_all()
    counts: dict[str, list[int]] = {}
    for record in records:
        counts.setdefault((record.key or b"").decode(), []).append(int(record.value or b"0"))
    return counts


def _expect_right(counts: dict[str, list[int]], wanted: Counter[str]) -> None:
    """No count ever goes back, and the last one of each word is right."""
    for word, number in wanted.items():
        if counts[word] != sorted(counts[word]):
            raise Broken(f"the counts of {word!r} went back: {counts[word]}")
        if counts[word][-1] != number:
            raise Broken(f"{word!r} is there {number} times, and {counts[word][-1]} were counted")
