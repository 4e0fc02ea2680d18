"""`kwire serve`: what its flags mean, and the process as a person meets it."""

import argparse
import resource
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from kwire.cli.serve import configure, parse_topics, raise_file_limit, read_layers
from kwire.controller.commands import NewTopic
from kwire.errors import InvalidConfig


def parsed(*words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    configure(parser)
    return parser.parse_args(words)


def test_topics_have_a_name_and_perhaps_a_count_and_a_policy() -> None:
    assert parse_topics("a, b:3 ,c:12:compact") == [
        NewTopic("a"),
        NewTopic("b", partition_count=3),
        NewTopic("c", partition_count=12, config={"cleanup.policy": "compact"}),
    ]


@pytest.mark.parametrize("text", ["a:0", "a:x", "a:1:squash", "a:1:compact:2", "a:", "a,b,a:2"])
def test_topics_that_make_no_sense_are_refused(text: str) -> None:
    with pytest.raises(InvalidConfig, match="--topics"):
        parse_topics(text)


def test_flags_win_over_the_environment_and_the_environment_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("num.partitions=2\nnode.id=5\nbroker.rack=a\n")
    arguments = parsed("--config", str(file), "--set", "broker.rack=c", "--data-dir", "d")
    environ = {"KAFKA_BROKER_RACK": "b", "KWIRE_NUM_PARTITIONS": "7"}
    config = read_layers(arguments, environ).broker
    assert (config.node_id, config.num_partitions, config.broker_rack) == (5, 7, "c")
    assert config.log_dirs == ("d",)


@pytest.mark.parametrize("setting", ["num.partitions", "=3"])
def test_a_setting_without_a_name_or_a_value_is_refused(setting: str) -> None:
    with pytest.raises(InvalidConfig, match="KEY=VALUE"):
        read_layers(parsed("--set", setting), {})


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_bytes(b"node.id=\xff\n")
    with pytest.raises(InvalidConfig, match=r"server\.properties: not a text file"):
        read_layers(parsed("--config", str(file)), {})


def test_the_broker_may_open_as_many_files_as_the_system_allows() -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before[0] - 1, before[1]))
        raise_file_limit()
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (before[1], before[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def serve(directory: Path, *words: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "kwire", "serve", "--data-dir", str(directory)]
    command += ["--listeners", "PLAINTEXT://127.0.0.1:0", *words]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1
    )


def banner_of(process: "subprocess.Popen[str]") -> dict[str, str]:
    assert process.stdout is not None
    told: dict[str, str] = {"first": process.stdout.readline().strip()}
    while "stop" not in told:
        name, _, rest = process.stdout.readline().strip().partition("  ")
        told[name] = rest.strip()
    return told


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_the_broker_tells_where_it_is_and_stops_in_order(
    tmp_path: Path, name: signal.Signals
) -> None:
    with serve(tmp_path / "data", "--topics", "a:3", "--topics", "b") as process:
        told = banner_of(process)
        assert told["first"].startswith("kwire is ready after ")
        assert told["topics"] == "2 with 4 partitions"
        host, _, port = told["bootstrap.servers"].rpartition(":")
        socket.create_connection((host, int(port)), timeout=5).close()
        process.send_signal(name)
        out, err = process.communicate(timeout=10)
    assert process.returncode == 0, err
    assert out == "kwire has stopped\n"
    assert (tmp_path / "data" / ".kafka_cleanshutdown").exists()


def test_a_second_broker_on_the_same_directory_is_told_so(tmp_path: Path) -> None:
    with serve(tmp_path / "data") as first:
        banner_of(first)
        with serve(tmp_path / "data") as second:
            _, err = second.communicate(timeout=10)
        first.terminate()
        first.communicate(timeout=10)
    assert second.returncode == 1
    assert "another broker runs on" in err
    assert "Traceback" not in err


def test_a_port_that_is_taken_is_told_in_a_sentence(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with serve(tmp_path, "--listeners", f"PLAINTEXT://127.0.0.1:{port}") as process:
            _, err = process.communicate(timeout=10)
    assert process.returncode == 1
    assert f"127.0.0.1:{port}" in err
    assert "Traceback" not in err
