"""Servers at the far side of the network, for what the service does not do on demand."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Seen(NamedTuple):
    method: str
    url: str
    headers: dict[str, str]
    body: bytes


Answer = Callable[[BaseHTTPRequestHandler], None]


class FakeServer:
    """Sends these answers in order, and repeats the last one."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.seen: list[Seen] = []
        self._answers = answers
        self._lock = threading.Lock()
        self.ended = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            fake = self
            protocol_version = "HTTP/1.1"

            def _any(self) -> None:
                outer._answer(self)

            do_GET = do_POST = do_PUT = do_DELETE = do_PATCH = _any

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("content-length") or 0)
        headers = {name.lower(): value for name, value in handler.headers.items()}
        seen = Seen(handler.command, handler.path, headers, handler.rfile.read(length))
        with self._lock:
            answer = self._answers[min(len(self.seen), len(self._answers) - 1)]
            self.seen.append(seen)
        with contextlib.suppress(OSError):
            answer(handler)

    def close(self) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()


def ok(body: Any = None, *, headers: Mapping[str, str] | None = None, status: int = 200) -> Answer:
    """A response with a JSON body."""
    content = json.dumps([] if body is None else body).encode()
    return raw(status, content, {"content-type": "application/json", **(headers or {})})


def refuse(status: int, headers: Mapping[str, str] | None = None, detail: str = "No") -> Answer:
    """A refusal of the service."""
    return ok({"detail": detail}, headers=headers, status=status)


def raw(status: int, content: bytes = b"", headers: Mapping[str, str] | None = None) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def reset(handler: BaseHTTPRequestHandler) -> None:
    """Closes the connection without a response."""
    handler.close_connection = True
    handler.connection.shutdown(socket.SHUT_RDWR)


def hang(handler: BaseHTTPRequestHandler) -> None:
    """Does not answer until the server is closed."""
    fake: FakeServer = handler.fake  # type: ignore[attr-defined]
    fake.ended.wait(60)
    handler.close_connection = True


@contextlib.contextmanager
def tcp_server(greet: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that does not speak HTTP: it does this with each connection. Gives its address."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection:
                    greet(connection)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        listener.close()
