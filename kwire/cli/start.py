"""Where a reader begins: `beginning`, `end`, an offset, the last N, or a time.

As kcat writes it, save that a time is `@MS`.
"""

import argparse
from collections.abc import Iterable
from typing import NamedTuple

from kwire.peers.client import Client, TopicView
from kwire.peers.reader import EARLIEST, LATEST, offsets_at


class Start(NamedTuple):
    """A time to look up (or LATEST or EARLIEST), or else an offset; `back` counts from the end."""

    time: int | None = None
    offset: int = 0
    back: int = 0

    def offsets(
        self, client: Client, topic: TopicView, partitions: Iterable[int], *, committed: bool
    ) -> dict[int, int]:
        """The first offset to read from each partition."""
        if self.time is None:
            return dict.fromkeys(partitions, self.offset)
        found = offsets_at(client, topic, dict.fromkeys(partitions, self.time), committed=committed)
        if not self.back:
            return found
        first = offsets_at(client, topic, dict.fromkeys(partitions, EARLIEST), committed=committed)
        return {each: max(first[each], end - self.back) for each, end in found.items()}


def parse_start(text: str) -> Start:
    """Read what stands behind -o, for argparse."""
    match text:
        case "beginning" | "earliest":
            return Start(time=EARLIEST)
        case "end" | "latest":
            return Start(time=LATEST)
    if text.isdecimal():
        return Start(offset=int(text))
    if text.startswith("@") and text[1:].isdecimal():
        return Start(time=int(text[1:]))
    if text.startswith("-") and text[1:].isdecimal():
        return Start(time=LATEST, back=int(text[1:]))
    raise argparse.ArgumentTypeError(f"{text!r} is none of beginning, end, N, -N and @MS")
