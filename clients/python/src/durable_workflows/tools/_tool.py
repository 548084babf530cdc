"""A function as a tool."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar, overload

from ._shape import Field, Schema, hints_of, object_of, shape_of

P = ParamSpec("P")
R = TypeVar("R")

NAME = re.compile(r"[a-z][a-z0-9_-]{0,63}")


class ToolCall(NamedTuple):
    """The call that a function serves: an argument of this type gets it, and is not in the schema."""

    tool: str
    idempotency_key: str | None
    """The same when the service repeats a call whose result it does not know. Pass it on to what you call."""
    headers: Mapping[str, str]
    """The names are in lower case."""


class ToolError(Exception):
    """A call that fails for a reason that the step shows.

    By default, the step fails without a retry (400). With `retry`, or `retry_after` in seconds, the call is repeated
    (503).
    """

    def __init__(self, detail: str, *, retry: bool = False, retry_after: int | None = None) -> None:
        super().__init__(detail)
        self.detail = detail
        self.retry_after = retry_after
        self.status = 503 if retry or retry_after is not None else 400


class Tool(Generic[P, R]):
    """A function with its name, its description and the JSON Schema of its arguments.

    It can be called like the function.
    """

    def __init__(
        self,
        function: Callable[P, R],
        *,
        name: str | None = None,
        description: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.function = function
        self.name = str(getattr(function, "__name__", "")) if name is None else name
        if not NAME.fullmatch(self.name):
            raise ValueError(f"{self.name!r} is no name of a tool: use a-z, 0-9, _ and -, at most 64, first a letter")
        self.description = first_paragraph(inspect.getdoc(function)) if description is None else description
        self.options = dict(options or {})
        self.__doc__ = function.__doc__
        fields, self._context = fields_of(self.name, function)
        self._arguments = object_of(fields)

    @property
    def input_schema(self) -> Schema:
        """The JSON Schema of the arguments."""
        return self._arguments.schema

    def __call__(self, *args: P.args, **given: P.kwargs) -> R:
        return self.function(*args, **given)

    def read(self, arguments: Any) -> dict[str, Any]:
        """The arguments of JSON as their Python types. Raises an `ArgumentError`."""
        read: dict[str, Any] = self._arguments.read(arguments, "")
        return read

    async def serve(self, arguments: Mapping[str, Any], call: ToolCall) -> Any:
        """Calls the function with what `read` has returned: in a thread, unless it is a coroutine function."""
        given = {**arguments, **dict.fromkeys(self._context, call)}
        function: Callable[..., Any] = self.function
        if inspect.iscoroutinefunction(function):
            return await function(**given)
        return await asyncio.to_thread(function, **given)


class Decorator:
    """What `@tool(...)` does with a function."""

    def __init__(self, keep: Callable[[Tool[Any, Any]], object], given: Mapping[str, Any]) -> None:
        self._keep = keep
        self._given = given

    def __call__(self, function: Callable[P, R]) -> Tool[P, R]:
        made = Tool(function, **self._given)
        self._keep(made)
        return made


@overload
def tool(function: Callable[P, R], /) -> Tool[P, R]: ...
@overload
def tool(
    *,
    name: str | None = None,
    description: str | None = None,
    read_only: bool | None = None,
    timeout_seconds: int | None = None,
    retry_count: int | None = None,
) -> Decorator: ...
def tool(function: Callable[..., Any] | None = None, /, **given: Any) -> Any:
    """Makes a tool of a typed function: `@tool`, or `@tool(name=..., read_only=True)`.

    The schema comes from the types of the arguments, the description from the docstring. An argument without a default
    is required; a text in `Annotated` describes it.

    Args:
        name: Workflows call the tool as `custom:<name>`. Default: the name of the function
        description: For people and models. Default: the first paragraph of the docstring
        read_only: Whether its calls change nothing
        timeout_seconds: For one call
        retry_count: Retries after the first call
    """
    return decorated(function, given, lambda _: None)


def decorated(
    function: Callable[..., Any] | None, given: Mapping[str, Any], keep: Callable[[Tool[Any, Any]], object]
) -> Any:
    """The tool of a function, or what makes one."""
    own = {name: given[name] for name in ("name", "description") if name in given}
    others = {name: value for name, value in given.items() if name not in own and value is not None}
    decorator = Decorator(keep, {**own, "options": others})
    return decorator if function is None else decorator(function)


def fields_of(name: str, function: Callable[..., Any]) -> tuple[dict[str, Field], list[str]]:
    """The arguments of a function, and the names of those that get the call.

    Raises a TypeError for what has no schema.
    """
    hints = hints_of(function)
    fields: dict[str, Field] = {}
    context: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        place = f"tool '{name}', argument '{parameter.name}'"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{place}: it must be possible to give it by its name")
        if parameter.name not in hints:
            raise TypeError(f"{place}: it has no type")
        if hints[parameter.name] is ToolCall:
            context.append(parameter.name)
            continue
        try:
            shape = shape_of(hints[parameter.name])
        except TypeError as error:
            raise TypeError(f"{place}: {error}") from None
        fields[parameter.name] = Field(shape, parameter.default is parameter.empty)
    return fields, context


def first_paragraph(text: str | None) -> str:
    """The first paragraph of a docstring as one line."""
    return " ".join((text or "").split("\n\n")[0].split())
