"""What a call does, without input and output: the same for `Client` and `AsyncClient`.

A flow is a generator. It yields what is to be done next, an attempt or a pause, and gets the reply; a failure of the
connection is raised in it.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Generator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any, NamedTuple, TypeAlias, TypeVar

from ._call import Call
from .errors import NoResponseError, WorkflowError, code_of

T = TypeVar("T")

FIRST_DELAY_SECONDS = 0.25
PASSING = (429, 502, 503, 504)


class Settings(NamedTuple):
    """What all calls of a client share. The base URL has no trailing slash; `timeout` is in seconds."""

    base_url: str
    credential: Mapping[str, str]
    timeout: float
    retries: int


class Attempt(NamedTuple):
    """One request to send. `left` are the seconds until `timeout`, which is for the whole call, is over."""

    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None
    left: float
    timeout: float

    def expired(self) -> NoResponseError:
        return NoResponseError(f"No answer within {self.timeout:g} s", timed_out=True)


class Pause(NamedTuple):
    seconds: float


class Reply(NamedTuple):
    """One response. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    reason: str


Flow: TypeAlias = "Generator[Attempt | Pause, Any, T]"


class Record(dict[str, Any]):
    """A record with the header `ETag` of its response."""

    tag: str | None = None


def etag_of(record: Mapping[str, Any]) -> str | None:
    """The tag of a record as a call returned it, or of the `current` of a `WorkflowError`, for `if_match`.

    None for records in lists and for copies. All records except policies and prices also have it as `etag`.
    """
    return record.tag if isinstance(record, Record) else None


def send(settings: Settings, call: Call) -> Flow[Any]:
    """Sends one call, and returns its parsed response.

    Reads, and requests with an idempotency key, are sent again after a broken connection and after 429, 502, 503 and
    504. Other writes are sent once, since a failed one can have been applied.
    """
    seconds = settings.timeout if call.timeout is None else call.timeout
    end = time.monotonic() + seconds
    retries = settings.retries if call.repeatable else 0
    url = settings.base_url + call.target
    headers = {**call.headers, **settings.credential}
    sent = 0
    while True:
        sent += 1
        attempt = Attempt(call.method, url, headers, call.content, end - time.monotonic(), seconds)
        try:
            if attempt.left <= 0:
                raise attempt.expired()
            reply: Reply = yield attempt
            return answer_of(reply, settings.base_url)
        except WorkflowError as error:
            if sent > retries or not is_transient(error):
                raise
            delay = delay_before(sent, error)
            if delay >= end - time.monotonic():
                raise
        yield Pause(delay)


def answer_of(reply: Reply, base_url: str) -> Any:
    """The parsed body of a response. Raises a `WorkflowError` for a status other than 2xx, and for what is not JSON."""
    if not 200 <= reply.status < 300:
        raise error_of(reply)
    if not reply.content:
        return None
    if re.match(r"(text/csv|application/x-ndjson)\b", reply.headers.get("content-type", "")):
        return reply.content.decode()
    try:
        return tagged(json.loads(reply.content), reply)
    except ValueError:
        detail = f"The answer is not JSON: is {base_url} the service?"
        raise WorkflowError(reply.status, detail, code="not_json") from None


def tagged(body: Any, reply: Reply) -> Any:
    tag = reply.headers.get("etag")
    if tag is None or not isinstance(body, dict):
        return body
    record = Record(body)
    record.tag = tag
    return record


def error_of(reply: Reply) -> WorkflowError:
    try:
        body = json.loads(reply.content)
    except ValueError:
        body = None
    more: dict[str, Any] = body if isinstance(body, dict) else {}
    redirected = 300 <= reply.status < 400
    return WorkflowError(
        reply.status,
        detail_of(reply, more),
        code="redirected" if redirected else None,
        request_id=reply.headers.get("x-request-id"),
        retry_after=seconds_of(reply.headers.get("retry-after")),
        current=tagged(more.get("current"), reply),
        stale=more.get("stale"),
    )


def detail_of(reply: Reply, body: Mapping[str, Any]) -> str:
    """The message of the service, or else that of HTTP, because a proxy's error page does not help."""
    if 300 <= reply.status < 400:
        target = reply.headers.get("location")
        return "Redirected" if target is None else f"Redirected to {target}"
    detail = body.get("detail")
    if isinstance(detail, str):
        return detail
    if detail is not None:
        return json.dumps(detail, ensure_ascii=False)
    return reply.reason or code_of(reply.status)


def seconds_of(header: str | None) -> float | None:
    """`Retry-After` in seconds, from a number or a date."""
    if header is None:
        return None
    if re.fullmatch(r"[0-9]{1,9}", header):
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def is_transient(error: WorkflowError) -> bool:
    """Whether a retry can succeed.

    A 409 says when to repeat the request if an earlier one with its key is in progress.
    """
    if error.status == 409:
        return error.retry_after is not None
    return isinstance(error, NoResponseError) or error.status in PASSING


def delay_before(sent: int, error: WorkflowError) -> float:
    if error.retry_after is not None:
        return error.retry_after
    # Jitter, so that clients that failed together do not retry together.
    return float(FIRST_DELAY_SECONDS * 2 ** (sent - 1) * (0.5 + random.random() / 2))  # noqa: S311
