"""The clients of the service."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from functools import cached_property
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from . import _runs
from ._async_data_operations import AsyncDataOperations
from ._async_operations import AsyncOperations
from ._call import NOT_GIVEN, fill_path, header_value
from ._data_operations import DataOperations
from ._flow import Settings
from ._operations import Operations
from ._stream import AgentDeltaFrame, WorkspaceFrame, address_of, read_async_stream, read_stream
from ._version import __version__

if TYPE_CHECKING:
    from . import models as m

BASE_URL = "http://127.0.0.1:8000"
WAIT_SECONDS = 300.0
POLL_SECONDS = 0.5


class Client(Operations):
    """A client of the service, with a method for each operation, and helpers built on them.

    The methods of the data API are in `data`. Use it as a context manager, or call `close`.

    Args:
        base_url: The service's URL, without `/api`
        api_key: An API key, sent as `X-API-Key`; it takes precedence over `token`, except for streams
        token: A session token, sent as `Authorization: Bearer` and used to open streams
        data_key: A key of the data API, for the methods of `data`
        timeout: Seconds for a call, including its retries
        retries: How often a read or a start is sent again after a transient failure
        http_client: The client of httpx to use; it decides about proxies and certificates, and is not closed
    """

    def __init__(
        self,
        base_url: str = BASE_URL,
        *,
        api_key: str | None = None,
        token: str | None = None,
        data_key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._own = http_client is None
        http = http_client or httpx.Client(cookies=no_cookies(), headers=agent())
        super().__init__(Settings(checked_url(base_url), credential(api_key, token), timeout, retries), http)
        self._token = token
        self._data_credential = credential(None, data_key, name="data_key")

    @cached_property
    def data(self) -> DataOperations:
        """The methods of the data API, with the credential `data_key`."""
        settings = self._settings._replace(credential=self._data_credential)
        return DataOperations(settings, self._http)

    def run(
        self,
        workflow: str,
        input: Mapping[str, Any] | None = None,
        *,
        wait: bool = False,
        timeout: float = WAIT_SECONDS,
        poll_interval: float = POLL_SECONDS,
        idempotency_key: str | None = None,
        draft: bool = False,
    ) -> m.Run:
        """Start a run of the workflow with this id or, if there is none, exactly this name.

        One call starts at most one run, including its retries. With `wait`, it reads the run every `poll_interval`
        seconds until it is `success`, `failed` or `paused`, and raises a `WaitTimeoutError` after `timeout` seconds;
        the run continues. Raises a `RunSkippedError` if the limit of the workflow skips the run.
        """
        started = self._drive(
            _runs.start(self._settings, workflow, input, draft=draft, idempotency_key=idempotency_key)
        )
        if not wait:
            return started
        return self.wait_for_run(started["id"], timeout=timeout, poll_interval=poll_interval)

    def wait_for_run(self, run_id: str, *, timeout: float = WAIT_SECONDS, poll_interval: float = POLL_SECONDS) -> m.Run:
        """Read a run until it is `success`, `failed` or `paused`.

        Raises a `WaitTimeoutError` after `timeout` seconds; the run continues.
        """
        return self._drive(_runs.wait(self._settings, run_id, timeout=timeout, poll_interval=poll_interval))

    def trigger_run(
        self,
        workflow_id: str,
        input: Mapping[str, Any] | None = None,
        *,
        draft: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Run:
        """Start a run of the workflow with this id, or of its draft.

        Raises a `RunSkippedError` if the limit of the workflow skips the run.
        """
        return self._drive(
            _runs.trigger(
                self._settings,
                workflow_id,
                input,
                draft=draft,
                idempotency_key=idempotency_key,
                timeout=timeout,
            )
        )

    def send_event(
        self,
        workflow_id: str,
        secret: str,
        event: Any = NOT_GIVEN,
        *,
        sign: bool = False,
        event_id: str | None = None,
        timeout: float | None = None,
    ) -> m.HookAnswer | m.HookEvent:
        """Start a run like an external system, or send an event if the webhook has an `event`.

        Args:
            secret: The last part of the webhook's URL
            sign: Add the headers that a webhook with `require_signature` requires
            event_id: Deduplicates the event: it starts one run within the webhook's window, or is sent once
        """
        return self._drive(
            _runs.event(
                self._settings,
                workflow_id,
                secret,
                event,
                sign=sign,
                event_id=event_id,
                timeout=timeout,
            )
        )

    def stream(
        self,
        run_id: str,
        *,
        deltas: bool = False,
        on_open: Callable[[], object] | None = None,
    ) -> Generator[m.StreamFrame | AgentDeltaFrame, None, None]:
        """Iterate over the frames of a run from now on.

        Read the run in `on_open` to miss nothing. The stream does not end with the run, because a failed run can be
        resumed: leave the loop. With `deltas`, there are also frames about agents' turns and their models' answers as
        they arrive.
        Raises a `StreamError` when the connection ends.
        """
        path = fill_path("/api/runs/{id}/stream", (run_id,))
        address = address_of(self._settings.base_url, path, self._token, deltas=deltas)
        return read_stream(address, self._settings.timeout, on_open)

    def stream_workspace(self, *, on_open: Callable[[], object] | None = None) -> Generator[WorkspaceFrame, None, None]:
        """Iterate over changes in the workspace from now on, at most one frame per second."""
        address = address_of(self._settings.base_url, "/api/stream", self._token, deltas=False)
        return read_stream(address, self._settings.timeout, on_open)

    def close(self) -> None:
        """Close the connections. A client of httpx that was given stays open."""
        if self._own:
            self._http.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(AsyncOperations):
    """The same as `Client`, for coroutines of asyncio: methods are awaited, and iterators are asynchronous.

    Close it with `aclose`, or use it in `async with`.
    """

    def __init__(
        self,
        base_url: str = BASE_URL,
        *,
        api_key: str | None = None,
        token: str | None = None,
        data_key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._own = http_client is None
        http = http_client or httpx.AsyncClient(cookies=no_cookies(), headers=agent())
        super().__init__(Settings(checked_url(base_url), credential(api_key, token), timeout, retries), http)
        self._token = token
        self._data_credential = credential(None, data_key, name="data_key")

    @cached_property
    def data(self) -> AsyncDataOperations:
        """The methods of the data API, with the credential `data_key`."""
        settings = self._settings._replace(credential=self._data_credential)
        return AsyncDataOperations(settings, self._http)

    async def run(
        self,
        workflow: str,
        input: Mapping[str, Any] | None = None,
        *,
        wait: bool = False,
        timeout: float = WAIT_SECONDS,
        poll_interval: float = POLL_SECONDS,
        idempotency_key: str | None = None,
        draft: bool = False,
    ) -> m.Run:
        """Start a run of a workflow, and wait for it if `wait` is set: see `Client.run`."""
        started = await self._drive(
            _runs.start(self._settings, workflow, input, draft=draft, idempotency_key=idempotency_key)
        )
        if not wait:
            return started
        return await self.wait_for_run(started["id"], timeout=timeout, poll_interval=poll_interval)

    async def wait_for_run(
        self, run_id: str, *, timeout: float = WAIT_SECONDS, poll_interval: float = POLL_SECONDS
    ) -> m.Run:
        """Read a run until it is `success`, `failed` or `paused`: see `Client.wait_for_run`."""
        return await self._drive(_runs.wait(self._settings, run_id, timeout=timeout, poll_interval=poll_interval))

    async def trigger_run(
        self,
        workflow_id: str,
        input: Mapping[str, Any] | None = None,
        *,
        draft: bool = False,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.Run:
        """Start a run of the workflow with this id, or of its draft: see `Client.trigger_run`."""
        return await self._drive(
            _runs.trigger(
                self._settings,
                workflow_id,
                input,
                draft=draft,
                idempotency_key=idempotency_key,
                timeout=timeout,
            )
        )

    async def send_event(
        self,
        workflow_id: str,
        secret: str,
        event: Any = NOT_GIVEN,
        *,
        sign: bool = False,
        event_id: str | None = None,
        timeout: float | None = None,
    ) -> m.HookAnswer | m.HookEvent:
        """Start a run like an external system: see `Client.send_event`."""
        return await self._drive(
            _runs.event(
                self._settings,
                workflow_id,
                secret,
                event,
                sign=sign,
                event_id=event_id,
                timeout=timeout,
            )
        )

    def stream(
        self,
        run_id: str,
        *,
        deltas: bool = False,
        on_open: Callable[[], Awaitable[object] | object] | None = None,
    ) -> AsyncGenerator[m.StreamFrame | AgentDeltaFrame, None]:
        """Iterate over the frames of a run from now on: see `Client.stream`. `on_open` can be a coroutine function."""
        path = fill_path("/api/runs/{id}/stream", (run_id,))
        address = address_of(self._settings.base_url, path, self._token, deltas=deltas)
        return read_async_stream(address, self._settings.timeout, on_open)

    def stream_workspace(
        self, *, on_open: Callable[[], Awaitable[object] | object] | None = None
    ) -> AsyncGenerator[WorkspaceFrame, None]:
        """Iterate over changes in the workspace from now on, at most one frame per second."""
        address = address_of(self._settings.base_url, "/api/stream", self._token, deltas=False)
        return read_async_stream(address, self._settings.timeout, on_open)

    async def aclose(self) -> None:
        """Close the connections. A client of httpx that was given stays open."""
        if self._own:
            await self._http.aclose()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def checked_url(text: str) -> str:
    """The base URL without a trailing slash. Raises a ValueError for what is not the address of a service."""
    url = urlsplit(text)
    if url.scheme not in ("http", "https") or not url.hostname:
        raise ValueError("base_url must be an http or https address")
    if "@" in url.netloc or url.query or url.fragment:
        raise ValueError("base_url must have neither credentials nor a query")
    return f"{url.scheme}://{url.netloc}{url.path.rstrip('/')}"


def credential(api_key: str | None, token: str | None, *, name: str = "token") -> dict[str, str]:
    """The header that a credential is sent in. `name` is the argument that the token came from."""
    if api_key is not None:
        return {"x-api-key": header_value("api_key", api_key)}
    if token is not None:
        return {"authorization": f"Bearer {header_value(name, token)}"}
    return {}


def agent() -> dict[str, str]:
    """The header that says which client calls."""
    return {"user-agent": f"durable-workflows-python/{__version__}"}


def no_cookies() -> CookieJar:
    """A jar that keeps nothing: credentials are in headers only."""
    return CookieJar(DefaultCookiePolicy(allowed_domains=[]))
