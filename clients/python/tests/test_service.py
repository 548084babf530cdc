"""The clients with the real service."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from conftest import Connect
from fakes import FakeServer, ok

from durable_workflows import (
    Client,
    SignatureError,
    StreamError,
    WaitTimeoutError,
    WorkflowError,
    etag_of,
    verify_webhook,
)

numbers = itertools.count(1)

SLOW = {
    "nodes": [{"id": "wait", "kind": "tool", "tool_name": "delay", "params": {"seconds": 600}}],
    "edges": [],
}


def chain(length: int) -> dict[str, Any]:
    ids = [f"step_{n}" for n in range(length)]
    params = {"expression": "1"}
    return {
        "nodes": [{"id": each, "kind": "tool", "tool_name": "json_transform", "params": params} for each in ids],
        "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(ids)],
    }


def gated() -> dict[str, Any]:
    graph = chain(2)
    graph["nodes"].insert(1, {"id": "gate", "kind": "human_gate", "prompt": "Go on?"})
    graph["edges"] = [{"source": "step_0", "target": "gate"}, {"source": "gate", "target": "step_1"}]
    return graph


@pytest.fixture
def client(connect: Connect, service_url: str, token: str) -> Any:
    return connect(service_url, token=token)


def define(client: Any, graph: dict[str, Any], name: str | None = None) -> Any:
    return client.create_workflow(name=name or f"Python {next(numbers)} {id(client)}", graph=graph)


QUICK: dict[str, Any] = {"wait": True, "poll_interval": 0.02}


def test_a_run_is_started_by_id_or_exact_name_and_waited_for(client: Any) -> None:
    workflow = define(client, chain(2))
    for known in (workflow["id"], workflow["name"]):
        run = client.run(known, {"ticket": "x"}, **QUICK)
        assert (run["status"], run["workflow_id"], run["input"]) == ("success", workflow["id"], {"ticket": "x"})


def test_an_id_counts_before_a_name(client: Any) -> None:
    workflow = define(client, chain(1))
    named = define(client, chain(1), workflow["id"])
    assert client.run(workflow["id"])["workflow_id"] == workflow["id"]
    client.delete_workflow(named["id"])


@pytest.mark.parametrize("name", ["a/b", "..", "x" * 150, "ünï çode?"])
def test_any_text_can_be_a_name(client: Any, name: str) -> None:
    workflow = define(client, chain(1), name)
    assert client.run(name)["workflow_id"] == workflow["id"]
    client.delete_workflow(workflow["id"])


def test_an_unknown_name_is_a_clear_error(client: Any) -> None:
    for name in ("No such workflow", "no-such-workflow"):
        with pytest.raises(WorkflowError, match=r"^Workflow not found \(404\)$") as caught:
            client.run(name)
        assert caught.value.code == "not_found"


def test_two_workflows_with_one_name_are_a_clear_error(client: Any) -> None:
    both = [define(client, chain(1), "Twice") for _ in range(2)]
    with pytest.raises(WorkflowError, match="Several workflows are called 'Twice'") as caught:
        client.run("Twice")
    assert (caught.value.status, caught.value.code) == (409, "ambiguous_name")
    assert all(workflow["id"] in caught.value.detail for workflow in both)
    with pytest.raises(WorkflowError, match="404"):
        client.run("twice")
    for workflow in both:
        client.delete_workflow(workflow["id"])


def test_a_run_that_never_ends_raises_its_id_and_continues(client: Any) -> None:
    workflow = define(client, SLOW)
    key = f"slow {next(numbers)}"
    with pytest.raises(WaitTimeoutError, match="it continues") as caught:
        client.run(workflow["id"], timeout=0.5, idempotency_key=key, **QUICK)
    again = client.run(workflow["id"], idempotency_key=key)
    assert again["id"] == caught.value.run_id
    assert again["status"] in ("pending", "running")
    assert client.cancel(again["id"])["status"] == "failed"


def test_a_gate_is_approved_with_input_or_rejected(client: Any) -> None:
    workflow = define(client, gated())
    paused = client.run(workflow["id"], **QUICK)
    assert (paused["status"], paused["pending_gate"]["node_id"]) == ("paused", "gate")
    assert [gate["node_id"] for gate in client.approvals() if gate["run_id"] == paused["id"]] == ["gate"]
    client.approve(paused["id"], True, {"note": "fine"})
    done = client.wait_for_run(paused["id"], poll_interval=0.02)
    assert (done["status"], done["state"]["note"]) == ("success", "fine")
    other = client.run(workflow["id"], **QUICK)
    client.approve(other["id"], False, node_id="gate", reason="not now")
    rejected = client.wait_for_run(other["id"], poll_interval=0.02)
    assert rejected["status"] == "failed"
    assert rejected["error"].endswith(": not now")


def test_lists_return_each_row_once_across_pages(client: Any) -> None:
    workflow = define(client, chain(1))
    started = {client.run(workflow["id"])["id"] for _ in range(5)}
    seen = [run["id"] for run in client.runs(workflow_id=workflow["id"], limit=2)]
    assert (len(seen), set(seen)) == (5, started)
    assert [run["id"] for run in client.workflow_runs(workflow["id"], limit=2)] == seen
    for length in (2, 3):
        client.update_workflow(workflow["id"], graph=chain(length))
    assert [each["version"] for each in client.versions(workflow["id"], limit=1)] == [3, 2, 1]
    updates = [entry["action"] for entry in client.audit_entries(action="update", target_id=workflow["id"])]
    assert updates == ["update", "update"]


def test_events_of_a_run_are_read_from_any_position(client: Any) -> None:
    run = client.run(define(client, chain(2))["id"], **QUICK)
    seen = list(client.run_events(run["id"], limit=2))
    types = [event["frame"]["type"] for event in seen]
    assert types == ["step_started", "step_completed"] * 2 + ["run_completed"]
    assert list(client.run_events(run["id"], after=seen[2]["seq"])) == seen[3:]


def test_changes_are_conditional(client: Any) -> None:
    budget = client.create_budget(name=f"Budget {next(numbers)}", limit_usd=5, window="month")
    client.update_budget(budget["id"], limit_usd=20, if_match=budget["etag"])
    with pytest.raises(WorkflowError) as caught:
        client.update_budget(budget["id"], limit_usd=30, if_match=budget["etag"])
    assert (caught.value.status, caught.value.current["limit_usd"]) == (412, 20)
    assert etag_of(client.get_policies()) is not None
    assert client.delete_budget(budget["id"]) is None


def test_a_key_without_rights_is_a_clear_error(client: Any, connect: Connect, service_url: str) -> None:
    workflow = define(client, chain(1))
    key = client.create_api_key(name="viewer", role="viewer")
    viewer = connect(service_url, api_key=key["secret"])
    assert viewer.get_workflow(workflow["id"])["id"] == workflow["id"]
    with pytest.raises(WorkflowError, match="This action requires the 'run_workflows' permission") as caught:
        viewer.run(workflow["id"])
    assert (caught.value.status, caught.value.code) == (403, "forbidden")
    assert caught.value.request_id
    client.revoke_api_key(key["id"])
    with pytest.raises(WorkflowError) as refused:
        viewer.list_runs()
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    with pytest.raises(WorkflowError, match="401"):
        connect(service_url).list_runs()
    assert connect(service_url).get_health()["status"]


def test_an_invalid_graph_is_a_clear_error(client: Any) -> None:
    workflow = define(client, {"nodes": [], "edges": []})
    with pytest.raises(WorkflowError, match="Workflow graph invalid") as caught:
        client.run(workflow["id"])
    assert caught.value.status == 400
    assert client.validate(workflow["id"])["valid"] is False


def test_a_stream_has_frames_from_the_moment_it_opens(client: Any, approve_elsewhere: Callable[[str], None]) -> None:
    run = client.run(define(client, gated())["id"], **QUICK)
    types = []
    stream = client.stream(run["id"], on_open=lambda: approve_elsewhere(run["id"]))
    for frame in stream:
        types.append(frame["type"])
        if frame["type"] == "run_completed":
            break
    stream.close()
    assert types[-1] == "run_completed"
    assert types.count("step_started") == 1


@pytest.fixture
def approve_elsewhere(service_url: str, token: str) -> Callable[[str], None]:
    """Approves a gate from another thread, because the loop of the coroutines is busy."""

    def approve(run_id: str) -> None:
        with Client(service_url, token=token) as other:
            other.approve(run_id)

    return lambda run_id: threading.Thread(target=approve, args=(run_id,)).start()


def test_a_stream_of_the_workspace_names_what_has_changed(
    client: Any, approve_elsewhere: Callable[[str], None]
) -> None:
    run = client.run(define(client, gated())["id"], **QUICK)
    changed: set[str] = set()
    stream = client.stream_workspace(on_open=lambda: approve_elsewhere(run["id"]))
    for frame in stream:
        changed.update(frame["changed"])
        if {"run", "step"} <= changed:
            break
    stream.close()
    assert {"run", "step"} <= changed


def test_a_stream_says_why_it_ended(client: Any, connect: Connect, service_url: str) -> None:
    for stream, code in (
        (connect(service_url).stream("run_1"), 4401),
        (client.stream("run_1"), 4404),
        (connect("http://127.0.0.1:1").stream("run_1"), 1006),
    ):
        with pytest.raises(StreamError) as caught:
            next(stream)
        assert caught.value.close_code == code


def test_the_data_api_is_read_page_by_page(client: Any, connect: Connect, service_url: str) -> None:
    feed = client.create_feed(name=f"Permits {next(numbers)}")
    records = [
        {
            "type": "entity",
            "external_key": f"permit-{n}",
            "entity_type": "project",
            "canonical_name": f"Tower {n}",
            "attributes": {},
            "source_evidence": [{"source_name": "Portal", "url": None}],
        }
        for n in range(3)
    ]
    assert client.ingest(feed["id"], records)["created"] == 3
    key = client.create_data_key(name="python", mode="live", scopes=["entities:read", "exports:create"])
    data = connect(service_url, data_key=key["secret"]).data
    page = data.list_entities(feed_id=feed["id"], limit=2)
    assert len(page["data"]) == 2
    assert page["meta"]["credits_consumed"] == 2
    names = [entity["canonical_name"] for entity in data.entities(feed_id=feed["id"], limit=2)]
    assert sorted(names) == ["Tower 0", "Tower 1", "Tower 2"]
    assert [entity["canonical_name"] for entity in client.entities(feed_id=feed["id"])] == names
    export = data.create_export_csv(kind="entities", feed_id=feed["id"])
    assert len(export.strip().splitlines()) == 4
    assert len(data.create_export(kind="entities", feed_id=feed["id"])["data"]) == 3
    with pytest.raises(WorkflowError, match="feeds:read") as caught:
        data.list_feeds()
    assert caught.value.status == 403
    client.delete_feed(feed["id"])


@pytest.fixture
def receiver() -> Iterator[FakeServer]:
    server = FakeServer([ok({})])
    yield server
    server.close()


def test_a_delivery_of_the_service_has_a_valid_signature(client: Any, receiver: FakeServer) -> None:
    endpoint = client.create_endpoint(url=f"{receiver.url}/hook", events=["ping"])
    delivery = client.ping_endpoint(endpoint["id"])
    run = client.run(define(client, chain(1))["id"], **QUICK)
    while not receiver.seen:
        client.get_delivery(endpoint["id"], delivery["id"])
    seen = receiver.seen[0]
    signature = seen.headers["x-service-signature"]
    event = verify_webhook(secret=endpoint["secret"], signature=signature, body=seen.body)
    assert event["type"] == "ping"
    with pytest.raises(SignatureError, match="does not fit the body"):
        verify_webhook(secret=endpoint["secret"], signature=signature, body=seen.body + b" ")
    assert run["status"] == "success"
    client.delete_endpoint(endpoint["id"])


def test_an_event_is_signed_and_deduplicated(client: Any) -> None:
    workflow = define(client, chain(1))
    secret = client.enable_webhook(workflow["id"])["url"].rsplit("/", 1)[1]
    client.configure_webhook(workflow["id"], require_signature=True, dedup_window_seconds=60)
    with pytest.raises(WorkflowError, match="401"):
        client.send_event(workflow["id"], secret, {"ticket": "ü"})
    first = client.send_event(workflow["id"], secret, {"ticket": "ü"}, sign=True, event_id="e1")
    second = client.send_event(workflow["id"], secret, {"ticket": "ü"}, sign=True, event_id="e1")
    assert first["run_id"] == second["run_id"]
    assert client.wait_for_run(first["run_id"], poll_interval=0.02)["input"]["ticket"] == "ü"


def test_exports_are_text(client: Any) -> None:
    workflow = define(client, chain(1))
    run = client.run(workflow["id"], **QUICK)
    rows = client.export_runs(workflow_id=workflow["id"], format="ndjson").splitlines()
    assert [json.loads(row)["id"] for row in rows] == [run["id"]]
    assert client.export_runs(workflow_id=workflow["id"], format="csv").count("\n") >= 2
    assert json.loads(client.export_evidence(run["id"]).splitlines()[0])["kind"] == "evidence"
