"""Kafka's own command-line tools, run against any broker or directory.

Each call is one JVM (about a second): tests should ask for much in one call.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from compat_tests.oracle import jars

LOGGING = Path(__file__).with_name("log4j2.properties")
QUICK_JVM = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

TOPICS = "org.apache.kafka.tools.TopicCommand"
CONFIGS = "kafka.admin.ConfigCommand"
CONSOLE_PRODUCER = "org.apache.kafka.tools.ConsoleProducer"
CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
CONSUMER_GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
API_VERSIONS = "org.apache.kafka.tools.BrokerApiVersionsCommand"
GET_OFFSETS = "org.apache.kafka.tools.GetOffsetShell"
DELETE_RECORDS = "org.apache.kafka.tools.DeleteRecordsCommand"
LOG_DIRS = "org.apache.kafka.tools.LogDirsCommand"
DUMP_LOG = "org.apache.kafka.tools.DumpLogSegments"
PRODUCER_PERFORMANCE = "org.apache.kafka.tools.ProducerPerformance"
CONSUMER_PERFORMANCE = "org.apache.kafka.tools.ConsumerPerformance"
END_TO_END_LATENCY = "org.apache.kafka.tools.EndToEndLatency"
TRANSACTIONS = "org.apache.kafka.tools.TransactionsCommand"
TRANSACTIONAL_MESSAGE_COPIER = "org.apache.kafka.tools.TransactionalMessageCopier"
VERIFIABLE_CONSUMER = "org.apache.kafka.tools.VerifiableConsumer"
STREAMS_WORD_COUNT = "org.apache.kafka.streams.examples.wordcount.WordCountProcessorDemo"


class Ran(NamedTuple):
    """What a tool printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


def java(
    main_class: str, *arguments: str, level: str = "warn", jvm: Sequence[str] = QUICK_JVM
) -> list[str]:
    """The command line that runs `main_class` on Kafka's class path."""
    target = "SYSTEM_ERR" if level == "warn" else "SYSTEM_OUT"
    logging = (f"-Dlog4j2.configurationFile={LOGGING}", f"-Doracle.log.level={level}")
    options = (*jvm, *logging, f"-Doracle.log.target={target}")
    return ["java", *options, "-cp", jars.class_path(), main_class, *arguments]


def run(main_class: str, *arguments: str, stdin: str = "", timeout_s: float = 60) -> Ran:
    """Run one tool to its end; the caller judges the exit code."""
    done = subprocess.run(
        java(main_class, *arguments),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def kcat(bootstrap: str, *arguments: str, stdin: bytes = b"", timeout_s: float = 30) -> bytes:
    """Run kcat to its end and return what it printed; a non-zero exit fails the test."""
    done = subprocess.run(
        ["kcat", "-b", bootstrap, *arguments],
        input=stdin,
        capture_output=True,
        timeout=timeout_s,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout
