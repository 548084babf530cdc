"""The schemas of tools, and how their arguments are read."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from enum import Enum
from typing import Annotated, Any, Literal, NewType, Optional, TypedDict

import pytest
from typing_extensions import NotRequired
from typing_extensions import TypedDict as OtherTypedDict

from durable_workflows.tools import Tool, Tools, tool

SECRET = "a secret that both know"
OrderId = NewType("OrderId", str)


class Reason(Enum):
    DAMAGED = "damaged"
    LATE = "late"


class Address(TypedDict):
    street: str
    city: NotRequired[str]


class Partial(TypedDict, total=False):
    note: str


class Other(OtherTypedDict):
    a: int
    b: NotRequired[int]


@dataclass
class Line:
    item: str
    count: int = 1
    tags: list[str] = field(default_factory=list)


@dataclass
class Tree:
    children: list[Tree]


@tool
def everything(
    order: Annotated[OrderId, "The id of the order"],
    amount: float,
    lines: list[Line],
    address: Address,
    reason: Reason,
    kind: Literal["full", "part", 1, None],
    note: Optional[str] = None,  # noqa: UP045
    limits: Mapping[str, int | float] | None = None,
    pair: tuple[int, str] = (1, "a"),
    *,
    codes: set[int] = frozenset(),  # type: ignore[assignment]
    numbers: Sequence[int] = (),
    many: tuple[int, ...] = (),
    partial: Partial = {},  # noqa: B006
    other: Other | None = None,
    at: datetime | None = None,
    day: date | None = None,
    known: uuid.UUID | None = None,
    whatever: Any = None,
    flag: bool = False,
) -> dict[str, Any]:
    """Takes every
    kind of argument.

    And has a second paragraph.
    """
    given = dict(locals())
    given["types"] = {name: type(value).__name__ for name, value in given.items()}
    return given


def test_the_schema_has_what_the_types_say() -> None:
    assert everything.name == "everything"
    assert everything.description == "Takes every kind of argument."
    schema = everything.input_schema
    assert schema["required"] == ["order", "amount", "lines", "address", "reason", "kind"]
    assert schema["additionalProperties"] is False
    line = {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "count": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
        },
        "required": ["item"],
        "additionalProperties": False,
    }
    assert schema["properties"] == {
        "order": {"type": "string", "description": "The id of the order"},
        "amount": {"type": "number"},
        "lines": {"type": "array", "items": line},
        "address": record({"street": {"type": "string"}, "city": {"type": "string"}}, "street"),
        "reason": {"enum": ["damaged", "late"]},
        "kind": {"enum": ["full", "part", 1, None]},
        "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "limits": {
            "anyOf": [
                {
                    "type": "object",
                    "additionalProperties": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
                },
                {"type": "null"},
            ]
        },
        "pair": {
            "type": "array",
            "prefixItems": [{"type": "integer"}, {"type": "string"}],
            "minItems": 2,
            "maxItems": 2,
        },
        "codes": {"type": "array", "items": {"type": "integer"}, "uniqueItems": True},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "many": {"type": "array", "items": {"type": "integer"}},
        "partial": record({"note": {"type": "string"}}),
        "other": {"anyOf": [record({"a": {"type": "integer"}, "b": {"type": "integer"}}, "a"), {"type": "null"}]},
        "at": {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
        "day": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "known": {"anyOf": [{"type": "string", "format": "uuid"}, {"type": "null"}]},
        "whatever": {},
        "flag": {"type": "boolean"},
    }


def record(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


LEAST: dict[str, Any] = {
    "order": "o1",
    "amount": 2,
    "lines": [{"item": "cup", "count": 2.0}],
    "address": {"street": "Main"},
    "reason": "late",
    "kind": None,
}


def test_arguments_become_what_the_types_say() -> None:
    read = everything.read(
        {
            **LEAST,
            "codes": [1, 1],
            "pair": [2, "b"],
            "many": [1, 2],
            "at": "2026-11-30T01:02:03Z",
            "day": "2026-11-30",
            "known": "12345678-1234-5678-1234-567812345678",
            "limits": {"a": 1.5},
        }
    )
    assert read["lines"] == [Line("cup", 2)]
    assert isinstance(read["amount"], float)
    assert read["reason"] is Reason.LATE
    assert (read["codes"], read["pair"], read["many"]) == ({1}, (2, "b"), (1, 2))
    assert read["at"] == datetime(2026, 11, 30, 1, 2, 3, tzinfo=timezone.utc)
    assert (read["day"], read["known"].int & 0xFFFF, read["limits"]) == (date(2026, 11, 30), 0x5678, {"a": 1.5})
    assert "note" not in read


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"order": 1}, "order must be a text"),
        ({"amount": "2"}, "amount must be a number"),
        ({"amount": True}, "amount must be a number"),
        ({"amount": 10**400}, "amount must be a number"),
        ({"lines": {}}, "lines must be a list"),
        ({"lines": [{"item": "a"}, {"count": 1}]}, "lines[1].item is missing"),
        ({"lines": [{"item": "a", "count": 1.5}]}, "lines[0].count must be an integer"),
        ({"address": []}, "address must be an object"),
        ({"address": {"street": "a", "zip": 1}}, "address.zip is not an argument"),
        ({"reason": "other"}, "reason must be one of 'damaged', 'late'"),
        ({"kind": True}, "kind must be one of 'full', 'part', 1, None"),
        ({"note": 1}, "note must be a text; or note must be null"),
        ({"pair": [1]}, "pair must be a list of 2"),
        ({"pair": [1, 2]}, "pair[1] must be a text"),
        ({"at": "yesterday"}, "at must be a time in ISO 8601; or at must be null"),
        ({"known": "1"}, "known must be a UUID; or known must be null"),
        ({"flag": 1}, "flag must be true or false"),
        ({"more": 1}, "more is not an argument"),
    ],
)
def test_wrong_arguments_are_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=r"must be|missing|is not") as caught:
        everything.read({**LEAST, **changed})
    assert str(caught.value) == message
    with pytest.raises(ValueError, match="amount is missing"):
        everything.read({name: value for name, value in LEAST.items() if name != "amount"})


def test_a_tool_can_be_called_like_its_function() -> None:
    @tool(name="add-all", description="Adds", read_only=True, retry_count=0)
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert (add(1), add(1, b=2)) == (2, 3)
    assert (add.name, add.description, add.options) == ("add-all", "Adds", {"read_only": True, "retry_count": 0})


def test_what_is_no_tool_is_refused_when_it_is_defined() -> None:
    def untyped(a) -> None: ...  # type: ignore[no-untyped-def]
    def positional(a: int, /) -> None: ...
    def several(*a: int) -> None: ...
    def complex_number(a: complex) -> None: ...
    def recursive(a: Tree) -> None: ...
    def keys(a: dict[int, str]) -> None: ...
    def fine(a: int) -> None: ...

    for function, message in (
        (untyped, "argument 'a': it has no type"),
        (positional, "argument 'a': it must be possible to give it by its name"),
        (several, "argument 'a': it must be possible to give it by its name"),
        (complex_number, "tool 'complex_number', argument 'a': complex has no JSON Schema"),
        (recursive, "argument 'a': Tree contains itself"),
        (keys, "argument 'a': the keys of an object are texts, not int"),
    ):
        with pytest.raises(TypeError) as caught:
            tool(function)
        assert str(caught.value).endswith(message)
    for name in ("", "Fine", "1a", "a" * 65, "a b"):
        with pytest.raises(ValueError, match="is no name of a tool"):
            Tool(fine, name=name)
    with pytest.raises(ValueError, match="two tools with the name 'fine'"):
        Tools(tool(fine), tool(fine), secret=None)
    with pytest.raises(ValueError, match="secret must be printable"):
        Tools(secret="")
