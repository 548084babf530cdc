"""What goes wrong. All errors of this package are a `WorkflowError`."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any


class WorkflowError(Exception):
    """A response of the service other than 2xx, or another failure of a call."""

    status: int
    """The HTTP status; 0 if there was no response."""
    detail: str
    """The error message of the service, for people."""
    code: str
    """The kind of error, for programs: the name of the status, such as `not_found`, or one of a subclass."""
    request_id: str | None
    """The id of the request in the service's log."""
    retry_after: float | None
    """Seconds to wait before a retry, if the service says so."""
    current: Any
    """For 412, the present record, or None if it was deleted. For a decision with an older digest (409), what the gate
    has now."""
    stale: Any
    """For an approval of a gate with `recheck` (409): when other values were found, and the differences."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        request_id: str | None = None,
        retry_after: float | None = None,
        current: Any = None,
        stale: Any = None,
    ) -> None:
        super().__init__(detail if status == 0 else f"{detail} ({status})")
        self.status = status
        self.detail = detail
        self.code = code_of(status) if code is None else code
        self.request_id = request_id
        self.retry_after = retry_after
        self.current = current
        self.stale = stale


class WaitTimeoutError(WorkflowError):
    """The wait for a run timed out (408); the run continues."""

    run_id: str

    def __init__(self, run_id: str, seconds: float) -> None:
        detail = f"Run {run_id} did not end or pause within {seconds:g} s; it continues"
        super().__init__(408, detail, code="wait_timeout")
        self.run_id = run_id


class RunSkippedError(WorkflowError):
    """No run was started, because the limit of the workflow is reached and skips further runs."""

    def __init__(self, detail: str) -> None:
        super().__init__(200, detail, code="run_skipped")


class NoResponseError(WorkflowError):
    """There was no response: the connection was refused or broke, or the call timed out."""

    timed_out: bool

    def __init__(self, detail: str, *, timed_out: bool = False) -> None:
        super().__init__(0, detail, code="timed_out" if timed_out else "no_response")
        self.timed_out = timed_out


class StreamError(WorkflowError):
    """A stream ended, but not because of the caller."""

    close_code: int
    """4401 no valid token, 4403 not permitted, 4404 unknown run, 1001 the service stops, 1006 the connection broke,
    1013 too many streams or a reader that is too slow."""

    def __init__(self, close_code: int, detail: str) -> None:
        super().__init__(0, f"{detail} ({close_code})", code="stream_ended")
        self.close_code = close_code


class SignatureError(WorkflowError):
    """A webhook delivery that the service did not send, or that is outside the time tolerance."""

    def __init__(self, detail: str) -> None:
        super().__init__(0, detail, code="wrong_signature")


def code_of(status: int) -> str:
    """The name of an HTTP status: `not_found` for 404."""
    try:
        return HTTPStatus(status).name.lower()
    except ValueError:
        return f"http_{status}"
