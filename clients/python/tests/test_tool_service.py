"""Tools that the real service calls."""

from __future__ import annotations

import asyncio
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Annotated, Any, Literal

import pytest
import uvicorn

from durable_workflows import AsyncClient, Client
from durable_workflows.tools import ToolCall, ToolError, Tools

numbers = itertools.count(1)


@pytest.fixture
def client(service_url: str, token: str) -> Iterator[Client]:
    with Client(service_url, token=token) as client:
        yield client


@pytest.fixture
def serve_tools() -> Iterator[Callable[[Tools], str]]:
    """Serves tools with uvicorn. Gives their address."""
    running: list[tuple[uvicorn.Server, threading.Thread]] = []

    def start(tools: Tools) -> str:
        config = uvicorn.Config(tools.asgi(), host="127.0.0.1", port=0, log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        running.append((server, thread))
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        return f"http://127.0.0.1:{port}"

    yield start
    for server, thread in running:
        server.should_exit = True
        thread.join()


def run_tool(client: Client, name: str, params: dict[str, Any]) -> Any:
    """The run of a workflow whose only node calls the tool."""
    workflow = client.create_workflow(
        name=f"Tool {next(numbers)}",
        graph={
            "nodes": [{"id": "call", "kind": "tool", "tool_name": f"custom:{name}", "params": params}],
            "edges": [],
        },
    )
    return client.run(workflow["id"], {"order": "A-1"}, wait=True, poll_interval=0.05)


def test_a_tool_is_registered_and_called_by_a_workflow(client: Client, serve_tools: Callable[[Tools], str]) -> None:
    tools = Tools(secret="shared secret 1")
    calls: list[ToolCall] = []

    @tools.tool
    def refund(
        order: Annotated[str, "The id of the order"],
        amount: float,
        call: ToolCall,
        reason: Literal["damaged", "late"] = "late",
    ) -> dict[str, Any]:
        """Refunds an order."""
        calls.append(call)
        return {"order": order, "refunded": amount, "reason": reason}

    address = serve_tools(tools)
    [registered] = tools.register(client, f"{address}/")
    assert registered["endpoint_url"] == f"{address}/refund"
    assert registered["description"] == "Refunds an order."
    assert registered["input_schema"] == refund.input_schema
    assert registered["headers"] == {"Authorization": "***"}
    run = run_tool(client, "refund", {"order": "{order}", "amount": 12.5})
    assert run["status"] == "success", run["error"]
    assert run["state"]["call"] == {"order": "A-1", "refunded": 12.5, "reason": "late"}
    assert len(calls) == 1
    assert calls[0].idempotency_key
    refused = run_tool(client, "refund", {"order": 1, "amount": 12.5})
    assert refused["status"] == "failed"
    assert len(calls) == 1
    # A second registration updates the first.
    [updated] = tools.register(client, address)
    assert updated["id"] == registered["id"]

    async def again() -> list[Any]:
        async with AsyncClient(client._settings.base_url, token=client._token) as other:
            return await tools.register_async(other, address)

    assert [tool["id"] for tool in asyncio.run(again())] == [registered["id"]]
    client.delete_tool(registered["id"])


def test_a_call_whose_response_is_lost_is_executed_once(client: Client, serve_tools: Callable[[Tools], str]) -> None:
    tools = Tools(secret="shared secret 2")
    keys: list[str | None] = []

    @tools.tool(timeout_seconds=1, retry_count=5)
    def slow_payment(call: ToolCall) -> dict[str, int]:
        keys.append(call.idempotency_key)
        time.sleep(1.5)
        return {"payment": len(keys)}

    [registered] = tools.register(client, serve_tools(tools))
    run = run_tool(client, "slow_payment", {})
    assert run["status"] == "success", run["error"]
    assert run["state"]["call"] == {"payment": 1}
    assert len(keys) == 1
    client.delete_tool(registered["id"])


def test_failures_are_retried_as_the_service_documents(client: Client, serve_tools: Callable[[Tools], str]) -> None:
    tools = Tools(secret="shared secret 3")
    keys: dict[str, list[str | None]] = {"busy": [], "bug": [], "wrong": []}

    @tools.tool(retry_count=2)
    def flaky(how: str, call: ToolCall) -> str:
        keys[how].append(call.idempotency_key)
        if len(keys[how]) > 1:
            return "done"
        if how == "busy":
            raise ToolError("Try later", retry_after=1)
        if how == "wrong":
            raise ToolError("There is no such order")
        raise KeyError(how)

    [registered] = tools.register(client, serve_tools(tools))
    for how in ("busy", "bug"):
        run = run_tool(client, "flaky", {"how": how})
        assert run["status"] == "success", run["error"]
        assert run["state"]["call"] == {"result": "done"}
        assert len(set(keys[how])) == 2
    run = run_tool(client, "flaky", {"how": "wrong"})
    assert run["status"] == "failed"
    assert "There is no such order" in run["error"]
    assert len(keys["wrong"]) == 1
    client.delete_tool(registered["id"])


def test_a_service_with_another_secret_is_refused(client: Client, serve_tools: Callable[[Tools], str]) -> None:
    def locked() -> None:
        raise AssertionError("It was called")

    address = serve_tools(make(locked, "the right secret"))
    [registered] = make(locked, "another secret").register(client, address)
    run = run_tool(client, "locked", {})
    assert run["status"] == "failed"
    assert "The credential is missing or wrong" in run["error"]
    assert client.test_tool(registered["id"])["status"] == 401
    client.delete_tool(registered["id"])


def make(function: Callable[[], None], secret: str) -> Tools:
    tools = Tools(secret=secret)
    tools.tool(function)
    return tools
