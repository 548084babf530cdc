"""The methods of both clients, compared with the OpenAPI documents."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from durable_workflows import AsyncClient, Client, StreamError, models
from durable_workflows._async_data_operations import AsyncDataOperations
from durable_workflows._async_operations import AsyncOperations
from durable_workflows._data_operations import DataOperations
from durable_workflows._operations import Operations

DOCUMENTS = Path(__file__).parents[3] / "docs" / "openapi"
OPS = json.loads((DOCUMENTS / "ops.json").read_text())
DATA = json.loads((DOCUMENTS / "data.json").read_text())
OMITTED = {"POST /api/mcp"}
STREAMS = {"GET /api/runs/{id}/stream", "GET /api/stream"}


class Route(NamedTuple):
    document: dict[str, Any]
    operation: dict[str, Any]
    pattern: re.Pattern[str]


def routes(document: dict[str, Any]) -> dict[str, Route]:
    return {
        f"{verb.upper()} {path}": Route(
            document, operation, re.compile(verb.upper() + " " + re.sub(r"\{\w+\}", "[^/]+", path))
        )
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
    }


ROUTES = {**routes(OPS), **routes(DATA)}


def route_of(request: httpx.Request) -> str:
    """The operation of a request: the one whose path has the most fixed parts."""
    asked = f"{request.method} {request.url.path}"
    found = [name for name, route in ROUTES.items() if route.pattern.fullmatch(asked)]
    return min(found, key=lambda name: name.count("{"))


def schema_of(document: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    ref = schema.get("$ref")
    return document["components"]["schemas"][ref.rsplit("/", 1)[1]] if ref else schema


def reply_to(request: httpx.Request) -> httpx.Response:
    """An empty page, or a record without fields, of the shape that the document has."""
    route = ROUTES[route_of(request)]
    content = route.operation["responses"].get("200", {}).get("content", {})
    schema = schema_of(route.document, content.get("application/json", {}).get("schema", {}))
    if schema.get("type") == "array":
        return httpx.Response(200, json=[])
    lists = [name for name, field in schema.get("properties", {}).items() if field.get("type") == "array"]
    page = {"next_cursor": None, "pagination": {"next_cursor": None}, "run_id": "run_1", "status": "success"}
    return httpx.Response(200, json={**page, **{key: [] for key in lists}})


def methods_of(client: Any, *classes: type) -> Iterator[tuple[str, Callable[..., Any]]]:
    for kind in classes:
        for name in vars(kind):
            if not name.startswith("_") and name not in ("data", "close", "aclose"):
                yield name, getattr(client, name)


def call(method: Callable[..., Any], values: dict[str, Any]) -> Any:
    """Calls a method with all of its arguments: texts, unless a name needs something else."""
    signature = inspect.signature(method)
    return method(
        *[values.get(p.name, p.name) for p in signature.parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD],
        **{p.name: values.get(p.name, p.name) for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY},
    )


VALUES = {"timeout": 5, "limit": 2, "wait": False, "poll_interval": 1, "on_open": None, "sign": True, "draft": True}


class Sent:
    """The requests of all methods, and which method made them."""

    def __init__(self) -> None:
        self.by_method: dict[str, list[httpx.Request]] = {}
        self.current = ""

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.by_method.setdefault(self.current, []).append(request)
        return reply_to(request)


def every_sync_method() -> Sent:
    sent = Sent()
    with httpx.Client(transport=httpx.MockTransport(sent)) as http:
        client = Client("http://service.invalid", http_client=http)
        methods = [*methods_of(client, Operations, Client), *methods_of(client.data, DataOperations)]
        for name, method in methods:
            sent.current = name
            try:
                result = call(method, VALUES)
                if inspect.isgenerator(result):
                    next(result, None)
            except StreamError:
                pass
    return sent


async def every_async_method() -> Sent:
    sent = Sent()
    async with httpx.AsyncClient(transport=httpx.MockTransport(sent)) as http:
        client = AsyncClient("http://service.invalid", http_client=http)
        methods = [*methods_of(client, AsyncOperations, AsyncClient), *methods_of(client.data, AsyncDataOperations)]
        for name, method in methods:
            sent.current = name
            try:
                result = call(method, VALUES)
                if inspect.isawaitable(result):
                    await result
                else:
                    await anext(result, None)
            except StreamError:
                pass
    return sent


@pytest.fixture(scope="module", params=["Client", "AsyncClient"])
def sent(request: pytest.FixtureRequest) -> Sent:
    return every_sync_method() if request.param == "Client" else asyncio.run(every_async_method())


def requests_in(sent: Sent) -> Iterator[tuple[str, httpx.Request, Route]]:
    for name, requests in sent.by_method.items():
        for request in requests:
            yield name, request, ROUTES[route_of(request)]


def test_every_operation_has_a_method_and_every_method_an_operation(sent: Sent) -> None:
    reached = {route_of(request) for _, request, _ in requests_in(sent)}
    assert reached | STREAMS == set(ROUTES) - OMITTED


def test_queries_have_only_parameters_of_the_operation(sent: Sent) -> None:
    for name, request, route in requests_in(sent):
        known = {p["name"] for p in route.operation.get("parameters", []) if p["in"] == "query"}
        assert set(request.url.params) <= known, name


def test_bodies_have_only_fields_of_the_operation_and_all_that_are_required(sent: Sent) -> None:
    checked = 0
    for name, request, route in requests_in(sent):
        body = route.operation.get("requestBody")
        assert body is not None or not request.content, name
        content = (body or {}).get("content", {}).get("application/json", {})
        schema = schema_of(route.document, content.get("schema", {}))
        if schema.get("additionalProperties") is False and request.content:
            fields = json.loads(request.content)
            assert set(schema.get("required", [])) <= set(fields) <= set(schema["properties"]), name
            checked += 1
    assert checked > 60


def test_keys_and_tags_are_sent_where_the_operation_takes_them(sent: Sent) -> None:
    for header in ("idempotency-key", "if-match"):
        takes = {
            name
            for name, route in ROUTES.items()
            if any(p["name"] == header for p in route.operation.get("parameters", []))
        }
        has = {route_of(request) for _, request, _ in requests_in(sent) if header in request.headers}
        assert has == takes


def test_a_record_knows_its_required_and_optional_fields() -> None:
    for name, schema in OPS["components"]["schemas"].items():
        record = getattr(models, name)
        if "properties" in schema:
            required = set(schema.get("required", []))
            assert record.__required_keys__ == required, name
            assert record.__optional_keys__ == set(schema["properties"]) - required, name
