"""What an argument of a tool can be: its JSON Schema, and how a JSON value is read as its Python type."""

from __future__ import annotations

import collections.abc
import dataclasses
import enum
import types
import typing
from collections.abc import Callable
from datetime import date, datetime
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin
from uuid import UUID

Schema = dict[str, Any]


class ArgumentError(ValueError):
    """A value that does not fit its type. Its text starts with the path of the value."""


class Shape(NamedTuple):
    """The schema of a type, and what reads a JSON value as this type. `read` raises an `ArgumentError`."""

    schema: Schema
    read: Callable[[Any, str], Any]


class Field(NamedTuple):
    """A field of an object."""

    shape: Shape
    required: bool


def shape_of(kind: Any, outer: tuple[Any, ...] = ()) -> Shape:
    """The shape of a type. Raises a TypeError for types without a JSON form, and for those that contain themselves."""
    if kind in outer and (dataclasses.is_dataclass(kind) or is_typed_dict(kind)):
        raise TypeError(f"{name_of(kind)} contains itself")
    within = (*outer, kind)
    if get_origin(kind) is Annotated:
        return annotated(kind, outer)
    if isinstance(kind, typing.NewType):
        return shape_of(kind.__supertype__, outer)
    if kind in PLAIN:
        return PLAIN[kind]
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return literal(inner)
    if origin in (Union, types.UnionType):
        return union([shape_of(each, within) for each in inner])
    if origin in LISTS or kind in LISTS:
        return list_of(shape_of(inner[0] if inner else Any, within), LISTS[origin or kind])
    if origin is tuple:
        return tuple_of(inner, within)
    if origin in (dict, collections.abc.Mapping) or kind is dict:
        return mapping(inner, within)
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return enumeration(kind)
    if is_typed_dict(kind) or (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        return record(kind, within)
    raise TypeError(f"{name_of(kind)} has no JSON Schema")


def is_typed_dict(kind: Any) -> bool:
    """Whether a type is a TypedDict, also one of typing_extensions."""
    return isinstance(kind, type) and issubclass(kind, dict) and hasattr(kind, "__required_keys__")


def name_of(kind: Any) -> str:
    """The name of a type, for people."""
    return kind.__name__ if isinstance(kind, type) else str(kind)


def annotated(kind: Any, outer: tuple[Any, ...]) -> Shape:
    """A text in `Annotated` is the description."""
    inner, *notes = get_args(kind)
    shape = shape_of(inner, outer)
    texts = [note for note in notes if isinstance(note, str)]
    return Shape({**shape.schema, "description": texts[0]}, shape.read) if texts else shape


def plain(schema: Schema, what: str, fits: Callable[[Any], bool], turn: Callable[[Any], Any] | None = None) -> Shape:
    """A type of single values."""

    def read(value: Any, path: str) -> Any:
        if not fits(value):
            raise ArgumentError(f"{path} must be {what}")
        try:
            return value if turn is None else turn(value)
        except (ValueError, OverflowError):
            raise ArgumentError(f"{path} must be {what}") from None

    return Shape(schema, read)


def is_number(value: Any) -> bool:
    """Whether a value is a number in JSON, where true and false are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def is_text(value: Any) -> bool:
    """Whether a value is a text."""
    return isinstance(value, str)


def time_of(text: str) -> datetime:
    """A time in ISO 8601. `Z` is refused by Python 3.10, and common in JSON."""
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)


PLAIN: dict[Any, Shape] = {
    str: plain({"type": "string"}, "a text", is_text),
    bool: plain({"type": "boolean"}, "true or false", lambda value: isinstance(value, bool)),
    int: plain({"type": "integer"}, "an integer", lambda value: is_number(value) and value == value // 1, int),
    float: plain({"type": "number"}, "a number", is_number, float),
    type(None): plain({"type": "null"}, "null", lambda value: value is None),
    datetime: plain({"type": "string", "format": "date-time"}, "a time in ISO 8601", is_text, time_of),
    date: plain({"type": "string", "format": "date"}, "a date like 2026-11-30", is_text, date.fromisoformat),
    UUID: plain({"type": "string", "format": "uuid"}, "a UUID", is_text, UUID),
    Any: Shape({}, lambda value, _: value),
    object: Shape({}, lambda value, _: value),
}

LISTS: dict[Any, Callable[[list[Any]], Any]] = {
    list: list,
    set: set,
    frozenset: frozenset,
    collections.abc.Sequence: list,
    collections.abc.Iterable: list,
}


def literal(values: tuple[Any, ...]) -> Shape:
    """One of these values. In Python, 1 is true; in JSON, it is not."""
    for value in values:
        if value is not None and not isinstance(value, (str, int, float)):
            raise TypeError(f"{value!r} is no value of JSON")

    def read(value: Any, path: str) -> Any:
        for each in values:
            if each == value and isinstance(each, bool) == isinstance(value, bool):
                return each
        raise ArgumentError(f"{path} must be one of {', '.join(map(repr, values))}")

    return Shape({"enum": list(values)}, read)


def enumeration(kind: type[enum.Enum]) -> Shape:
    """A member of an enumeration, by its value."""
    values = literal(tuple(member.value for member in kind))
    return Shape(values.schema, lambda value, path: kind(values.read(value, path)))


def union(members: list[Shape]) -> Shape:
    """One of several types: the first that fits."""
    # Python 3.10 adds None to the type of an argument whose default is None, also to Any.
    for member in members:
        if member.schema == {}:
            return member

    def read(value: Any, path: str) -> Any:
        problems = []
        for member in members:
            try:
                return member.read(value, path)
            except ArgumentError as error:
                problems.append(str(error))
        raise ArgumentError("; or ".join(problems))

    return Shape({"anyOf": [member.schema for member in members]}, read)


def read_list(value: Any, path: str) -> list[Any]:
    """A list of JSON."""
    if not isinstance(value, list):
        raise ArgumentError(f"{path} must be a list")
    return value


def list_of(item: Shape, build: Callable[[list[Any]], Any]) -> Shape:
    """A list, or a set, whose items have one type."""

    def read(value: Any, path: str) -> Any:
        return build([item.read(each, f"{path}[{at}]") for at, each in enumerate(read_list(value, path))])

    unique: Schema = {"uniqueItems": True} if build in (set, frozenset) else {}
    return Shape({"type": "array", "items": item.schema, **unique}, read)


def tuple_of(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> Shape:
    """A list of a fixed length, or of any length with `...`."""
    if len(inner) == 2 and inner[1] is Ellipsis:
        return list_of(shape_of(inner[0], outer), tuple)
    items = [shape_of(each, outer) for each in inner]

    def read(value: Any, path: str) -> Any:
        if len(read_list(value, path)) != len(items):
            raise ArgumentError(f"{path} must be a list of {len(items)}")
        return tuple(item.read(each, f"{path}[{at}]") for at, (item, each) in enumerate(zip(items, value, strict=True)))

    limits = {"minItems": len(items), "maxItems": len(items)}
    return Shape({"type": "array", "prefixItems": [item.schema for item in items], **limits}, read)


def mapping(inner: tuple[Any, ...], outer: tuple[Any, ...]) -> Shape:
    """An object with any keys, whose values have one type."""
    if inner and inner[0] is not str:
        raise TypeError(f"the keys of an object are texts, not {name_of(inner[0])}")
    item = shape_of(inner[1] if inner else Any, outer)

    def read(value: Any, path: str) -> Any:
        return {key: item.read(each, f"{path}.{key}") for key, each in read_object(value, path).items()}

    return Shape({"type": "object", "additionalProperties": item.schema}, read)


def read_object(value: Any, path: str) -> dict[str, Any]:
    """An object of JSON."""
    if not isinstance(value, dict):
        raise ArgumentError(f"{path} must be an object")
    return value


def record(kind: Any, outer: tuple[Any, ...]) -> Shape:
    """A TypedDict or a dataclass."""
    hints = hints_of(kind)
    if is_typed_dict(kind):
        # The class itself does not see markers in annotations that are texts.
        needed = {name for name, hint in hints.items() if is_required(hint, name in kind.__required_keys__)}
        names, build = list(hints), dict
    else:
        fields = [field for field in dataclasses.fields(kind) if field.init]
        missing = dataclasses.MISSING
        needed = {each.name for each in fields if each.default is missing and each.default_factory is missing}
        names, build = [field.name for field in fields], kind
    shapes = {name: Field(shape_of(without_marker(hints[name]), outer), name in needed) for name in names}
    shape = object_of(shapes)
    return Shape(shape.schema, lambda value, path: build(**shape.read(value, path)))


def hints_of(kind: Any) -> dict[str, Any]:
    """The types of the fields of a class, or of the arguments of a function."""
    return typing.get_type_hints(kind, include_extras=True)


def marker_of(hint: Any) -> str:
    """`Required`, `NotRequired` or another marker: in typing since Python 3.11, and in typing_extensions."""
    return str(getattr(get_origin(hint), "_name", ""))


def is_required(hint: Any, otherwise: bool) -> bool:
    """Whether a field of a TypedDict is required."""
    return {"Required": True, "NotRequired": False}.get(marker_of(hint), otherwise)


def without_marker(hint: Any) -> Any:
    """The type in `Required` or `NotRequired`."""
    if marker_of(hint) in ("Required", "NotRequired", "ReadOnly"):
        return without_marker(get_args(hint)[0])
    return hint


def object_of(fields: dict[str, Field]) -> Shape:
    """An object with these fields, and no others. What is not given is omitted."""

    def read(value: Any, path: str) -> dict[str, Any]:
        given = read_object(value, path or "the arguments")
        start = f"{path}." if path else ""
        for name in given:
            if name not in fields:
                raise ArgumentError(f"{start}{name} is not an argument")
        for name, field in fields.items():
            if field.required and name not in given:
                raise ArgumentError(f"{start}{name} is missing")
        return {name: fields[name].shape.read(each, start + name) for name, each in given.items()}

    schema: Schema = {
        "type": "object",
        "properties": {name: field.shape.schema for name, field in fields.items()},
        "required": [name for name, field in fields.items() if field.required],
        "additionalProperties": False,
    }
    return Shape(schema, read)
