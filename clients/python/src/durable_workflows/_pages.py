"""Lists that have several pages, without input and output."""

from __future__ import annotations

import json
from typing import Any

from ._call import Call

MAX_PAGE = 200
"""The most rows in a response without a cursor."""


class Pages:
    """The pages of a list: which call reads the next one, and which of its rows are new.

    `key` is the field with the rows, or empty if the page is the list. `by` is how the next page is found: `cursor`,
    `envelope` (a cursor in `pagination`), `after` (a number) or `offset`. New rows of a list by offset shift the others
    to later pages, so rows that it had before are skipped.
    """

    def __init__(self, call: Call, key: str, by: str, *, seen: list[Any] | None = None) -> None:
        self._call = call
        self._key = key
        self._by = by
        self._seen = {identity(row) for row in seen or []}
        self._offset = len(seen or [])
        self.next: Call | None = call
        if by == "offset":
            self.next = call.asking(limit=MAX_PAGE, offset=self._offset)

    def take(self, page: Any) -> list[Any]:
        """The new rows of the page that `next` has read."""
        rows: list[Any] = page[self._key] if self._key else page
        if self._by == "offset":
            self._offset += len(rows)
            self.next = self._call.asking(limit=MAX_PAGE, offset=self._offset) if rows else None
            new = [row for row in rows if identity(row) not in self._seen]
            self._seen.update(identity(row) for row in rows)
            return new
        source = page["pagination"] if self._by == "envelope" else page
        cursor = source["next_cursor"]
        name = "after" if self._by == "after" else "cursor"
        self.next = None if cursor is None else self._call.asking(**{name: cursor})
        return rows


def is_whole(call: Call, rows: list[Any]) -> bool:
    """Whether the first page is all that was asked for."""
    asked = "limit" in call.query or "offset" in call.query
    return asked or len(rows) < MAX_PAGE


def identity(row: dict[str, Any]) -> str:
    """What a row is known by. Secrets only have a name, and queues have neither."""
    known = row.get("id", row.get("name"))
    return known if isinstance(known, str) else json.dumps(row, sort_keys=True)
