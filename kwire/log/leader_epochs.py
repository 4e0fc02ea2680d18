"""At which offset each leader epoch began: the truth by which replicas and clients reconcile.

File `leader-epoch-checkpoint`: "0", the number of lines, then "epoch startOffset" a line. It is
written whenever an epoch begins, and brought to disk together with the batches of that epoch.
"""

from bisect import bisect_right

from kwire.log.checkpoints import read_lines, write_lines
from kwire.log.files import unlink_if_there

UNDEFINED = (-1, -1)


class LeaderEpochs:
    def __init__(self, path: str) -> None:
        self.path = path
        self._entries: list[tuple[int, int]] = []
        self.latest = -1

    @property
    def entries(self) -> list[tuple[int, int]]:
        return list(self._entries)

    def load(self) -> bool:
        """Read the file; false when it is missing or cannot be right."""
        lines = read_lines(self.path)
        if lines is None:
            return False
        try:
            entries = [(int(epoch), int(start)) for epoch, start in lines]
        except ValueError:
            return False
        self._set(entries)
        return sorted(entries) == entries

    def note(self, epoch: int, start_offset: int) -> None:
        """A batch of `epoch` is in the log; `save` is for the caller to call."""
        if epoch > self.latest:
            kept = [entry for entry in self._entries if entry[1] < start_offset]
            self._set([*kept, (epoch, start_offset)])

    def assign(self, epoch: int, start_offset: int) -> None:
        """The first batch of a new epoch is about to land at `start_offset`."""
        before = self._entries
        self.note(epoch, start_offset)
        if self._entries is not before:
            try:
                self.save()
            except OSError:
                self._set(before)
                raise

    def end_offset_for(self, epoch: int, log_end: int) -> tuple[int, int]:
        """The largest epoch at or below `epoch`, and where it ended (KIP-101, KIP-279)."""
        if epoch == -1 or not self._entries:
            return UNDEFINED
        if epoch == self.latest:
            return epoch, log_end
        after = bisect_right(self._entries, (epoch, 2**63))
        if after == len(self._entries):
            return UNDEFINED
        floor = self._entries[after - 1][0] if after else epoch
        return floor, self._entries[after][1]

    def epoch_at(self, offset: int) -> int:
        """The epoch in which the record at `offset` was written, -1 if it is not known."""
        epoch = -1
        for candidate, start in self._entries:
            if start > offset:
                break
            epoch = candidate
        return epoch

    def truncate_to(self, offset: int) -> None:
        kept = [entry for entry in self._entries if entry[1] < offset]
        if len(kept) != len(self._entries):
            self._set(kept)
            self.save()

    def truncate_before(self, offset: int) -> None:
        """The log starts later now: its first epoch starts there, earlier ones are gone."""
        index = bisect_right([start for _, start in self._entries], offset) - 1
        if index > 0 or (index == 0 and self._entries[0][1] < offset):
            first = (self._entries[index][0], offset)
            self._set([first, *self._entries[index + 1 :]])
            self.save()

    def clear(self) -> None:
        self._set([])

    def save(self) -> None:
        """Write the file, which the log brings to disk before it calls itself flushed.

        One that cannot be written is removed: without it, the next start asks the batches.
        """
        lines = [f"{epoch} {start}" for epoch, start in self._entries]
        try:
            write_lines(self.path, lines, durable=False)
        except OSError:
            unlink_if_there(self.path)
            raise

    def _set(self, entries: list[tuple[int, int]]) -> None:
        self._entries = entries
        self.latest = entries[-1][0] if entries else -1
