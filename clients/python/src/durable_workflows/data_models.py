"""The records of the data API.

Times are ISO 8601 in UTC, money is in dollars, durations are in milliseconds. Generated: see CONTRIBUTING.md.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias, TypedDict, Union

__all__ = ["Allowance", "Change", "CreateExportBody", "CreateExportResponse", "CreateWebhookEndpointBody", "CreateWebhookEndpointResponse", "DataMeta", "DataUsage", "DataUsageKey", "DeliveryAttempt", "EmptyBody", "Entity", "EntityDetail", "EntityVersion", "Error", "ExportedRow", "Feed", "FeedDetail", "FeedFreshness", "GetUsageResponse", "IntelligenceEvent", "ListChangesResponse", "ListEntitiesResponse", "ListEventsResponse", "ListFeedsResponse", "ListSourcesResponse", "ListWebhookDeliveriesResponse", "ListWebhookEndpointsResponse", "NewWebhookEndpoint", "Pagination", "PingWebhookEndpointResponse", "ReadEntityResponse", "ReadEventResponse", "ReadFeedResponse", "RedeliverDeadWebhookDeliveriesBody", "RedeliverDeadWebhookDeliveriesResponse", "RedeliverWebhookDeliveryResponse", "Redelivered", "RotateWebhookSecretResponse", "RotatedSecret", "Source", "SourceEvidence", "SourceHealth", "WebhookDelivery", "WebhookEndpoint"]


class Allowance(TypedDict):
    used: int
    limit: int | None
    """Null: unlimited."""


class Change(TypedDict):
    id: str
    feed_id: str
    entity_id: str
    entity_type: str
    attribute: str
    old_value: Any
    new_value: Any
    version: int
    """Of the record, after this change."""
    changed_at: str
    """ISO 8601, UTC."""
    source_id: str | None


class _CreateExportBody(TypedDict):
    kind: Literal["entities", "events"]
    format: Literal["json", "csv"]


class CreateExportBody(_CreateExportBody, total=False):
    feed_id: str
    """Default: all feeds."""


class CreateExportResponse(TypedDict):
    data: list[ExportedRow]
    pagination: Pagination
    meta: DataMeta


class CreateWebhookEndpointBody(TypedDict):
    url: str
    """Events are sent to it with POST."""
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping"]]
    """The subscribed events; a `ping` is always sent."""


class CreateWebhookEndpointResponse(TypedDict):
    data: NewWebhookEndpoint
    pagination: Pagination
    meta: DataMeta


class DataMeta(TypedDict):
    request_id: str
    """Identifies the request in the logs."""
    schema_version: Literal["2026-07-01"]
    credits_consumed: int
    """The cost of this call."""


class DataUsage(TypedDict):
    month: str
    """Calendar month, UTC."""
    period_start: str
    """First instant of the month."""
    period_end: str
    """Last second of the month."""
    plan: Literal["free", "starter", "pro", "enterprise"]
    requests: Allowance
    """Every call with a valid key, including refused ones."""
    credits: Allowance
    records: int
    """Paid records, events, changes and rows."""
    webhook_deliveries: int
    source_checks: int
    key: DataUsageKey


class DataUsageKey(TypedDict):
    id: str
    name: str
    requests: Allowance
    credits: Allowance


class DeliveryAttempt(TypedDict):
    round: int
    """Increases with each redelivery."""
    attempt: int
    started_at: str
    """ISO 8601, UTC."""
    duration_ms: int
    status_code: int | None
    """Null without a response."""
    error: str | None


class EmptyBody(TypedDict):
    pass


class Entity(TypedDict):
    id: str
    feed_id: str
    entity_type: str
    canonical_name: str
    aliases: list[Any]
    attributes: dict[str, Any]
    external_ids: dict[str, Any]
    geography: dict[str, Any]
    status: str
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    confidence: float
    version: int
    source_evidence: list[SourceEvidence]
    """The sources of the record."""
    first_observed_at: str
    """ISO 8601, UTC."""
    last_observed_at: str
    """ISO 8601, UTC."""
    last_verified_at: str | None
    updated_at: str
    """ISO 8601, UTC."""
    is_demo: bool


class _EntityDetail(TypedDict):
    id: str
    feed_id: str
    entity_type: str
    canonical_name: str
    aliases: list[Any]
    attributes: dict[str, Any]
    external_ids: dict[str, Any]
    geography: dict[str, Any]
    status: str
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    confidence: float
    version: int
    source_evidence: list[SourceEvidence]
    """The sources of the record."""
    first_observed_at: str
    """ISO 8601, UTC."""
    last_observed_at: str
    """ISO 8601, UTC."""
    last_verified_at: str | None
    updated_at: str
    """ISO 8601, UTC."""
    is_demo: bool


class EntityDetail(_EntityDetail, total=False):
    history: list[EntityVersion]
    """Newest first, at most 1,000."""


class EntityVersion(TypedDict):
    version: int
    changed_at: str
    """ISO 8601, UTC."""
    attributes: dict[str, Any]
    changed: list[str]
    """The attributes that this version changed."""


class Error(TypedDict):
    """Every error has this shape."""

    detail: str
    """The error message."""


class Feed(TypedDict):
    id: str
    name: str
    description: str
    status: Literal["active", "paused", "degraded", "archived"]
    freshness: FeedFreshness
    entity_types: list[str]
    schema: dict[str, Any]
    geography: dict[str, Any]
    is_demo: bool
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""


class FeedDetail(TypedDict):
    id: str
    name: str
    description: str
    status: Literal["active", "paused", "degraded", "archived"]
    freshness: FeedFreshness
    entity_types: list[str]
    schema: dict[str, Any]
    geography: dict[str, Any]
    is_demo: bool
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""
    specification: dict[str, Any]


class FeedFreshness(TypedDict):
    last_event_at: str | None
    """When a record or an event last came or changed."""
    last_checked_at: str | None
    """When records were last sent, even without changes."""
    lag_seconds: int | None
    """Since `last_event_at`."""


class GetUsageResponse(TypedDict):
    data: DataUsage
    pagination: Pagination
    meta: DataMeta


class IntelligenceEvent(TypedDict):
    id: str
    feed_id: str
    event_type: str
    occurred_at: str
    """ISO 8601, UTC."""
    detected_at: str
    """ISO 8601, UTC."""
    primary_entity_id: str
    summary: str
    relevance_score: float | None
    opportunity_score: float | None
    confidence: float
    verification_status: Literal["unverified", "machine_verified", "human_reviewed", "multi_source_verified"]
    match_reason: str | None
    source_evidence: list[SourceEvidence]
    """The sources of the record."""
    delivered_at: str | None
    """When a page of the list first contained it."""
    is_demo: bool


class ListChangesResponse(TypedDict):
    data: list[Change]
    pagination: Pagination
    meta: DataMeta


class ListEntitiesResponse(TypedDict):
    data: list[Entity]
    pagination: Pagination
    meta: DataMeta


class ListEventsResponse(TypedDict):
    data: list[IntelligenceEvent]
    pagination: Pagination
    meta: DataMeta


class ListFeedsResponse(TypedDict):
    data: list[Feed]
    pagination: Pagination
    meta: DataMeta


class ListSourcesResponse(TypedDict):
    data: list[Source]
    pagination: Pagination
    meta: DataMeta


class ListWebhookDeliveriesResponse(TypedDict):
    data: list[WebhookDelivery]
    pagination: Pagination
    meta: DataMeta


class ListWebhookEndpointsResponse(TypedDict):
    data: list[WebhookEndpoint]
    pagination: Pagination
    meta: DataMeta


class NewWebhookEndpoint(TypedDict):
    id: str
    url: str
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]]
    status: Literal["active", "failing"]
    """`failing` after 5 failed attempts in a row, until one succeeds."""
    consecutive_failures: int
    """Failed attempts since the last success."""
    last_delivery_at: str | None
    """When the last attempt succeeded."""
    created_at: str
    """ISO 8601, UTC."""
    secret: str
    """The key of the signatures. Shown only this once."""


class Pagination(TypedDict):
    next_cursor: str | None
    """Null on the last page."""


class PingWebhookEndpointResponse(TypedDict):
    data: WebhookDelivery
    pagination: Pagination
    meta: DataMeta


class ReadEntityResponse(TypedDict):
    data: EntityDetail
    pagination: Pagination
    meta: DataMeta


class ReadEventResponse(TypedDict):
    data: IntelligenceEvent
    pagination: Pagination
    meta: DataMeta


class ReadFeedResponse(TypedDict):
    data: FeedDetail
    pagination: Pagination
    meta: DataMeta


class RedeliverDeadWebhookDeliveriesBody(TypedDict, total=False):
    since: str
    """Deliveries of events since then; all without it."""
    until: str
    """Deliveries of events before then."""
    status: Literal["dead", "all"]
    """`dead`: those that have failed. `all`: delivered ones, too."""


class RedeliverDeadWebhookDeliveriesResponse(TypedDict):
    data: Redelivered
    pagination: Pagination
    meta: DataMeta


class RedeliverWebhookDeliveryResponse(TypedDict):
    data: WebhookDelivery
    pagination: Pagination
    meta: DataMeta


class Redelivered(TypedDict):
    redelivered: int
    left: int
    """Deliveries beyond the limit of pending ones; call again later."""


class RotateWebhookSecretResponse(TypedDict):
    data: RotatedSecret
    pagination: Pagination
    meta: DataMeta


class RotatedSecret(TypedDict):
    secret: str
    """The key of the signatures. Shown only this once."""
    previous_secret_until: str
    """Until then every delivery is also signed with the previous secret."""


class Source(TypedDict):
    id: str
    name: str
    type: str
    jurisdiction: str | None
    cadence: str | None
    permission_status: str | None
    license_status: str | None
    reliability_score: float | None
    health: SourceHealth
    is_demo: bool
    created_at: str
    """ISO 8601, UTC."""
    updated_at: str
    """ISO 8601, UTC."""


class SourceEvidence(TypedDict, total=False):
    source_id: str | None
    source_name: str | None
    url: str | None
    retrieved_at: str | None
    synthetic: bool


class SourceHealth(TypedDict):
    status: Literal["unknown", "healthy", "failed"]
    last_success_at: str | None
    consecutive_failures: int


class WebhookDelivery(TypedDict):
    id: str
    """As in the header `X-Service-Delivery`."""
    event_id: str
    type: Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]
    status: Literal["pending", "delivered", "dead"]
    """`dead`: failed permanently."""
    reason: str | None
    """Why it failed without an attempt."""
    attempts: int
    """In the current cycle."""
    next_attempt_at: str | None
    """For a pending delivery."""
    created_at: str
    """ISO 8601, UTC."""
    ended_at: str | None
    log: list[DeliveryAttempt]
    """Every attempt, oldest first."""


class WebhookEndpoint(TypedDict):
    id: str
    url: str
    events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping", "run.completed", "run.failed", "run.paused", "approval.requested"]]
    status: Literal["active", "failing"]
    """`failing` after 5 failed attempts in a row, until one succeeds."""
    consecutive_failures: int
    """Failed attempts since the last success."""
    last_delivery_at: str | None
    """When the last attempt succeeded."""
    created_at: str
    """ISO 8601, UTC."""


ExportedRow: TypeAlias = Union[Entity, IntelligenceEvent]
