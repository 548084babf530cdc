"""Starting runs and waiting for them, without input and output."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ._call import NOT_GIVEN, Call, encode, header_value, new_key
from ._flow import Flow, Pause, Settings, send
from ._pages import Pages, is_whole
from .errors import NoResponseError, RunSkippedError, WaitTimeoutError, WorkflowError
from .signatures import sign_inbound_webhook

if TYPE_CHECKING:
    from . import models as m

ID_LIKE = re.compile(r"[\w-]{1,100}", re.ASCII)
"""The format of workflow ids. Other text is a name."""
MIN_POLL_SECONDS = 0.01


def trigger(
    settings: Settings,
    workflow_id: str,
    input: Mapping[str, Any] | None,
    *,
    draft: bool = False,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Flow[m.Run]:
    """Starts a run of the workflow with this id."""
    answer = yield from send(
        settings,
        Call(
            "POST",
            "/api/workflows/{id}/runs",
            (workflow_id,),
            query={"draft": True if draft else None},
            body={} if input is None else input,
            once=True,
            idempotency_key=idempotency_key,
            timeout=timeout,
        ),
    )
    if answer["run_id"] is None:
        raise RunSkippedError(answer["detail"])
    run: m.Run = answer
    return run


def start(
    settings: Settings,
    workflow: str,
    input: Mapping[str, Any] | None,
    *,
    draft: bool,
    idempotency_key: str | None,
) -> Flow[m.Run]:
    """Starts a run of the workflow with this id or, if there is none, exactly this name."""
    key = new_key() if idempotency_key is None else idempotency_key
    unknown = WorkflowError(404, "Workflow not found")
    if ID_LIKE.fullmatch(workflow):
        try:
            return (yield from trigger(settings, workflow, input, draft=draft, idempotency_key=key))
        except WorkflowError as error:
            if error.status != 404:
                raise
            unknown = error
    named = [each["id"] for each in (yield from workflows(settings)) if each["name"] == workflow]
    if not named:
        raise unknown
    if len(named) > 1:
        detail = f"Several workflows are called '{workflow}': {', '.join(named)}"
        raise WorkflowError(409, detail, code="ambiguous_name")
    return (yield from trigger(settings, named[0], input, draft=draft, idempotency_key=key))


def workflows(settings: Settings) -> Flow[list[m.Workflow]]:
    call = Call("GET", "/api/workflows")
    rows: list[m.Workflow] = yield from send(settings, call)
    if is_whole(call, rows):
        return rows
    pages = Pages(call, "", "offset", seen=rows)
    while pages.next is not None:
        rows.extend(pages.take((yield from send(settings, pages.next))))
    return rows


def wait(settings: Settings, run_id: str, *, timeout: float, poll_interval: float) -> Flow[m.Run]:
    """Reads a run until it is `success`, `failed` or `paused`."""
    end = time.monotonic() + timeout
    while True:
        left = max(end - time.monotonic(), 0)
        try:
            run: m.Run = yield from send(settings, Call("GET", "/api/runs/{id}", (run_id,), timeout=left))
        except NoResponseError as error:
            if not error.timed_out:
                raise
            raise WaitTimeoutError(run_id, timeout) from error
        if run["status"] not in ("pending", "running"):
            return run
        delay = max(poll_interval, MIN_POLL_SECONDS)
        left = end - time.monotonic()
        if delay >= left:
            yield Pause(max(left, 0))
            raise WaitTimeoutError(run_id, timeout)
        yield Pause(delay)


def event(
    settings: Settings,
    workflow_id: str,
    secret: str,
    body: Any,
    *,
    sign: bool,
    event_id: str | None,
    timeout: float | None,
) -> Flow[m.HookAnswer | m.HookEvent]:
    """Sends an event to the webhook of a workflow, as an external system does."""
    content = {} if body is NOT_GIVEN else body
    headers = sign_inbound_webhook(secret=secret, body=encode(content)) if sign else {}
    if event_id is not None:
        headers["X-Service-Event-Id"] = header_value("event_id", event_id)
    answer = yield from send(
        settings,
        Call(
            "POST",
            "/api/hooks/{workflow_id}/{secret}",
            (workflow_id, secret),
            body=content,
            headers=headers,
            timeout=timeout,
        ),
    )
    if "challenge" in answer:
        raise WorkflowError(200, "The event is a challenge, and started no run", code="challenge")
    if answer["status"] == "skipped":
        raise RunSkippedError(answer["detail"])
    receipt: m.HookAnswer | m.HookEvent = answer
    return receipt
