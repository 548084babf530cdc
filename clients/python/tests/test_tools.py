"""Tools without the service: responses, secrets and keys."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Any

import httpx
import pytest

from durable_workflows.tools import Tool, ToolCall, ToolError, Tools, tool

SECRET = "a secret that both know"


class Reason(Enum):
    DAMAGED = "damaged"
    LATE = "late"


@dataclass
class Line:
    item: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


class Server:
    """The requests of a service to an application in this process."""

    def __init__(self, tools: Tools) -> None:
        self._http = httpx.AsyncClient(transport=httpx.ASGITransport(tools.asgi()), base_url="http://tools/base")

    async def post(self, name: str, arguments: Any = None, key: str | None = None, **headers: str) -> httpx.Response:
        content = arguments if isinstance(arguments, bytes) else json.dumps(arguments or {}).encode()
        given = {"authorization": f"Bearer {SECRET}", **({} if key is None else {"idempotency-key": key}), **headers}
        return await self._http.post(f"/{name}", content=content, headers=given)

    async def request(self, method: str, path: str) -> httpx.Response:
        return await self._http.request(method, path, headers={"authorization": f"Bearer {SECRET}"})


def test_results_become_json() -> None:
    tools = Tools(secret=SECRET)
    results: dict[str, Any] = {
        "none": (None, {}),
        "number": (1, 1),
        "text": ("ü", "ü"),
        "record": (Line("a"), {"item": "a", "count": 1, "tags": []}),
        "member": ([Reason.LATE, {1}], ["late", [1]]),
        "day": ({"at": date(2026, 1, 2)}, {"at": "2026-01-02"}),
    }
    for name, (value, _) in results.items():
        tools.add(Tool(returning(value), name=name))

    async def scenario() -> None:
        server = Server(tools)
        for name, (_, expected) in results.items():
            response = await server.post(name)
            assert (response.status_code, response.json()) == (200, expected)
            assert response.headers["content-type"] == "application/json"

    asyncio.run(scenario())


def returning(value: Any) -> Any:
    def function() -> Any:
        return value

    return function


def test_refusals_have_the_statuses_that_the_service_expects(caplog: pytest.LogCaptureFixture) -> None:
    tools = Tools(secret=SECRET, max_body=100)

    @tools.tool
    def fails(how: str) -> float:
        if how == "wrong":
            raise ToolError("There is no such customer")
        if how == "busy":
            raise ToolError("Too many", retry_after=7)
        if how == "again":
            raise ToolError("Not yet", retry=True)
        if how == "nan":
            return float("nan")
        raise KeyError(how)

    async def scenario() -> None:
        server = Server(tools)
        for how, status, error in (
            ("wrong", 400, "There is no such customer"),
            ("busy", 503, "Too many"),
            ("again", 503, "Not yet"),
            ("bug", 500, "KeyError: 'bug'"),
        ):
            response = await server.post("fails", {"how": how})
            assert (response.status_code, response.json()) == (status, {"error": error})
            assert response.headers.get("retry-after") == ("7" if how == "busy" else None)
        assert (await server.post("fails", {"how": "nan"})).status_code == 500
        for body, status, error in (
            (b"{", 400, "The body is not JSON"),
            (b"NaN", 400, "The body is not JSON"),
            (b"[" * 90, 400, "The body is not JSON"),
            (b"[]", 400, "the arguments must be an object"),
            (b"", 400, "how is missing"),
            (b'{"how": 1}', 400, "how must be a text"),
            (b" " * 101, 413, "The arguments have more than 100 bytes"),
        ):
            response = await server.post("fails", body)
            assert (response.status_code, response.json()["error"]) == (status, error)
        assert (await server.post("fails", b'{"how": "a", "\\ud800": 1}')).json()[
            "error"
        ] == "\ud800 is not an argument"
        assert (await server.post("other")).status_code == 404
        response = await server.request("GET", "/fails")
        assert (response.status_code, response.headers["allow"]) == (405, "POST")

    with caplog.at_level(logging.ERROR, "durable_workflows.tools"):
        asyncio.run(scenario())
    assert [record.getMessage() for record in caplog.records] == ["The tool 'fails' failed"] * 2


def test_deep_arguments_are_a_refusal_and_no_crash() -> None:
    tools = Tools(secret=SECRET)

    @tools.tool
    def depth(value: Any) -> str:
        return type(value).__name__

    async def scenario() -> None:
        server = Server(tools)
        for depths, statuses in ((90, {200}), (3_000, {200, 400}), (500_000, {400})):
            body = b'{"value": ' + b"[" * depths + b"]" * depths + b"}"
            assert (await server.post("depth", body)).status_code in statuses

    asyncio.run(scenario())


def test_only_who_knows_the_secret_can_call() -> None:
    calls: list[str] = []
    tools = Tools(secret=SECRET)
    tools.tool(name="note")(lambda: calls.append("called"))
    opened = Tools(tool(name="note")(lambda: calls.append("open")), secret=None)

    async def scenario() -> None:
        for wrong in ("", "Bearer", f"Bearer {SECRET}x", f"bearer {SECRET}", SECRET, "Bearer ü"):
            async with httpx.AsyncClient(transport=httpx.ASGITransport(tools.asgi())) as http:
                for name in ("note", "other"):
                    response = await http.post(
                        f"http://tools/{name}", headers={b"authorization": wrong.encode("latin-1")}
                    )
                    assert (response.status_code, response.headers["www-authenticate"]) == (401, "Bearer")
        assert calls == []
        assert (await Server(opened).post("note", authorization="")).status_code == 200

    asyncio.run(scenario())
    assert calls == ["open"]


def test_a_key_is_executed_once_and_repeats_wait() -> None:
    tools = Tools(secret=SECRET)
    seen: list[str | None] = []

    async def scenario() -> None:
        entered, leave = asyncio.Event(), asyncio.Event()

        @tools.tool
        async def pay(amount: int, call: ToolCall) -> dict[str, int]:
            seen.append(call.idempotency_key)
            entered.set()
            await leave.wait()
            return {"payment": len(seen)}

        assert list(pay.input_schema["properties"]) == ["amount"]
        server = Server(tools)
        first = asyncio.create_task(server.post("pay", {"amount": 1}, "k1"))
        await entered.wait()
        # The service no longer waits for the first one.
        first.cancel()
        others = [asyncio.create_task(server.post("pay", {"amount": 1}, "k1")) for _ in range(5)]
        await asyncio.sleep(0.05)
        assert not any(other.done() for other in others)
        assert (await server.post("pay", {"amount": 2}, "k1")).status_code == 422
        leave.set()
        for response in await asyncio.gather(*others):
            assert (response.status_code, response.json()) == (200, {"payment": 1})
            assert response.headers["idempotent-replayed"] == "true"
        later = await server.post("pay", {"amount": 1}, "k1")
        assert later.json() == {"payment": 1}
        assert (await server.post("pay", {"amount": 1}, "k2")).json() == {"payment": 2}
        assert (await server.post("pay", {"amount": 1})).json() == {"payment": 3}

    asyncio.run(scenario())
    assert seen == ["k1", "k2", None]


def test_a_failure_is_remembered_too_and_wrong_arguments_are_not() -> None:
    tools = Tools(secret=SECRET)
    calls: list[int] = []

    @tools.tool
    def fail(n: int) -> None:
        calls.append(n)
        raise ToolError("No", retry=True)

    @tools.tool(name="other")
    def same_key(n: int) -> int:
        return n

    async def scenario() -> None:
        server = Server(tools)
        assert (await server.post("fail", {"n": "1"}, "k")).status_code == 400
        for _ in range(3):
            assert (await server.post("fail", {"n": 1}, "k")).status_code == 503
        assert (await server.post("other", {"n": 5}, "k")).json() == 5

    asyncio.run(scenario())
    assert calls == [1]


def test_memory_for_keys_is_bounded() -> None:
    tools = Tools(secret=SECRET, max_keys=3, max_bytes=1000)
    calls: list[int] = []

    @tools.tool
    def text(size: int) -> str:
        calls.append(size)
        return "x" * size

    async def scenario() -> None:
        server = Server(tools)
        for n in range(10):
            await server.post("text", {"size": 1}, f"k{n}")
        assert len(tools._executions) == 3
        await server.post("text", {"size": 1}, "k9")
        assert len(calls) == 10
        await server.post("text", {"size": 1}, "k0")
        assert len(calls) == 11
        await server.post("text", {"size": 900}, "large")
        assert len(tools._executions) == 3
        await server.post("text", {"size": 950}, "larger")
        assert [key for _, key in tools._executions._known] == ["larger"]
        await server.post("text", {"size": 5000}, "too large")
        assert len(tools._executions) == 0
        assert tools._executions._bytes == 0

    asyncio.run(scenario())


def test_functions_that_block_run_beside_each_other() -> None:
    tools = Tools(secret=SECRET)
    together = threading.Barrier(2, timeout=30)

    @tools.tool
    def meet() -> int:
        return together.wait()

    async def scenario() -> None:
        server = Server(tools)
        both = await asyncio.gather(server.post("meet"), server.post("meet"))
        assert sorted(response.json() for response in both) == [0, 1]

    asyncio.run(scenario())


def test_a_server_that_stops_waits_for_its_calls() -> None:
    tools = Tools(secret=SECRET)
    ended: list[str] = []

    async def scenario() -> None:
        entered, leave = asyncio.Event(), asyncio.Event()

        @tools.tool
        async def slow() -> None:
            entered.set()
            await leave.wait()
            ended.append("slow")

        call = asyncio.create_task(Server(tools).post("slow", None, "k"))
        await entered.wait()
        call.cancel()
        inbox: asyncio.Queue[Any] = asyncio.Queue()
        sent: list[str] = []

        async def send(message: Any) -> None:
            sent.append(message["type"])

        app = asyncio.create_task(tools.asgi()({"type": "lifespan"}, inbox.get, send))
        await inbox.put({"type": "lifespan.startup"})
        await inbox.put({"type": "lifespan.shutdown"})
        await asyncio.sleep(0.05)
        assert sent == ["lifespan.startup.complete"]
        leave.set()
        await app
        assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
        await tools.asgi()({"type": "websocket"}, inbox.get, send)
        assert sent[-1] == "websocket.close"

    asyncio.run(scenario())
    assert ended == ["slow"]
