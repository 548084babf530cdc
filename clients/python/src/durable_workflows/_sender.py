"""Sends calls over HTTP: one half that blocks, and one to await."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import httpx

from ._call import Call
from ._flow import Attempt, Flow, Pause, Reply, Settings, send
from ._pages import Pages, is_whole
from .errors import NoResponseError, WorkflowError

T = TypeVar("T")


class Sender:
    """Sends calls and waits for their responses."""

    def __init__(self, settings: Settings, http: httpx.Client) -> None:
        self._settings = settings
        self._http = http

    def _send(self, call: Call) -> Any:
        return self._drive(send(self._settings, call))

    def _all(self, call: Call) -> Any:
        rows: list[Any] = self._send(call)
        if not is_whole(call, rows):
            rows.extend(self._each(Pages(call, "", "offset", seen=rows)))
        return rows

    def _rows(self, call: Call, key: str, by: str) -> Iterator[Any]:
        return self._each(Pages(call, key, by))

    def _each(self, pages: Pages) -> Iterator[Any]:
        while pages.next is not None:
            yield from pages.take(self._send(pages.next))

    def _drive(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    reply = self._do(step)
                except WorkflowError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result

    def _do(self, step: Attempt | Pause) -> Reply | None:
        if isinstance(step, Pause):
            time.sleep(step.seconds)
            return None
        end = time.monotonic() + step.left
        try:
            response = self._http.send(
                request_of(self._http, step),
                stream=True,
                auth=None,
                # Following a redirect would send the credential to its target.
                follow_redirects=False,
            )
            try:
                return reply_of(response, b"".join(until(end, response.iter_bytes(), step)))
            finally:
                response.close()
        except httpx.HTTPError as error:
            raise failure_of(error, step, self._settings.base_url) from error


class AsyncSender:
    """Sends calls of coroutines of asyncio."""

    def __init__(self, settings: Settings, http: httpx.AsyncClient) -> None:
        self._settings = settings
        self._http = http

    async def _send(self, call: Call) -> Any:
        return await self._drive(send(self._settings, call))

    async def _all(self, call: Call) -> Any:
        rows: list[Any] = await self._send(call)
        if not is_whole(call, rows):
            rows.extend([row async for row in self._each(Pages(call, "", "offset", seen=rows))])
        return rows

    def _rows(self, call: Call, key: str, by: str) -> AsyncIterator[Any]:
        return self._each(Pages(call, key, by))

    async def _each(self, pages: Pages) -> AsyncIterator[Any]:
        while pages.next is not None:
            for row in pages.take(await self._send(pages.next)):
                yield row

    async def _drive(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    reply = await self._do(step)
                except WorkflowError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(reply)
        except StopIteration as done:
            result: T = done.value
            return result

    async def _do(self, step: Attempt | Pause) -> Reply | None:
        # Loaded here, since it takes as long as much of httpx, and `Client` does not need it.
        import asyncio

        if isinstance(step, Pause):
            await asyncio.sleep(step.seconds)
            return None
        try:
            return await asyncio.wait_for(self._fetch(step), step.left)
        except asyncio.TimeoutError:
            raise step.expired() from None
        except httpx.HTTPError as error:
            raise failure_of(error, step, self._settings.base_url) from error

    async def _fetch(self, step: Attempt) -> Reply:
        response = await self._http.send(request_of(self._http, step), stream=True, auth=None, follow_redirects=False)
        try:
            return reply_of(response, await response.aread())
        finally:
            await response.aclose()


def request_of(http: httpx.Client | httpx.AsyncClient, step: Attempt) -> httpx.Request:
    return http.build_request(
        step.method,
        step.url,
        headers=dict(step.headers),
        content=step.content,
        timeout=httpx.Timeout(step.left),
    )


def until(end: float, chunks: Iterator[bytes], step: Attempt) -> Iterator[bytes]:
    """The chunks of a body. Raises when the call has taken too long, even if each chunk came in time."""
    for chunk in chunks:
        if time.monotonic() > end:
            raise step.expired()
        yield chunk


def reply_of(response: httpx.Response, content: bytes) -> Reply:
    return Reply(response.status_code, response.headers, content, response.reason_phrase)


def failure_of(error: httpx.HTTPError, step: Attempt, base_url: str) -> NoResponseError:
    if isinstance(error, httpx.TimeoutException):
        return step.expired()
    reason = f" ({error})" if str(error) else f" ({type(error).__name__})"
    return NoResponseError(f"{base_url} cannot be reached{reason}")
