"""The small files by which a log directory and its partitions say whose they are.

`.lock` is held by the broker that runs on the directory. `meta.properties` names the broker and the
cluster: "version=0", "broker.id=1", "cluster.id=...", a line each; Kafka without ZooKeeper writes
version 1 and "node.id". In each partition's directory, `partition.metadata` has two lines:
"version: 0" and "topic_id: " with the topic's id.
"""

import fcntl
import os
from typing import NamedTuple

from kwire.errors import KwireError
from kwire.log.files import read_if_there, write_atomically, write_fully
from kwire.types import TopicPartition, uuid_from_text, uuid_text

META_PROPERTIES = "meta.properties"
NOT_TOPICS = frozenset({"__cluster_metadata"})
"""Directories of Kafka's own quorum look like those of a topic."""


class DirectoryInUse(KwireError):
    """Another broker runs on this directory."""


class ForeignDirectory(KwireError):
    """The directory belongs to another broker or another cluster."""


class FoundTopic(NamedTuple):
    """A topic that has partitions in a directory, whatever the cluster knows of it."""

    topic_id: bytes | None
    partitions: tuple[int, ...]


class Room(NamedTuple):
    """How large the volume under a directory is, and how much of it is left for us."""

    total_bytes: int
    usable_bytes: int


def lock(directory: str) -> int:
    """Take the directory; the descriptor returned holds it until it is closed."""
    fd = os.open(f"{directory}/.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise DirectoryInUse(
            f"another broker runs on {directory}: stop it, or choose another --data-dir"
        ) from None
    return fd


def read_meta(directory: str) -> dict[str, str]:
    """The keys of meta.properties; none if there is no such file."""
    text = (read_if_there(f"{directory}/{META_PROPERTIES}") or b"").decode(errors="replace")
    lines = [line.strip() for line in text.splitlines()]
    pairs = [line.split("=", 1) for line in lines if "=" in line and not line.startswith("#")]
    return {key.strip(): value.strip() for key, value in pairs}


def claim(directory: str, node_id: int, cluster_id: str) -> None:
    """Write whose directory this is, or check that it is ours."""
    known = read_meta(directory)
    if not known:
        text = f"version=0\nbroker.id={node_id}\ncluster.id={cluster_id}\n"
        return write_atomically(f"{directory}/{META_PROPERTIES}", text.encode())
    for key, found, wanted in (
        ("cluster.id", known.get("cluster.id"), cluster_id),
        ("broker.id", known.get("broker.id", known.get("node.id")), str(node_id)),
    ):
        if found not in (None, wanted):
            raise ForeignDirectory(
                f"{directory} belongs to {key}={found}, this broker has {wanted}:"
                " choose another --data-dir"
            )
    return None


def measure_room(directory: str) -> Room:
    volume = os.statvfs(directory)
    return Room(volume.f_blocks * volume.f_frsize, volume.f_bavail * volume.f_frsize)


def find_topics(directory: str) -> dict[str, FoundTopic]:
    """Every topic with partitions in the directory; its id is that of its first partition."""
    partitions: dict[str, list[int]] = {}
    with os.scandir(directory) as entries:
        for entry in entries:
            parsed = parse_name(entry.name)
            if parsed is not None and entry.is_dir():
                partitions.setdefault(parsed.topic, []).append(parsed.partition)
    return {
        topic: FoundTopic(read_topic_id(f"{directory}/{topic}-{min(found)}"), tuple(sorted(found)))
        for topic, found in sorted(partitions.items())
    }


def parse_name(name: str) -> TopicPartition | None:
    """The partition whose directory has that name; None for anything else."""
    topic, _, index = name.rpartition("-")
    if not topic or not index.isascii() or not index.isdigit() or topic in NOT_TOPICS:
        return None
    return TopicPartition(topic, int(index))


def read_topic_id(directory: str) -> bytes | None:
    """The id of the topic that a partition's directory belongs to; None if it does not say."""
    data = read_if_there(f"{directory}/partition.metadata") or b""
    for line in data.decode(errors="replace").splitlines():
        key, _, value = line.partition(":")
        if key == "topic_id":
            try:
                return uuid_from_text(value.strip())
            except ValueError:
                return None
    return None


def write_topic_id(directory: str, topic_id: bytes) -> None:
    """Nothing is replaced here, so half a file left by a crash is as good as none."""
    fd = os.open(f"{directory}/partition.metadata", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        os.ftruncate(fd, 0)
        write_fully(fd, f"version: 0\ntopic_id: {uuid_text(topic_id)}".encode())
    finally:
        os.close(fd)
