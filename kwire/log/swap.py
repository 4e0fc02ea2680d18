"""Compaction, the half in the loop: new segments take the place of old ones, whatever happens.

Step by step, for one group after the other, the oldest first: the new files go from `.cleaned` to
`.swap`; the old files get `.deleted`; the new ones lose their suffix. The log is the last of its
files in the first and in the third step, so that a `.log.swap` says: all of it is there, and it
counts. Before, a crash leaves the old segments; from then on `leftovers` finishes what was begun.
"""

import logging
import os

from kwire.log.compaction import CLEANED, Prepared, Replacement
from kwire.log.files import sync_path
from kwire.log.leftovers import SWAP
from kwire.log.partition_log import PartitionLog
from kwire.log.segment import Segment
from kwire.log.trash import DELETED, Trash

_log = logging.getLogger(__name__)


def install(log: PartitionLog, prepared: Prepared, trash: Trash) -> bool:
    """Put the new segments into the log; false if it changed so much that they are worthless."""
    if not _still_there(log, prepared):
        discard(prepared)
        _log.info("compaction given up topic_partition=%s", log.topic_partition)
        return False
    try:
        for replacement in prepared.replacements:
            _swap(log, replacement, trash)
        sync_path(str(log.directory))
    except OSError as error:
        # Names on disk and in memory may differ now; a restart finishes what was begun.
        raise log.files.give_up(f"swap segments of {log.topic_partition}", error) from error
    return True


def discard(prepared: Prepared) -> None:
    """Remove new segments that will not be used."""
    for replacement in prepared.replacements:
        for path in replacement.new.paths():
            os.unlink(path)


def _still_there(log: PartitionLog, prepared: Prepared) -> bool:
    """Retention, truncation and deletion may have been quicker."""
    present = set(map(id, log.segments[:-1]))
    old = [segment for replacement in prepared.replacements for segment in replacement.old]
    return not prepared.job.is_cancelled and all(id(segment) in present for segment in old)


def _swap(log: PartitionLog, replacement: Replacement, trash: Trash) -> None:
    new = replacement.new
    _change_suffix(new, CLEANED, SWAP)
    doomed = [path for segment in replacement.old for path in segment.rename(DELETED)]
    _change_suffix(new, SWAP, "")
    new.move_to(log.files)
    log.replace_segments(replacement.old, [new])
    trash.take(doomed, log.config.file_delete_delay_ms)


def _change_suffix(segment: Segment, before: str, after: str) -> None:
    for part in (
        segment.transaction_index,
        segment.time_index,
        segment.offset_index,
        segment.file,
    ):
        target = part.path.removesuffix(before) + after
        os.rename(part.path, target)
        part.path = target
