"""Kafka's own judgement of a directory: what `kafka-dump-log` complains about.

It prints complaints among the records and ends well even so; here they are picked out. Two kinds
are no faults: the tool calls the first offset of every segment non-consecutive ("-1 is followed
by ..."), and compaction leaves gaps on purpose.
"""

import re
from pathlib import Path

from compat_tests.oracle import tools

DUMPED = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")
INDEXES = (".index", ".timeindex")
FILES_PER_RUN = 200
"""So many names fit on a command line, and so many records into memory."""
COMPLAINT = re.compile(
    r"isvalid: false|[Mm]ismatch|[Ff]ail|[Cc]orrupt|Exception|[Ii]nvalid bytes|out of order"
    r"|Couldn't|not found|Duplicate"
)
GAP = re.compile(r"^ *(-?\d+) is followed by (\d+)", re.MULTILINE)


def complaints(data_dir: Path, *, may_have_gaps: bool = False) -> list[str]:
    """Everything that is wrong with the partitions under `data_dir`; empty if nothing is."""
    files = sorted(path for path in data_dir.glob("*-*/*") if path.suffix in DUMPED)
    assert files, f"no partitions in {data_dir}"
    found: list[str] = []
    for start in range(0, len(files), FILES_PER_RUN):
        some = files[start : start + FILES_PER_RUN]
        found += _read_deeply(some, may_have_gaps)
        found += _check_indexes(some)
    return found


def _read_deeply(files: list[Path], may_have_gaps: bool) -> list[str]:
    """Every batch and record opened, every index entry compared with the log."""
    names = ",".join(map(str, files))
    ran = tools.run(tools.DUMP_LOG, "--deep-iteration", "--files", names, timeout_s=120)
    assert ran.code == 0, ran.err
    told = [line for line in ran.out.splitlines() if not line.startswith("|")]
    found = [line for line in told + ran.err.splitlines() if COMPLAINT.search(line)]
    gaps = [f"{last} is followed by {first}" for last, first in GAP.findall(ran.err + ran.out)]
    if not may_have_gaps:
        found += [gap for gap in gaps if not gap.startswith("-1 ")]
    opened = sum(line.startswith("Dumping ") for line in told)
    assert opened == len(files), f"{opened} of {len(files)} files were read"
    return found


def _check_indexes(files: list[Path]) -> list[str]:
    indexes = [str(path) for path in files if path.suffix in INDEXES]
    if not indexes:
        return []
    ran = tools.run(tools.DUMP_LOG, "--index-sanity-check", "--files", ",".join(indexes))
    assert ran.code == 0, ran.err
    verdicts = [line for line in ran.out.splitlines() if not line.startswith("Dumping")]
    passed = ("passed sanity check.", "is empty.")
    return [line for line in verdicts if not line.endswith(passed)] + ran.err.splitlines()
