"""What is sent, and what becomes of each kind of response, like requests.test.ts of the TypeScript client."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import httpx
import pytest
from conftest import Connect
from fakes import FakeServer, hang, ok, raw, refuse, tcp_server

from durable_workflows import Client, NoResponseError, RunSkippedError, WorkflowError, etag_of

Serve = Callable[..., FakeServer]


@pytest.mark.parametrize("end", ["", "/", "///"])
def test_a_request_goes_to_api_under_the_base_url(connect: Connect, serve: Serve, end: str) -> None:
    server = serve(ok())
    connect(f"{server.url}/somewhere{end}").list_workflows()
    assert server.seen[0].url == "/somewhere/api/workflows"


@pytest.mark.parametrize(
    "url", ["", "127.0.0.1:8000", "ftp://a", "http://", "http://a:b@c", "http://a/?b=c", "http://a/#b"]
)
def test_a_wrong_base_url_is_refused_at_once(connect: Connect, url: str) -> None:
    with pytest.raises(ValueError, match="base_url must"):
        connect(url)


def test_the_api_key_takes_precedence_over_the_token(connect: Connect, serve: Serve) -> None:
    server = serve(ok())
    connect(server.url, api_key="ops_secret", token="session").list_workflows()
    connect(server.url, token="session").list_workflows()
    connect(server.url).list_workflows()
    sent = [(seen.headers.get("x-api-key"), seen.headers.get("authorization")) for seen in server.seen]
    assert sent == [("ops_secret", None), (None, "Bearer session"), (None, None)]


def test_the_data_key_is_sent_to_the_data_api_only(connect: Connect, serve: Serve) -> None:
    server = serve(ok([]), ok({"data": [], "pagination": {"next_cursor": None}, "meta": {}}))
    client = connect(server.url, api_key="ops_secret", data_key="live_1")
    client.list_workflows()
    client.data.list_feeds()
    sent = [(seen.url, seen.headers.get("x-api-key"), seen.headers.get("authorization")) for seen in server.seen]
    assert sent == [("/api/workflows", "ops_secret", None), ("/v1/feeds", None, "Bearer live_1")]


@pytest.mark.parametrize("key", ["", "a\r\nb: c", "ü", " a"])
def test_a_credential_that_is_no_header_is_refused_without_showing_it(connect: Connect, key: str) -> None:
    for given in ({"api_key": key}, {"token": key}, {"data_key": key}):
        with pytest.raises(ValueError, match=r"^(api_key|token|data_key) must be printable ASCII text$"):
            connect(**given)


@pytest.mark.parametrize("value", ["a/b", "a?b#c", "ü ö", "%2e%2e"])
def test_an_id_is_one_part_of_the_path(connect: Connect, serve: Serve, value: str) -> None:
    server = serve(ok({}))
    connect(server.url).get_run(value)
    url = urlsplit(server.seen[0].url)
    assert unquote(url.path) == f"/api/runs/{value}"
    assert (len(url.path.split("/")), url.query, url.fragment) == (4, "", "")


@pytest.mark.parametrize("value", ["", ".", "..", None, True])
def test_an_id_that_would_change_the_path_is_not_sent(connect: Connect, serve: Serve, value: Any) -> None:
    server = serve(ok({}))
    with pytest.raises(ValueError, match="Not an id"):
        connect(server.url).delete_workflow(value)
    assert server.seen == []


def test_queries_have_lists_times_and_booleans_as_the_service_reads_them(connect: Connect, serve: Serve) -> None:
    server = serve(ok({"runs": [], "next_cursor": None}), raw(200, b"a\n", {"content-type": "application/x-ndjson"}))
    since = datetime(2026, 11, 1, 12, tzinfo=timezone(timedelta(hours=1)))
    client = connect(server.url)
    client.list_runs(status=["failed", "paused"], since=since, limit=None, min_cost_usd=0.5)
    assert client.export_evidence("run_1", contents=True) == "a\n"
    assert parse_qs(urlsplit(server.seen[0].url).query) == {
        "status": ["failed,paused"],
        "since": ["2026-11-01T12:00:00+01:00"],
        "min_cost_usd": ["0.5"],
    }
    assert server.seen[1].url == "/api/runs/run_1/evidence?contents=true"
    with pytest.raises(ValueError, match="without a time zone"):
        client.list_runs(since=datetime(2026, 11, 1))


def test_what_is_not_given_is_not_sent_and_none_is_null(connect: Connect, serve: Serve) -> None:
    server = serve(ok({}))
    client = connect(server.url)
    client.update_budget("bud_1", limit_usd=2)
    client.create_budget(name="All", limit_usd=1, window="month", reservation_estimate_usd=None)
    client.approve("run_1", False, reason="no")
    client.resume("run_1")
    assert [seen.body and json.loads(seen.body) for seen in server.seen] == [
        {"limit_usd": 2},
        {"name": "All", "limit_usd": 1, "window": "month", "reservation_estimate_usd": None},
        {"approved": False, "reason": "no"},
        b"",
    ]
    with pytest.raises(ValueError, match="not JSON compliant"):
        client.trigger_run("wf_1", {"amount": float("nan")})


def test_a_header_cannot_be_injected(connect: Connect, serve: Serve) -> None:
    server = serve(ok({}))
    client = connect(server.url)
    calls: list[Callable[[], Any]] = [
        lambda: client.trigger_run("wf_1", idempotency_key="a\r\nb: c"),
        lambda: client.delete_workflow("wf_1", if_match="a\r\nb: c"),
        lambda: client.send_event("wf_1", "secret", {}, event_id="a\r\nb: c"),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="must be printable ASCII text"):
            call()
    assert server.seen == []


def test_lists_without_a_cursor_are_read_to_the_end(connect: Connect, serve: Serve) -> None:
    rows = [{"id": f"wf_{n}"} for n in range(450)]

    def page(handler: BaseHTTPRequestHandler) -> None:
        query = {name: int(value[0]) for name, value in parse_qs(urlsplit(handler.path).query).items()}
        offset = query.get("offset", 0)
        ok(rows[offset : offset + query.get("limit", 200)])(handler)

    client = connect(serve(page).url)
    assert client.list_workflows() == rows
    assert client.list_members(limit=200) == rows[:200]
    assert client.list_members(offset=440) == rows[440:]


def test_rows_that_move_to_a_later_page_are_returned_once(connect: Connect, serve: Serve) -> None:
    pages = [[{"id": "3"}, {"id": "2"}], [{"id": "2"}, {"id": "1"}], []]
    server = serve(*[ok({"logs": page, "total": 3}) for page in pages])
    assert [entry["id"] for entry in connect(server.url).audit_entries(action="update")] == ["3", "2", "1"]
    assert server.seen[1].url == "/api/audit?action=update&limit=200&offset=2"


def test_an_iterator_asks_for_a_page_when_it_is_needed(connect: Connect, serve: Serve) -> None:
    server = serve(
        ok({"runs": [{"id": "1"}, {"id": "2"}], "next_cursor": "a b"}), ok({"runs": [{"id": "3"}], "next_cursor": None})
    )
    rows = connect(server.url).runs(limit=2)
    assert (next(rows)["id"], next(rows)["id"], len(server.seen)) == ("1", "2", 1)
    assert [row["id"] for row in rows] == ["3"]
    assert [seen.url for seen in server.seen] == ["/api/runs?limit=2", "/api/runs?limit=2&cursor=a+b"]


def test_events_of_a_run_continue_after_a_number(connect: Connect, serve: Serve) -> None:
    server = serve(ok({"events": [{"seq": 1}], "next_cursor": "1"}), ok({"events": [{"seq": 2}], "next_cursor": None}))
    assert [event["seq"] for event in connect(server.url).run_events("run_1", after=0)] == [1, 2]
    assert server.seen[1].url == "/api/runs/run_1/events?after=1"


def test_an_empty_body_is_none(connect: Connect, serve: Serve) -> None:
    client = connect(serve(raw(204), raw(200)).url)
    assert client.delete_budget("bud_1") is None
    assert client.get_run("run_1") is None


def test_a_record_has_the_tag_of_its_response(connect: Connect, serve: Serve) -> None:
    server = serve(ok({"policies": 1}, headers={"etag": '"7"'}), ok({}), refuse(412))
    client = connect(server.url)
    policies = client.get_policies()
    assert etag_of(policies) == '"7"'
    assert etag_of(client.get_run("run_1")) is None
    assert etag_of(dict(policies)) is None
    with pytest.raises(WorkflowError):
        client.save_draft("wf_1", if_match="7")
    assert server.seen[2].headers["if-match"] == '"7"'


def test_a_changed_record_is_in_the_error(connect: Connect, serve: Serve) -> None:
    body = {"detail": "Changed", "current": {"revision": 2}}
    client = connect(serve(ok(body, status=412, headers={"etag": '"2"', "x-request-id": "req_1"})).url)
    with pytest.raises(WorkflowError) as caught:
        client.update_workflow("wf_1", name="x", if_match="*")
    error = caught.value
    assert (error.status, error.code, error.detail) == (412, "precondition_failed", "Changed")
    assert (error.current, etag_of(error.current), error.request_id) == ({"revision": 2}, '"2"', "req_1")
    assert str(error) == "Changed (412)"


@pytest.mark.parametrize(
    ("kind", "body", "detail"),
    [
        ("text/html", b"<html><h1>Bad gateway</h1></html>", "Internal Server Error"),
        ("application/json", b'{"detail": ["a"]}', '["a"]'),
        ("application/json", b'{"detail": ', "Internal Server Error"),
        ("application/json", b"null", "Internal Server Error"),
        ("text/plain", b"", "Internal Server Error"),
    ],
)
def test_an_error_without_a_message_has_that_of_http(
    connect: Connect, serve: Serve, kind: str, body: bytes, detail: str
) -> None:
    client = connect(serve(raw(500, body, {"content-type": kind})).url)
    with pytest.raises(WorkflowError) as caught:
        client.list_workflows()
    assert (caught.value.status, caught.value.detail) == (500, detail)


def test_a_page_of_html_is_not_the_service(connect: Connect, serve: Serve) -> None:
    server = serve(raw(200, b"<html></html>", {"content-type": "text/html"}))
    with pytest.raises(WorkflowError, match=f"not JSON: is {server.url} the service") as caught:
        connect(server.url).list_workflows()
    assert (caught.value.status, caught.value.code) == (200, "not_json")


def test_a_redirect_is_an_error_so_that_credentials_go_nowhere_else(connect: Connect, serve: Serve) -> None:
    elsewhere = serve(ok())
    server = serve(raw(302, b"", {"location": elsewhere.url}))
    given = [{"api_key": "ops_secret"}]
    for options in given:
        with pytest.raises(WorkflowError, match=f"Redirected to {elsewhere.url}") as caught:
            connect(server.url, **options).list_workflows()
        assert (caught.value.status, caught.value.code) == (302, "redirected")
    assert elsewhere.seen == []


def test_a_client_of_httpx_can_be_given_and_does_not_redirect_either(serve: Serve) -> None:
    server = serve(raw(302, b"", {"location": "http://127.0.0.1:1"}), ok())
    with httpx.Client(follow_redirects=True, headers={"x-proxy": "1"}) as http:
        with Client(server.url, http_client=http) as client, pytest.raises(WorkflowError, match="302"):
            client.list_workflows()
        assert not http.is_closed
    assert server.seen[0].headers["x-proxy"] == "1"


def test_cookies_are_not_kept(connect: Connect, serve: Serve) -> None:
    server = serve(ok([], headers={"set-cookie": "session=1; Path=/"}))
    client = connect(server.url)
    client.list_workflows()
    client.list_workflows()
    assert [seen.headers.get("cookie") for seen in server.seen] == [None, None]


def test_a_call_times_out_after_the_timeout_of_the_client_or_the_call(connect: Connect, serve: Serve) -> None:
    server = serve(hang)
    client = connect(server.url, timeout=1)
    started = time.monotonic()
    with pytest.raises(NoResponseError, match=r"^No answer within 1 s$") as caught:
        client.list_workflows()
    with pytest.raises(NoResponseError, match=r"^No answer within 0\.5 s$"):
        client.list_workflows(timeout=0.5)
    assert caught.value.timed_out
    assert (caught.value.status, caught.value.code) == (0, "timed_out")
    assert time.monotonic() - started > 1.49
    assert len(server.seen) == 2


def test_a_call_times_out_in_the_middle_of_a_body(connect: Connect, serve: Serve) -> None:
    sent: list[bytes] = []

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("content-length", "1000000")
        handler.end_headers()
        # Each byte comes in time, and together they take much longer than the call can.
        for _ in range(200):
            handler.wfile.write(b"[")
            sent.append(b"[")
            time.sleep(0.05)

    with pytest.raises(NoResponseError) as caught:
        connect(serve(drip).url, timeout=0.4).list_workflows()
    assert caught.value.timed_out
    assert 0 < len(sent) < 200


def test_a_wrong_address_is_named(connect: Connect) -> None:
    with pytest.raises(NoResponseError, match=r"http://127\.0\.0\.1:1 cannot be reached") as caught:
        connect("http://127.0.0.1:1", retries=0).list_workflows()
    assert (caught.value.timed_out, caught.value.code) == (False, "no_response")
    with pytest.raises(NoResponseError, match="cannot be reached"):
        connect("http://service.invalid", retries=0).list_workflows()


def test_a_server_that_does_not_speak_http_is_no_response(connect: Connect) -> None:
    with (
        tcp_server(lambda connection: connection.sendall(b"SSH-2.0-OpenSSH_9\r\n")) as url,
        pytest.raises(NoResponseError, match="cannot be reached"),
    ):
        connect(url, retries=0).list_workflows()


def test_a_run_that_a_limit_skips_is_an_error(connect: Connect, serve: Serve) -> None:
    client = connect(serve(ok({"run_id": None, "status": "skipped", "detail": "All slots are taken"})).url)
    for start in (client.run, client.trigger_run):
        with pytest.raises(RunSkippedError, match="All slots are taken"):
            start("wf_1")


def test_a_challenge_is_an_error(connect: Connect, serve: Serve) -> None:
    client = connect(serve(ok({"challenge": "abc"}), ok({"run_id": None, "status": "skipped", "detail": "Full"})).url)
    with pytest.raises(WorkflowError, match="is a challenge"):
        client.send_event("wf_1", "secret", {"type": "url_verification"})
    with pytest.raises(RunSkippedError, match="Full"):
        client.send_event("wf_1", "secret", {"a": 1})
