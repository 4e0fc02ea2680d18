"""A broker with one connection and no event loop: each step of the data path is called by hand.

What a client sends goes through a real socket, the connection, the codec, a handler and a real log
file, and back. Nothing else runs in between, so that what is measured is the path itself.
"""

import shutil
import socket
import struct
import tempfile
from pathlib import Path
from typing import Any

from kwire.app import App
from kwire.codec.apis import FETCH, PRODUCE, Api
from kwire.codec.header import encode_request
from kwire.codec.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from kwire.codec.messages.produce import ProducePartition, ProduceRequest, ProduceTopic
from kwire.codec.records.builder import build_batch
from kwire.codec.records.record import Record
from kwire.config.layered import load
from kwire.controller.commands import NewTopic
from kwire.handlers.context import Peer
from kwire.server.connection import Connection
from kwire.server.dispatch import Dispatch
from kwire.server.memory import RequestMemory
from kwire.server.outbox import new_scratch

TOPIC = "measured"
VALUE_BYTES = 100
_PEER = Peer("127.0.0.1", 0, "PLAINTEXT")


class _ReadyLoop:
    """Calls the reader when asked to; answers always fit into the socket."""

    def __init__(self) -> None:
        self.read: Any = None

    def add_reader(self, fd: socket.socket, callback: Any, *args: Any) -> None:
        self.read = callback

    def remove_reader(self, fd: socket.socket) -> bool:
        return True

    def add_writer(self, fd: socket.socket, callback: Any, *args: Any) -> None:
        raise AssertionError("an answer did not fit into the socket")

    def remove_writer(self, fd: socket.socket) -> bool:
        return True

    def call_soon(self, callback: Any, *args: Any) -> None:
        raise AssertionError("an answer was put off")

    def call_later(self, delay: float, callback: Any, *args: Any) -> Any:
        raise AssertionError("an answer was put off")


class OneConnection:
    def __init__(self) -> None:
        self._directory = tempfile.mkdtemp(prefix="kwire-bench-")
        settings = {"log.dirs": f"{self._directory}/data", "listeners": "PLAINTEXT://localhost:0"}
        self._app = App(load(file=settings))
        self._app.start([NewTopic(TOPIC, partition_count=1)])
        self.client, ours = socket.socketpair()
        ours.setblocking(False)
        loop = _ReadyLoop()
        self._connection = Connection(
            ours,
            _PEER,
            loop=loop,
            scheduler=self._app.node.scheduler,
            conversation=Dispatch(self._app.node).conversation(_PEER),
            memory=RequestMemory(-1),
            scratch=new_scratch(),
            max_frame_bytes=1 << 20,
            clock=self._app.node.clock,
            on_end=lambda end: None,
        )
        self.serve = loop.read
        """Let the broker read what the client sent, and answer it."""

    @property
    def directory(self) -> Path:
        return Path(self._directory)

    @property
    def next_offset(self) -> int:
        return self._app.hosted.find(TOPIC, 0).log.next_offset

    def produce_frame(self, version: int) -> bytes:
        """One record of a hundred bytes for one partition."""
        batch = build_batch(
            [Record(0, self._app.node.clock.now_ms(), None, b"." * VALUE_BYTES, ())]
        )
        data = [ProducePartition(index=0, records=memoryview(batch))]
        topic = ProduceTopic(name=TOPIC, topic_id=self._topic_id, partition_data=data)
        return _framed(
            PRODUCE, version, ProduceRequest(acks=1, timeout_ms=1000, topic_data=[topic])
        )

    def fetch_frame(self, version: int, offset: int) -> bytes:
        """The batch at one offset of one partition."""
        wanted = [FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20)]
        topic = FetchTopic(topic=TOPIC, topic_id=self._topic_id, partitions=wanted)
        request = FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=1 << 20, topics=[topic])
        return _framed(FETCH, version, request)

    @property
    def _topic_id(self) -> bytes:
        return self._app.controller.image.topics[TOPIC].topic_id

    def close(self) -> None:
        self.client.close()
        self._connection.close()
        self._app.close()
        shutil.rmtree(self._directory)


def _framed(api: Api, version: int, request: Any) -> bytes:
    body = b"".join(encode_request(api, version, 1, "bench", request))
    return struct.pack(">i", len(body)) + body
