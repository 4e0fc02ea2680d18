"""`python -m compat_tests.scenarios refresh [PART]`: record Kafka anew, or some modules of it."""

import sys
import tempfile
from pathlib import Path

from compat_tests.scenarios.brokers import start_kafka_for_scenarios
from compat_tests.scenarios.recordings import save
from compat_tests.scenarios.table import MODULES, run, scenarios_of, stem_of


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] != "refresh":
        print(__doc__, file=sys.stderr)
        return 2
    part = arguments[1] if len(arguments) > 1 else ""
    with tempfile.TemporaryDirectory() as folder:
        broker = start_kafka_for_scenarios(Path(folder) / "data")
        try:
            _refresh(broker.bootstrap, part)
        finally:
            broker.stop()
    return 0


def _refresh(address: str, part: str) -> None:
    for module in MODULES:
        if part in stem_of(module):
            recording = {
                name: run(scenario, address) for name, scenario in scenarios_of(module).items()
            }
            save(stem_of(module), recording)
            steps = sum(map(len, recording.values()))
            print(f"{stem_of(module)}: {len(recording)} scenarios, {steps} steps")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
