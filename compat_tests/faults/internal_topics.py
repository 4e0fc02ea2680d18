"""Kafka's own judgement of what coordinators write: its decoders read both internal topics."""

from pathlib import Path

from compat_tests.oracle import tools
from compat_tests.oracle.dump import COMPLAINT

DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
}
MISREAD = ("Unknown", "unknown", "Failed to decode")
"""How the decoders say that they do not know a record."""


def decoded(data_dir: Path, topic: str) -> list[str]:
    """Every line the tool prints about a topic's records."""
    logs = sorted(data_dir.glob(f"{topic}-*/*.log"))
    written = [str(path) for path in logs if path.stat().st_size > 0]
    assert written, f"nobody wrote to {topic} in {data_dir}"
    ran = tools.run(tools.DUMP_LOG, DECODERS[topic], "--files", ",".join(written), timeout_s=120)
    assert ran.code == 0, ran.err
    return ran.out.splitlines() + ran.err.splitlines()


def complaints(data_dir: Path) -> list[str]:
    """What the decoders do not like; each finds records it does know."""
    found: list[str] = []
    for topic in DECODERS:
        lines = decoded(data_dir, topic)
        payloads = [line for line in lines if "payload" in line]
        found += [line for line in lines if _is_complaint(line)]
        if not payloads:
            found.append(f"{topic}: no record was decoded")
    return found


def _is_complaint(line: str) -> bool:
    return bool(COMPLAINT.search(line)) or any(word in line for word in MISREAD)
