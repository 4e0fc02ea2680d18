"""Producer snapshots: what a log's producers had done up to an offset, which names the file.

One is written when a segment is rolled, and one on a clean stop; the newest two are kept. A start
takes the newest that is sound and replays the batches after it.
"""

import logging

from kwire.log.files import read_if_there, unlink_if_there, write_atomically
from kwire.log.producers import Producers

SUFFIX = ".snapshot"
KEPT = 2

_log = logging.getLogger(__name__)


class Snapshots:
    def __init__(self, directory: str) -> None:
        self._directory = directory
        self.offsets: list[int] = []
        """The offsets of the files that there are, rising."""

    def save(self, producers: Producers, offset: int) -> None:
        """Write down the state as of `offset`, unless that is there already."""
        if offset == 0 or offset in self.offsets:
            return
        write_atomically(self._path(offset), producers.encode(), durable=False)
        self.offsets = sorted([*self.offsets, offset])
        while len(self.offsets) > KEPT:
            unlink_if_there(self._path(self.offsets[0]))
            del self.offsets[0]

    def restore(self, producers: Producers, at_most: int) -> int | None:
        """Fill `producers` from the newest sound file up to that offset; returns its offset."""
        for offset in reversed(self.offsets):
            if offset <= at_most:
                if producers.decode(read_if_there(self._path(offset)) or b""):
                    return offset
                _log.warning("producer snapshot damaged path=%s", self._path(offset))
        return None

    def drop_above(self, offset: int) -> None:
        """Remove snapshots that speak of batches which are no longer there."""
        for above in [known for known in self.offsets if known > offset]:
            unlink_if_there(self._path(above))
            self.offsets.remove(above)

    def _path(self, offset: int) -> str:
        return f"{self._directory}/{offset:020d}{SUFFIX}"
