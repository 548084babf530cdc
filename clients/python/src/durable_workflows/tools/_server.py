"""Tools behind HTTP."""

from __future__ import annotations

import asyncio
import dataclasses
import enum
import hashlib
import hmac
import json
import logging
from collections.abc import Awaitable, Callable, Coroutine, MutableMapping
from datetime import date
from typing import TYPE_CHECKING, Any, NoReturn, ParamSpec, TypeVar, overload
from uuid import UUID

from .._call import header_value
from ._keys import Executions, Outcome
from ._shape import ArgumentError
from ._tool import Decorator, Tool, ToolCall, ToolError, decorated

if TYPE_CHECKING:
    from .. import AsyncClient, Client
    from .. import models as m

P = ParamSpec("P")
R = TypeVar("R")
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Coroutine[Any, Any, None]]

logger = logging.getLogger("durable_workflows.tools")
MEGABYTE = 1_000_000


class RefusedError(Exception):
    """A request that is refused before the tool is called."""

    def __init__(self, status: int, error: str, *headers: tuple[bytes, bytes]) -> None:
        super().__init__(error)
        self.outcome = Outcome(status, encode({"error": error}), headers)


class Tools:
    """The tools of one server.

    Each call with the same `Idempotency-Key` is executed once: a repeated call gets the same response, and waits for it
    if the first one is still executed. The outcomes are kept in memory, at most `max_keys` and at most `max_bytes`, so
    this holds within one process. Pass `ToolCall.idempotency_key` on to make it hold beyond.

    Args:
        tools: More are added with `tool`
        secret: What the service sends as `Authorization: Bearer`; with None, the server does not ask who calls
        max_body: The most bytes in a request
        max_keys: How many outcomes are kept
        max_bytes: How many bytes of their bodies are kept
    """

    def __init__(
        self,
        *tools: Tool[Any, Any],
        secret: str | None,
        max_body: int = 5 * MEGABYTE,
        max_keys: int = 10_000,
        max_bytes: int = 64 * MEGABYTE,
    ) -> None:
        self._secret = None if secret is None else header_value("secret", secret)
        self._max_body = max_body
        self._executions = Executions(max_keys, max_bytes)
        self._tools: dict[str, Tool[Any, Any]] = {}
        for each in tools:
            self.add(each)

    def add(self, tool: Tool[Any, Any]) -> None:
        """Serves another tool. Raises a ValueError if its name is taken."""
        if tool.name in self._tools:
            raise ValueError(f"There are two tools with the name '{tool.name}'")
        self._tools[tool.name] = tool

    @overload
    def tool(self, function: Callable[P, R], /) -> Tool[P, R]: ...
    @overload
    def tool(
        self,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        read_only: bool | None = None,
        timeout_seconds: int | None = None,
        retry_count: int | None = None,
    ) -> Decorator: ...
    def tool(self, function: Any = None, /, **given: Any) -> Any:
        """Makes a tool of a function, like the decorator `tool`, and serves it."""
        return decorated(function, given, self.add)

    def registrations(self, base_url: str) -> list[dict[str, Any]]:
        """What `register_tool` takes for each tool of the server at this address."""
        headers = {} if self._secret is None else {"Authorization": f"Bearer {self._secret}"}
        return [
            {
                "name": tool.name,
                "description": tool.description,
                "kind": "http",
                "method": "POST",
                "endpoint_url": f"{base_url.rstrip('/')}/{tool.name}",
                "headers": headers,
                "input_schema": tool.input_schema,
                **tool.options,
            }
            for tool in self._tools.values()
        ]

    def register(self, client: Client, base_url: str) -> list[m.CustomTool]:
        """Registers the tools with the service, or updates those with the same names.

        Args:
            client: Its credential needs `create_edit_workflows`
            base_url: The address under which the service reaches this server
        """
        known = {tool["name"]: tool["id"] for tool in client.list_tools()}
        return [
            client.update_tool(known[name], **fields) if name in known else client.register_tool(name=name, **fields)
            for name, fields in self._named(base_url)
        ]

    async def register_async(self, client: AsyncClient, base_url: str) -> list[m.CustomTool]:
        """The same as `register` with an `AsyncClient`."""
        known = {tool["name"]: tool["id"] for tool in await client.list_tools()}
        return [
            await client.update_tool(known[name], **fields)
            if name in known
            else await client.register_tool(name=name, **fields)
            for name, fields in self._named(base_url)
        ]

    def _named(self, base_url: str) -> list[tuple[str, dict[str, Any]]]:
        return [(fields.pop("name"), fields) for fields in self.registrations(base_url)]

    def asgi(self) -> App:
        """An ASGI application for servers of asyncio, such as uvicorn. A tool is at `POST /<name>`, below any path."""

        # A function, since servers look for one: they would take a bound method for an application of ASGI 2.
        async def app(scope: Message, receive: Receive, send: Send) -> None:
            await self._serve(scope, receive, send)

        return app

    async def _serve(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            try:
                outcome = await self._answer(scope, receive)
            except RefusedError as refusal:
                outcome = refusal.outcome
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(outcome.body)).encode())]
            await send(
                {"type": "http.response.start", "status": outcome.status, "headers": [*headers, *outcome.headers]}
            )
            await send({"type": "http.response.body", "body": outcome.body})
        else:
            await send({"type": "websocket.close", "code": 1000})

    async def _live(self, receive: Receive, send: Send) -> None:
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await self._executions.settle()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Message, receive: Receive) -> Outcome:
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        self._authenticate(headers.get("authorization", ""))
        name = scope["path"].rstrip("/").rsplit("/", 1)[-1]
        tool = self._tools.get(name)
        if tool is None:
            raise RefusedError(404, f"There is no tool '{name}'")
        if scope["method"] != "POST":
            raise RefusedError(405, "Use POST", (b"allow", b"POST"))
        arguments, digest = parse(await self._body(receive))
        call = ToolCall(name, headers.get("idempotency-key"), headers)
        known = None if call.idempotency_key is None else self._executions.find(name, call.idempotency_key)
        if known is not None:
            if known.digest != digest:
                raise RefusedError(422, "The Idempotency-Key was used with other arguments")
            outcome = await asyncio.shield(known.task)
            return outcome._replace(headers=(*outcome.headers, (b"idempotent-replayed", b"true")))
        try:
            read = tool.read(arguments)
        except ArgumentError as error:
            raise RefusedError(400, str(error)) from None
        task = self._executions.start(name, call.idempotency_key, digest, lambda: outcome_of(tool, read, call))
        # Even if the service no longer waits: it sends the key again.
        return await asyncio.shield(task)

    def _authenticate(self, given: str) -> None:
        if self._secret is None:
            return
        expected = f"Bearer {self._secret}"
        if not hmac.compare_digest(given.encode("latin-1"), expected.encode("latin-1")):
            raise RefusedError(401, "The credential is missing or wrong", (b"www-authenticate", b"Bearer"))

    async def _body(self, receive: Receive) -> bytes:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise RefusedError(400, "The request ended early")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body:
                raise RefusedError(413, f"The arguments have more than {self._max_body} bytes")
            if not message.get("more_body", False):
                return b"".join(parts)


