"""The two brokers under comparison: ours, and Apache Kafka in KRaft mode on one node."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from compat_tests.oracle.processes import BrokerFailed, BrokerProcess, free_ports
from compat_tests.oracle.tools import QUICK_JVM, java

CLUSTER_ID = "a3dpcmUtY29tcGF0LXRlcw"


def start_kwire(
    data_dir: Path, settings: Mapping[str, str] | None = None, *, address: str | None = None
) -> BrokerProcess:
    """Run `kwire serve` on a free port, or where it was before, and return when it serves."""
    address = address or free_address()
    broker = BrokerProcess(kwire_command(data_dir, address, settings), address, data_dir)
    broker.wait_for("kwire is ready", timeout_s=15)
    return broker


def kwire_command(
    data_dir: Path, address: str, settings: Mapping[str, str] | None = None
) -> list[str]:
    command = [sys.executable, "-m", "kwire", "serve"]
    command += ["--listeners", f"PLAINTEXT://{address}", "--data-dir", str(data_dir)]
    for name, value in (settings or {}).items():
        command += ["--set", f"{name}={value}"]
    return command


def free_address() -> str:
    with free_ports(1) as (port,):
        return f"127.0.0.1:{port}"


def start_kafka(data_dir: Path, settings: Mapping[str, str] | None = None) -> BrokerProcess:
    """Run Apache Kafka on a free port and return when it serves."""
    address = free_address()
    broker = BrokerProcess(kafka_command(data_dir, address, settings), address, data_dir)
    broker.wait_for("Kafka Server started", timeout_s=60)
    return broker


def kafka_command(
    data_dir: Path,
    address: str,
    settings: Mapping[str, str] | None = None,
    *,
    jvm: Sequence[str] = QUICK_JVM,
) -> list[str]:
    """How to run Apache Kafka on `data_dir`, which is formatted if it is empty."""
    data_dir.mkdir(parents=True, exist_ok=True)
    properties = data_dir.with_suffix(".properties")
    values = {**_kafka_settings(data_dir, address), **(settings or {})}
    properties.write_text("".join(f"{name}={value}\n" for name, value in values.items()))
    if not (data_dir / "meta.properties").exists():
        _format(properties)
    return java("kafka.Kafka", str(properties), level="info", jvm=jvm)


def _format(properties: Path) -> None:
    command = java("kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", str(properties))
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode != 0:
        raise BrokerFailed(f"could not format Kafka's storage:\n{done.stdout}{done.stderr}")


def _kafka_settings(data_dir: Path, address: str) -> dict[str, str]:
    """The least that one combined node needs, with the one-node factors kwire has as defaults."""
    controller = free_address()
    return {
        "process.roles": "broker,controller",
        "node.id": "1",
        "controller.quorum.voters": f"1@{controller}",
        "listeners": f"PLAINTEXT://{address},CONTROLLER://{controller}",
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "log.dirs": str(data_dir),
        "offsets.topic.replication.factor": "1",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "share.coordinator.state.topic.replication.factor": "1",
        "share.coordinator.state.topic.min.isr": "1",
        "group.initial.rebalance.delay.ms": "0",
    }
