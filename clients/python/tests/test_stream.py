"""Streams that break, from a server of the library that the clients use."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator

import pytest
from conftest import Connect
from fakes import tcp_server
from websockets.sync.server import ServerConnection, serve

from durable_workflows import StreamError

Script = Callable[[ServerConnection], None]


@pytest.fixture
def stream_server() -> Iterator[Callable[[Script], str]]:
    """Starts servers that do this with each connection. Gives their addresses."""
    servers = []

    def start(script: Script) -> str:
        server = serve(script, "127.0.0.1", 0)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{server.socket.getsockname()[1]}"

    yield start
    for server in servers:
        server.shutdown()


def frame(kind: str) -> str:
    return json.dumps({"type": kind, "run_id": "run_1"})


def test_the_address_has_the_token_and_asks_for_deltas(
    connect: Connect, stream_server: Callable[[Script], str]
) -> None:
    paths: list[str] = []

    def script(connection: ServerConnection) -> None:
        assert connection.request is not None
        paths.append(connection.request.path)
        connection.send(frame("run_completed"))

    client = connect(stream_server(script) + "/base/", token="a b", api_key="ops_1")
    for deltas in (False, True):
        assert next(client.stream("run_1", deltas=deltas))["type"] == "run_completed"
    assert paths == ["/base/api/runs/run_1/stream?token=a+b", "/base/api/runs/run_1/stream?token=a+b&deltas=true"]


def test_a_stream_that_breaks_is_a_clear_error(connect: Connect, stream_server: Callable[[Script], str]) -> None:
    def script(connection: ServerConnection) -> None:
        connection.send(frame("step_started"))
        connection.socket.shutdown(socket.SHUT_RDWR)

    opened: list[int] = []
    stream = connect(stream_server(script)).stream("run_1", on_open=lambda: opened.append(1))
    assert next(stream)["type"] == "step_started"
    with pytest.raises(StreamError, match="The connection broke or could not be opened") as caught:
        next(stream)
    assert (caught.value.close_code, caught.value.code, caught.value.status) == (1006, "stream_ended", 0)
    assert opened == [1]


@pytest.mark.parametrize(
    ("code", "reason", "message"),
    [
        (1013, "", "Too many streams"),
        (1001, "", "The service stops"),
        (4000, "why", "why"),
        (1000, "", "The stream ended"),
    ],
)
def test_a_stream_that_the_service_ends_says_why(
    connect: Connect, stream_server: Callable[[Script], str], code: int, reason: str, message: str
) -> None:
    stream = connect(stream_server(lambda connection: connection.close(code, reason))).stream_workspace()
    with pytest.raises(StreamError, match=message) as caught:
        next(stream)
    assert caught.value.close_code == code


def test_a_server_without_streams_is_a_clear_error(connect: Connect) -> None:
    with tcp_server(lambda connection: connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")) as url:
        with pytest.raises(StreamError) as caught:
            next(connect(url).stream("run_1"))
        assert caught.value.close_code == 1006


def test_without_websockets_the_error_says_what_to_install(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("websockets.sync.client", "websockets.asyncio.client", "websockets.exceptions"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "durable-workflows\[stream\]"'):
        next(connect().stream("run_1"))
