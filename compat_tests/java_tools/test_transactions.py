"""Transactions of the Java client, which leaves adding partitions to the broker (KIP-890)."""

from pathlib import Path

import pytest

from compat_tests.oracle import tools
from compat_tests.oracle.brokers import start_kwire
from compat_tests.oracle.dump import complaints
from compat_tests.oracle.processes import BrokerProcess
from compat_tests.python_clients.confluent import Confluent
from compat_tests.python_clients.transactional import ConfluentProducer
from compat_tests.python_clients.values import Sent
from compat_tests.waiting import eventually

pytestmark = pytest.mark.jvm

RECORDS = 600
IN_A_TRANSACTION = 50


def _copy(bootstrap: str, topic: str) -> str:
    """Copy all records in transactions, some of which are aborted and tried again."""
    target = f"{topic}-copy"
    client = Confluent(bootstrap)
    client.create(topic)
    client.create(target)
    client.write(topic, [Sent(b"%d" % number) for number in range(RECORDS)])
    ran = tools.run(
        tools.TRANSACTIONAL_MESSAGE_COPIER,
        *("--broker-list", bootstrap, "--transactional-id", f"copier-of-{topic}"),
        *("--input-topic", topic, "--input-partition", "0", "--output-topic", target),
        *("--consumer-group", f"group-of-{topic}", "--max-messages", str(RECORDS)),
        *("--transaction-size", str(IN_A_TRANSACTION), "--enable-random-aborts"),
    )
    assert ran.code == 0, ran.err
    return target


def test_records_are_copied_exactly_once(broker: BrokerProcess, topic: str) -> None:
    target = _copy(broker.bootstrap, topic)
    address = ("--bootstrap-server", broker.bootstrap)
    read = tools.run(
        tools.CONSOLE_CONSUMER,
        *(*address, "--topic", target, "--from-beginning", "--timeout-ms", "5000"),
        *("--isolation-level", "read_committed"),
    )
    assert read.lines == [str(number) for number in range(RECORDS)]
    described = tools.run(
        tools.TRANSACTIONS, *address, "describe", "--transactional-id", f"copier-of-{topic}"
    )
    assert "CompleteCommit" in described.out, described.err
    group = tools.run(tools.CONSUMER_GROUPS, *address, "--describe", "--group", f"group-of-{topic}")
    (row,) = [line.split()[1:6] for line in group.lines if line.startswith("group-of-")]
    assert row == [topic, "0", str(RECORDS), str(RECORDS), "0"]


def test_a_transaction_that_is_open_is_found_and_aborted(broker: BrokerProcess, topic: str) -> None:
    Confluent(broker.bootstrap).create(topic)
    producer = ConfluentProducer(broker.bootstrap, f"open-{topic}")
    producer.begin()
    producer.send(topic, b"value")
    address = ("--bootstrap-server", broker.bootstrap)
    where = ("--topic", topic, "--partition", "0")
    listed = tools.run(tools.TRANSACTIONS, *address, "list")
    (row,) = [line.split() for line in listed.lines if line.startswith(f"open-{topic}")]
    assert row[-1] == "Ongoing"
    described = tools.run(tools.TRANSACTIONS, *address, "describe-producers", *where)
    assert described.lines[1].split()[-1] == "0", described.err
    aborted = tools.run(tools.TRANSACTIONS, *address, "abort", *where, "--start-offset", "0")
    assert aborted.code == 0, aborted.err
    after = eventually(
        lambda: tools.run(tools.TRANSACTIONS, *address, "describe-producers", *where),
        lambda ran: ran.code == 0,
    )
    assert after.lines[1].split()[-1] == "None"
    producer.close()


def test_kafkas_dump_reads_the_log_of_transactions(tmp_path: Path, topic: str) -> None:
    with start_kwire(tmp_path / "data", {"transaction.state.log.num.partitions": "1"}) as broker:
        _copy(broker.bootstrap, topic)
        broker.stop()
    assert complaints(tmp_path / "data") == []
    log = tmp_path / "data" / "__transaction_state-0" / f"{0:020}.log"
    dumped = tools.run(tools.DUMP_LOG, "--transaction-log-decoder", "--files", str(log))
    assert dumped.code == 0, dumped.err
    states = [line for line in dumped.lines if f'"transactionalId":"copier-of-{topic}"' in line]
    assert len(states) >= 1 + 4 * (RECORDS // IN_A_TRANSACTION)
    assert '"transactionStatus":4' in states[-1]
    assert '"clientTransactionVersion":2' in states[-1]
