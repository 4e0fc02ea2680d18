"""Files that were taken out of a log and go for good a little later (file.delete.delay.ms).

Until then whoever was reading them may finish. A stop in between leaves files that end in
`.deleted`; the next start removes them.
"""

import logging
from collections.abc import Sequence

from kwire.log.files import unlink_if_there
from kwire.tasks import Scheduler

DELETED = ".deleted"

_log = logging.getLogger(__name__)


class Trash:
    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler

    def take(self, paths: Sequence[str], delay_ms: int) -> None:
        """Remove the files in a thread once the delay is over."""

        def remove() -> None:
            for path in paths:
                unlink_if_there(path)

        def removed(outcome: Exception | None) -> None:
            if outcome is not None:
                _log.error("files not removed first=%s error=%s", paths[0], outcome)

        if paths:
            self._scheduler.call_later(
                delay_ms / 1000, lambda: self._scheduler.in_pool(remove, removed)
            )