async def outcome_of(tool: Tool[Any, Any], arguments: dict[str, Any], call: ToolCall) -> Outcome:
    """Calls a tool. An exception becomes the response that the service retries, and is logged."""
    try:
        result = await tool.serve(arguments, call)
        return Outcome(200, b"{}" if result is None else encode(result))
    except ToolError as error:
        after = () if error.retry_after is None else ((b"retry-after", str(error.retry_after).encode()),)
        return Outcome(error.status, encode({"error": error.detail}), after)
    except Exception as error:
        logger.exception("The tool '%s' failed", tool.name)
        return Outcome(500, encode({"error": f"{type(error).__name__}: {error}"}))


def parse(body: bytes) -> tuple[Any, bytes]:
    """The arguments in a body, and their digest. No body means none."""
    try:
        arguments = json.loads(body, parse_constant=refuse_constant) if body else {}
        return arguments, hashlib.sha256(json.dumps(arguments, sort_keys=True).encode()).digest()
    except (ValueError, RecursionError):
        raise RefusedError(400, "The body is not JSON") from None


def refuse_constant(name: str) -> NoReturn:
    """Refuses NaN and Infinity, which Python reads as JSON."""
    raise ValueError(name)


def encode(value: Any) -> bytes:
    """A result as JSON. Raises a TypeError or a ValueError for what has no JSON form."""
    # As ASCII, since a text can have half a character, which is no UTF-8.
    return json.dumps(value, default=plain, allow_nan=False, separators=(",", ":")).encode()


def plain(value: Any) -> Any:
    """What JSON has for a value that is none of its own."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"A result of the type {type(value).__name__} has no JSON form")
