"""What one call sends."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, final
from urllib.parse import quote, urlencode


@final
class NotGiven:
    """The value of an argument that was not given. It is not sent, while None is sent as null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven()


class Call:
    """One call of an operation. `ids` replace the parameters of its path, in order."""

    __slots__ = ("content", "headers", "method", "path", "query", "timeout")

    def __init__(
        self,
        method: str,
        path: str,
        ids: Sequence[str | int] = (),
        *,
        query: Mapping[str, Any] | None = None,
        fields: Mapping[str, Any] | None = None,
        body: Any = NOT_GIVEN,
        headers: Mapping[str, str] | None = None,
        once: bool = False,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        timeout: float | None = None,
    ) -> None:
        self.method = method
        self.path = fill_path(path, ids)
        self.query = {name: value for name, value in (query or {}).items() if value is not None}
        self.timeout = timeout
        self.headers = {"accept": "application/json", **(headers or {})}
        if fields is not None:
            body = {name: value for name, value in fields.items() if value is not NOT_GIVEN}
        self.content = None if body is NOT_GIVEN else encode(body)
        if self.content is not None:
            self.headers["content-type"] = "application/json"
        if once:
            key = new_key() if idempotency_key is None else idempotency_key
            self.headers["idempotency-key"] = header_value("idempotency_key", key)
        if if_match is not None:
            self.headers["if-match"] = header_value("if_match", entity_tag(if_match))

    @property
    def target(self) -> str:
        """The path and the query."""
        query = urlencode({name: query_text(value) for name, value in self.query.items()})
        return f"{self.path}?{query}" if query else self.path

    @property
    def repeatable(self) -> bool:
        """Whether it can be sent again when it is unknown whether it was made."""
        return self.method == "GET" or "idempotency-key" in self.headers

    def asking(self, **query: Any) -> Call:
        """The same call with other values of the query."""
        other = object.__new__(Call)
        for name in Call.__slots__:
            setattr(other, name, getattr(self, name))
        other.query = {**self.query, **query}
        return other


def encode(body: Any) -> bytes:
    """A body as JSON. Raises a ValueError for numbers that are not finite."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def new_key() -> str:
    """128 random bits."""
    return secrets.token_hex(16)


def fill_path(template: str, ids: Sequence[str | int]) -> str:
    """Replaces the parameters of a path with ids, in order."""
    left = iter(ids)
    return re.sub(r"\{\w+\}", lambda _: path_part(next(left)), template)


def path_part(value: str | int) -> str:
    """An id as one part of a path. Empty parts and dots are refused: URLs drop them, which changes the path."""
    if isinstance(value, bool) or not isinstance(value, (str, int)) or str(value) in ("", ".", ".."):
        raise ValueError(f"Not an id: {value!r}")
    return quote(str(value), safe="")


def query_text(value: Any) -> str:
    """A value in a query: lists are joined by commas. Raises a ValueError for a time without a time zone."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise ValueError(f"A time without a time zone: {value!r}")
        return value.isoformat()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ",".join(query_text(each) for each in value)
    return str(value)


def entity_tag(tag: str) -> str:
    """A tag from a record or from the header `ETag`, in the format of the header."""
    return tag if re.fullmatch(r'\*|(W/)?".*"', tag) else f'"{tag}"'


def header_value(name: str, value: str) -> str:
    """Checks a value of a header. The error omits the value, since errors are logged and keys are secret."""
    if not re.fullmatch(r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?", value):
        raise ValueError(f"{name} must be printable ASCII text")
    return value
