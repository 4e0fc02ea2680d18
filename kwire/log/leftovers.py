"""What an interrupted roll, deletion or compaction left in a partition's directory.

Files that end in `.deleted`, `.cleaned` or `.tmp` are given up. A `.log.swap` says that a
compaction had come so far that its result counts (see `swap`): the segments that begin within it
are dropped, and it takes their place. Other `.swap` files had not got that far. Indexes without a
log go too.
"""

import os

from kwire.log.files import unlink_if_there
from kwire.log.scan import BatchScan
from kwire.log.segment import SUFFIXES

GIVEN_UP = (".deleted", ".cleaned", ".tmp")
SWAP = ".swap"


def finish_interrupted(directory: str) -> set[str]:
    """Put the directory in order; returns the names of segments' files and snapshots in it."""
    names = set(os.listdir(directory))
    for name in sorted(names):
        if name.endswith(GIVEN_UP):
            os.unlink(f"{directory}/{name}")
    names = {name for name in names if not name.endswith(GIVEN_UP)}
    for name in sorted(name for name in names if name.endswith(f".log{SWAP}")):
        _finish_swap(directory, name, names)
    for name in [name for name in names if name.endswith(SWAP)]:
        _unlink(directory, name, names)
    ours = {name for name in names if name[:20].isdigit() and name[20:21] == "."}
    logs = {name[:20] for name in ours if name.endswith(".log")}
    for name in sorted(ours):
        if name.endswith(SUFFIXES) and name[:20] not in logs:
            _unlink(directory, name, ours)
    return ours


def _finish_swap(directory: str, log_name: str, names: set[str]) -> None:
    """The swapped-in segment stands for every segment that begins within its offsets."""
    stem = log_name[:20]
    first = last = int(stem)
    path = f"{directory}/{log_name}"
    for _, header in BatchScan(path, os.stat(path).st_size):
        last = header.last_offset
    replaced = {n[:20] for n in names if n.endswith(".log") and first <= int(n[:20]) <= last}
    # In each step the log goes last: until then the next start will come here again.
    for old in sorted(replaced):
        for suffix in reversed(SUFFIXES):
            _unlink(directory, old + suffix, names)
    for suffix in reversed(SUFFIXES):
        if stem + suffix + SWAP in names:
            names.remove(stem + suffix + SWAP)
            os.rename(f"{directory}/{stem}{suffix}{SWAP}", f"{directory}/{stem}{suffix}")
            names.add(stem + suffix)


def _unlink(directory: str, name: str, names: set[str]) -> None:
    unlink_if_there(f"{directory}/{name}")
    names.discard(name)
