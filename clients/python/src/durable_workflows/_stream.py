"""Streams of frames over WebSockets. They need the package `websockets`: `pip install "durable-workflows[stream]"`."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Callable, Generator
from typing import TYPE_CHECKING, Any, Literal, TypedDict
from urllib.parse import urlencode

from .errors import StreamError

if TYPE_CHECKING:
    from websockets.exceptions import ConnectionClosed

MEANINGS = {
    1001: "The service stops",
    1006: "The connection broke or could not be opened",
    1013: "Too many streams, or frames were not read",
    4401: "A valid session token is needed",
    4403: "This action requires the 'view' permission",
    4404: "Run not found",
}


class WorkspaceFrame(TypedDict):
    """A frame of a workspace's stream: what has changed. Read again what you show of it."""

    type: Literal["changed"]
    changed: list[str]
    """Types of audit targets, `step` for steps and statuses of runs, `job` for background jobs, `record` for data
    records."""


class _AgentDeltaFrame(TypedDict):
    type: Literal["agent_delta"]
    run_id: str
    step_key: str
    turn: int
    text: str


class AgentDeltaFrame(_AgentDeltaFrame, total=False):
    """A piece of a model's answer, as it arrives. A stream that opens late first has the text so far."""

    offset: int
    """The length of the answer before this piece, in UTF-16 code units: 0 when the answer starts, or starts again
    because an attempt or a model has failed."""


def address_of(base_url: str, path: str, token: str | None, *, deltas: bool) -> str:
    """The address of a stream, with the token that it needs in required mode."""
    query = {"token": token, "deltas": "true" if deltas else None}
    text = urlencode({name: value for name, value in query.items() if value is not None})
    return "ws" + base_url.removeprefix("http") + path + (f"?{text}" if text else "")


def read_stream(address: str, timeout: float, on_open: Callable[[], object] | None) -> Generator[Any, None, None]:
    """The frames of a stream from now on. Raises a `StreamError` when the connection ends."""
    try:
        from websockets.exceptions import ConnectionClosed, WebSocketException
        from websockets.sync.client import connect
    except ImportError as error:
        raise needed() from error
    try:
        socket = connect(address, open_timeout=timeout)
    except (OSError, WebSocketException) as error:
        raise StreamError(1006, MEANINGS[1006]) from error
    with socket:
        if on_open is not None:
            on_open()
        while True:
            try:
                message = socket.recv()
            except ConnectionClosed as error:
                raise ended(error) from error
            yield json.loads(message)


async def read_async_stream(
    address: str, timeout: float, on_open: Callable[[], object] | None
) -> AsyncGenerator[Any, None]:
    """The same for coroutines. `on_open` can return something to await."""
    try:
        from websockets.asyncio.client import connect
        from websockets.exceptions import ConnectionClosed, WebSocketException
    except ImportError as error:
        raise needed() from error
    try:
        socket = await connect(address, open_timeout=timeout)
    except (OSError, WebSocketException) as error:
        raise StreamError(1006, MEANINGS[1006]) from error
    async with socket:
        opened = None if on_open is None else on_open()
        if hasattr(opened, "__await__"):
            await opened
        while True:
            try:
                message = await socket.recv()
            except ConnectionClosed as error:
                raise ended(error) from error
            yield json.loads(message)


def ended(error: ConnectionClosed) -> StreamError:
    """Why the service closed a stream; without its reason, the connection broke."""
    if error.rcvd is None:
        return StreamError(1006, MEANINGS[1006])
    code = error.rcvd.code
    return StreamError(code, MEANINGS.get(code) or error.rcvd.reason or "The stream ended")


def needed() -> ImportError:
    return ImportError('Streams need more: pip install "durable-workflows[stream]"')
