"""What the tests share: the service, and both clients behind one interface."""

from __future__ import annotations

import asyncio
import inspect
import os
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
from fakes import Answer, FakeServer

from durable_workflows import AsyncClient, Client


class Waited:
    """An `AsyncClient` with the methods of a `Client`: each is awaited, and iterators are read step by step."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        if not callable(found):
            return Waited(found, self._loop)

        def call(*args: Any, **given: Any) -> Any:
            result = found(*args, **given)
            if inspect.isawaitable(result):
                return self._loop.run_until_complete(result)
            return self._steps(result) if hasattr(result, "__anext__") else result

        return call

    def _steps(self, rows: AsyncIterator[Any]) -> Iterator[Any]:
        try:
            while True:
                try:
                    yield self._loop.run_until_complete(anext(rows))
                except StopAsyncIteration:
                    return
        finally:
            self._loop.run_until_complete(rows.aclose())  # type: ignore[attr-defined]


Connect = Callable[..., Any]


@pytest.fixture(params=["Client", "AsyncClient"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """Creates clients of either kind. What they return has the methods of a `Client`."""
    clients: list[Any] = []
    loop = asyncio.new_event_loop()

    def create(*args: Any, **given: Any) -> Any:
        if request.param == "Client":
            clients.append(Client(*args, **given))
            return clients[-1]
        clients.append(Waited(AsyncClient(*args, **given), loop))
        return clients[-1]

    yield create
    for client in clients:
        client.close() if isinstance(client, Client) else client.aclose()
    loop.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., FakeServer]]:
    """Starts servers that send these answers in order."""
    servers: list[FakeServer] = []

    def start(*answers: Answer) -> FakeServer:
        servers.append(FakeServer(answers))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(scope="session")
def service_url() -> str:
    """The base URL of a service in required mode."""
    url = os.environ.get("SERVICE_URL")
    if url is None:
        pytest.skip("SERVICE_URL is not set: npm run test:clients starts the service")
    return url


@pytest.fixture(scope="session")
def token(service_url: str) -> str:
    """A session token of the owner."""
    with Client(service_url) as visitor:
        return visitor.login("owner@localhost", os.environ["OWNER_PASSWORD"])["token"]
