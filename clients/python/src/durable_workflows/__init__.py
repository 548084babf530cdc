"""The client of the durable workflows service, and a server for its tools (`durable_workflows.tools`)."""

from ._flow import etag_of
from ._stream import AgentDeltaFrame, WorkspaceFrame
from ._version import __version__
from .client import AsyncClient, Client
from .errors import (
    NoResponseError,
    RunSkippedError,
    SignatureError,
    StreamError,
    WaitTimeoutError,
    WorkflowError,
)
from .signatures import WebhookEvent, sign_inbound_webhook, verify_webhook

__all__ = [
    "AgentDeltaFrame",
    "AsyncClient",
    "Client",
    "NoResponseError",
    "RunSkippedError",
    "SignatureError",
    "StreamError",
    "WaitTimeoutError",
    "WebhookEvent",
    "WorkflowError",
    "WorkspaceFrame",
    "__version__",
    "etag_of",
    "sign_inbound_webhook",
    "verify_webhook",
]
