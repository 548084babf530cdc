"""What is sent again, and how a run is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime

import pytest
from conftest import Connect
from fakes import FakeServer, hang, ok, raw, refuse, reset

from durable_workflows import NoResponseError, WaitTimeoutError, WorkflowError

Serve = Callable[..., FakeServer]

TROUBLES = {
    "a broken connection": reset,
    "429": refuse(429, {"retry-after": "0"}),
    "502": refuse(502),
    "503": refuse(503, {"retry-after": "0"}),
    "504": refuse(504),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_a_read_survives(connect: Connect, serve: Serve, trouble: str) -> None:
    server = serve(TROUBLES[trouble], TROUBLES[trouble], ok())
    assert connect(server.url).list_workflows() == []
    assert len(server.seen) == 3


def test_a_start_keeps_its_idempotency_key_and_each_start_has_another(connect: Connect, serve: Serve) -> None:
    run = {"id": "run_1", "run_id": "run_1"}
    server = serve(reset, refuse(503), ok(run))
    client = connect(server.url)
    client.run("wf_1", {"a": 1})
    client.run("wf_1", {"a": 1})
    client.trigger_run("wf_1", idempotency_key="mine")
    keys = [seen.headers["idempotency-key"] for seen in server.seen]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert all(len(key) == 32 for key in keys[:4])
    assert keys[4] == "mine"


def test_retries_stop_after_their_number(connect: Connect, serve: Serve) -> None:
    server = serve(refuse(503, {"retry-after": "0"}))
    with pytest.raises(WorkflowError) as caught:
        connect(server.url, retries=4).list_workflows()
    assert (caught.value.status, caught.value.code, len(server.seen)) == (503, "service_unavailable", 5)


def test_a_502_of_a_proxy_with_html_is_clear_after_its_retries(connect: Connect, serve: Serve) -> None:
    server = serve(raw(502, b"<html><h1>502 Bad Gateway</h1></html>", {"content-type": "text/html"}))
    with pytest.raises(WorkflowError, match=r"^Bad Gateway \(502\)$"):
        connect(server.url).list_workflows()
    assert len(server.seen) == 3


def test_a_retry_waits_for_retry_after_in_seconds_or_as_a_date(connect: Connect, serve: Serve) -> None:
    date = format_datetime(datetime.now(timezone.utc) + timedelta(seconds=2), usegmt=True)
    server = serve(refuse(503, {"retry-after": "1"}), refuse(429, {"retry-after": date}), ok())
    started = time.monotonic()
    connect(server.url).list_workflows()
    assert time.monotonic() - started > 0.99
    assert len(server.seen) == 3


def test_a_retry_that_would_exceed_the_timeout_is_not_made(connect: Connect, serve: Serve) -> None:
    server = serve(refuse(503, {"retry-after": "7200"}))
    with pytest.raises(WorkflowError) as caught:
        connect(server.url, timeout=3600).list_workflows()
    assert (caught.value.retry_after, len(server.seen)) == (7200, 1)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 500])
def test_a_refusal_is_not_retried(connect: Connect, serve: Serve, status: int) -> None:
    server = serve(refuse(status), ok())
    with pytest.raises(WorkflowError) as caught:
        connect(server.url).list_workflows()
    assert (caught.value.status, len(server.seen)) == (status, 1)


def test_a_request_whose_key_is_in_progress_is_retried(connect: Connect, serve: Serve) -> None:
    server = serve(refuse(409, {"retry-after": "0"}), ok({"id": "run_1", "run_id": "run_1"}))
    assert connect(server.url).trigger_run("wf_1")["id"] == "run_1"
    assert len(server.seen) == 2


def test_writes_are_sent_once_because_a_failed_one_can_have_been_applied(connect: Connect, serve: Serve) -> None:
    server = serve(reset, refuse(503), refuse(429), ok({}))
    client = connect(server.url)
    with pytest.raises(NoResponseError):
        client.create_workflow(name="x")
    with pytest.raises(WorkflowError, match="503"):
        client.cancel("run_1")
    with pytest.raises(WorkflowError, match="429"):
        client.delete_workflow("wf_1")
    assert len(server.seen) == 3


def test_a_wait_ends_with_the_id_of_its_run_if_the_service_hangs(connect: Connect, serve: Serve) -> None:
    server = serve(ok({"id": "run_1", "run_id": "run_1", "status": "pending"}), hang)
    with pytest.raises(WaitTimeoutError, match="run_1") as caught:
        connect(server.url).run("wf_1", wait=True, timeout=0.4)
    assert (caught.value.run_id, caught.value.status, caught.value.code) == ("run_1", 408, "wait_timeout")


def test_a_wait_polls_twice_a_second_by_default(
    connect: Connect, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    running = ok({"id": "run_1", "status": "running"})
    server = serve(running, running, running, ok({"id": "run_1", "status": "success"}))
    started = time.monotonic()
    connect(server.url).wait_for_run("run_1")
    assert time.monotonic() - started > 1.49
    assert len(server.seen) == 4


def test_a_poll_interval_of_0_does_not_flood_the_service(connect: Connect, serve: Serve) -> None:
    server = serve(ok({"id": "run_1", "status": "running"}))
    with pytest.raises(WaitTimeoutError):
        connect(server.url).wait_for_run("run_1", timeout=0.3, poll_interval=0)
    assert len(server.seen) <= 31


def test_a_wait_survives_a_short_outage(connect: Connect, serve: Serve) -> None:
    server = serve(
        ok({"id": "run_1", "run_id": "run_1", "status": "running"}),
        reset,
        refuse(503),
        ok({"id": "run_1", "status": "paused"}),
    )
    run = connect(server.url).run("wf_1", wait=True, poll_interval=0.01)
    assert run["status"] == "paused"
