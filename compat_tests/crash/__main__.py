"""`python -m compat_tests.crash --kills 200`: the long run, with a summary at the end."""

import argparse
import random
import sys
import tempfile
from pathlib import Path

from compat_tests.crash.supervisor import Supervisor
from compat_tests.oracle.dump import complaints


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m compat_tests.crash", description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=None)
    arguments = parser.parse_args()
    seed = random.randrange(2**31) if arguments.seed is None else arguments.seed
    print(f"crash: seed {seed}")
    with tempfile.TemporaryDirectory(prefix="kwire-crash-") as folder:
        data_dir = Path(folder) / "data"
        summary = Supervisor(data_dir, seed).run(
            arguments.kills, tell=lambda line: print(f"\rcrash: kill {line}", end="", flush=True)
        )
        print(f"\ncrash: {summary}")
        found = complaints(data_dir)
    for complaint in found:
        print(f"crash: kafka-dump-log says: {complaint}", file=sys.stderr)
    if not found:
        print("crash: kafka-dump-log finds nothing wrong")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
