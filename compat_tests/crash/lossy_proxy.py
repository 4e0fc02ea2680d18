"""A proxy that loses answers: now and then a Produce request gets through and nobody hears of it.

Dying brokers rarely do that, since kwire answers in the turn in which it writes; networks do. The
producer has to send again, and only the broker can tell that it has the records already.
"""

import random
import select
import socket
import threading

from compat_tests.bad_input.wire import PRODUCE

HEAD_BYTES = 6
CHUNK_BYTES = 1 << 16


class LossyProxy:
    """Listens at `address` and passes everything on to `target`, which may come and go."""

    def __init__(self, target: str, *, loss: float, seed: int) -> None:
        self._target = _parsed(target)
        self._loss = loss
        self._random = random.Random(seed)
        self.lost = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._is_closed = False
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def __enter__(self) -> "LossyProxy":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End every connection; clients that are still there find nobody any more."""
        self._is_closed = True
        for thread in self._threads:
            thread.join(10)
        self._listener.close()

    def _accept(self) -> None:
        self._listener.settimeout(0.1)
        while not self._is_closed:
            try:
                client, _ = self._listener.accept()
            except TimeoutError:
                continue
            thread = threading.Thread(target=self._serve, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _serve(self, client: socket.socket) -> None:
        with client:
            try:
                with socket.create_connection(self._target, timeout=10) as broker:
                    self._pass_on(client, broker)
            except OSError:
                return  # Either end is gone, and so is this connection.

    def _pass_on(self, client: socket.socket, broker: socket.socket) -> None:
        requests = _Requests()
        is_doomed = False
        while not self._is_closed:
            for ready in select.select([client, broker], [], [], 0.1)[0]:
                data = ready.recv(CHUNK_BYTES)
                if not data:
                    return
                if ready is client:
                    produced = requests.count_produce(data)
                    is_doomed |= any(self._random.random() < self._loss for _ in range(produced))
                    broker.sendall(data)
                elif is_doomed:
                    self.lost += 1
                    return
                else:
                    client.sendall(data)


class _Requests:
    """Follows the frames of a stream, to know which of them are Produce requests."""

    def __init__(self) -> None:
        self._head = b""
        self._left = 0

    def count_produce(self, data: bytes) -> int:
        """How many Produce requests begin in the next piece of the stream."""
        count = position = 0
        while position < len(data):
            if self._left:
                step = min(self._left, len(data) - position)
                self._left -= step
            else:
                step = min(HEAD_BYTES - len(self._head), len(data) - position)
                self._head += data[position : position + step]
                if len(self._head) == HEAD_BYTES:
                    # The length, which counts the api key that follows it.
                    self._left = int.from_bytes(self._head[:4], "big") - 2
                    count += int.from_bytes(self._head[4:], "big") == PRODUCE
                    self._head = b""
            position += step
        return count


def _parsed(address: str) -> tuple[str, int]:
    host, port = address.split(":")
    return host, int(port)
