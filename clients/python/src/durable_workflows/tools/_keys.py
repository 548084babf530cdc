"""One execution per idempotency key, within one process."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple


class Outcome(NamedTuple):
    """A response."""

    status: int
    body: bytes
    headers: tuple[tuple[bytes, bytes], ...] = ()


class Execution(NamedTuple):
    """What a key stands for: the digest of its arguments, and the work or its outcome."""

    digest: bytes
    task: asyncio.Task[Outcome]


class Executions:
    """Remembers the outcomes of keys: at most `max_keys`, and at most `max_bytes` of their bodies.

    The oldest outcomes are forgotten first. Work that has not ended is never forgotten.
    """

    def __init__(self, max_keys: int, max_bytes: int) -> None:
        self._max_keys = max_keys
        self._max_bytes = max_bytes
        self._known: OrderedDict[tuple[str, str], Execution] = OrderedDict()
        self._bytes = 0
        self._running: set[asyncio.Task[Outcome]] = set()

    def __len__(self) -> int:
        return len(self._known)

    def find(self, name: str, key: str) -> Execution | None:
        """What the key of a tool stands for."""
        return self._known.get((name, key))

    def start(
        self, name: str, key: str | None, digest: bytes, work: Callable[[], Coroutine[Any, Any, Outcome]]
    ) -> asyncio.Task[Outcome]:
        """Starts work. It continues when the request ends, since the service sends the key again."""
        task = asyncio.create_task(work())
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        if key is not None:
            self._known[name, key] = Execution(digest, task)
            task.add_done_callback(self._keep)
        return task

    async def settle(self) -> None:
        """Waits until all work has ended."""
        if self._running:
            await asyncio.wait(self._running)

    def _keep(self, task: asyncio.Task[Outcome]) -> None:
        self._bytes += size_of(task)
        while len(self._known) > self._max_keys or self._bytes > self._max_bytes:
            oldest = next((known for known, execution in self._known.items() if execution.task.done()), None)
            if oldest is None:
                return
            self._bytes -= size_of(self._known.pop(oldest).task)


def size_of(task: asyncio.Task[Outcome]) -> int:
    """The size of the body of an outcome."""
    return 0 if task.cancelled() or task.exception() is not None else len(task.result().body)
