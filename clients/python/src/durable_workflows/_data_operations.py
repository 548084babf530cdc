"""A method for each operation of the data API. Generated: see CONTRIBUTING.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ._call import NOT_GIVEN, Call, NotGiven
from ._sender import Sender

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from . import data_models as m


class DataOperations(Sender):
    """A method for each operation of the data API.

    `timeout` is in seconds, for the whole call including its retries. Requests with the same
    `idempotency_key` act once; by default, each call has a new one. `if_match` is the `etag` of
    a record as you read it: if the record has changed since, the call fails with status 412.
    """

    def list_feeds(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ListFeedsResponse:
        """List the feeds that are not archived, newest first.

        Costs no credits.

        Args:
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/feeds``
        """
        answer: m.ListFeedsResponse = self._send(
            Call(
                "GET",
                "/v1/feeds",
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def feeds(
        self,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.Feed]:
        """List the feeds that are not archived, newest first.

        Iterates over all pages of ``list_feeds``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/feeds",
                query={"limit": limit},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def read_feed(
        self,
        feed_id: str,
        *,
        timeout: float | None = None,
    ) -> m.ReadFeedResponse:
        """Read a feed with its specification.

        Costs no credits.

        ``GET /v1/feeds/{feed_id}``
        """
        answer: m.ReadFeedResponse = self._send(
            Call(
                "GET",
                "/v1/feeds/{feed_id}",
                (feed_id,),
                timeout=timeout,
            ),
        )
        return answer

    def list_entities(
        self,
        *,
        feed_id: str | None = None,
        entity_type: str | None = None,
        geography: str | None = None,
        confidence_min: str | None = None,
        updated_since: str | datetime | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ListEntitiesResponse:
        """List records, newest first.

        One credit per record. Newest is the last first observation; with `updated_since`, the last
        update.

        Args:
            geography: The city, region or country, in any letter case
            confidence_min: At least this confidence, from 0 to 1
            updated_since: Updated at or after. The list is then sorted by the last update
            created_since: First observed at or after
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/entities``
        """
        answer: m.ListEntitiesResponse = self._send(
            Call(
                "GET",
                "/v1/entities",
                query={"feed_id": feed_id, "entity_type": entity_type, "geography": geography, "confidence_min": confidence_min, "updated_since": updated_since, "created_since": created_since, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def entities(
        self,
        *,
        feed_id: str | None = None,
        entity_type: str | None = None,
        geography: str | None = None,
        confidence_min: str | None = None,
        updated_since: str | datetime | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.Entity]:
        """List records, newest first.

        Iterates over all pages of ``list_entities``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/entities",
                query={"feed_id": feed_id, "entity_type": entity_type, "geography": geography, "confidence_min": confidence_min, "updated_since": updated_since, "created_since": created_since, "limit": limit},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def read_entity(
        self,
        entity_id: str,
        *,
        include: Literal["history"] | None = None,
        timeout: float | None = None,
    ) -> m.ReadEntityResponse:
        """Read a record, optionally with its history.

        5 credits; with the history 20 in total.

        Args:
            include: `history`: include the newest versions, for 20 credits in total

        ``GET /v1/entities/{id}``
        """
        answer: m.ReadEntityResponse = self._send(
            Call(
                "GET",
                "/v1/entities/{id}",
                (entity_id,),
                query={"include": include},
                timeout=timeout,
            ),
        )
        return answer

    def list_changes(
        self,
        *,
        feed_id: str | None = None,
        updated_since: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ListChangesResponse:
        """List changes of records, attribute by attribute, newest first.

        One credit per change.

        Args:
            updated_since: Recorded at or after
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/changes``
        """
        answer: m.ListChangesResponse = self._send(
            Call(
                "GET",
                "/v1/changes",
                query={"feed_id": feed_id, "updated_since": updated_since, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def changes(
        self,
        *,
        feed_id: str | None = None,
        updated_since: str | datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.Change]:
        """List changes of records, attribute by attribute, newest first.

        Iterates over all pages of ``list_changes``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/changes",
                query={"feed_id": feed_id, "updated_since": updated_since, "limit": limit},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def list_events(
        self,
        *,
        feed_id: str | None = None,
        event_type: str | None = None,
        confidence_min: str | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ListEventsResponse:
        """List intelligence events, newest first.

        3 credits per event, 10 if it is `human_reviewed` or `multi_source_verified`. Events are
        marked as delivered by the first page that contains them, and stay listed.

        Args:
            confidence_min: At least this confidence, from 0 to 1
            created_since: Detected at or after
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/events``
        """
        answer: m.ListEventsResponse = self._send(
            Call(
                "GET",
                "/v1/events",
                query={"feed_id": feed_id, "event_type": event_type, "confidence_min": confidence_min, "created_since": created_since, "limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def events(
        self,
        *,
        feed_id: str | None = None,
        event_type: str | None = None,
        confidence_min: str | None = None,
        created_since: str | datetime | None = None,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.IntelligenceEvent]:
        """List intelligence events, newest first.

        Iterates over all pages of ``list_events``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/events",
                query={"feed_id": feed_id, "event_type": event_type, "confidence_min": confidence_min, "created_since": created_since, "limit": limit},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def read_event(
        self,
        event_id: str,
        *,
        timeout: float | None = None,
    ) -> m.ReadEventResponse:
        """Read an event with its evidence and its match reasons.

        Costs no credits.

        ``GET /v1/events/{id}``
        """
        answer: m.ReadEventResponse = self._send(
            Call(
                "GET",
                "/v1/events/{id}",
                (event_id,),
                timeout=timeout,
            ),
        )
        return answer

    def list_sources(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ListSourcesResponse:
        """List the sources of records and their health, newest first.

        Costs no credits.

        Args:
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/sources``
        """
        answer: m.ListSourcesResponse = self._send(
            Call(
                "GET",
                "/v1/sources",
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def sources(
        self,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.Source]:
        """List the sources of records and their health, newest first.

        Iterates over all pages of ``list_sources``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/sources",
                query={"limit": limit},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def create_export(
        self,
        *,
        kind: Literal["entities", "events"],
        feed_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.CreateExportResponse:
        """Export records or events as JSON or CSV.

        The newest 10,000 rows at most, one credit each, all taken before the first is sent. The
        header `X-Export-Truncated: true` says that there were more. CSV comes as an attachment: a
        header row, nested values as JSON, and a `'` before anything a spreadsheet would read as a
        formula. A repeated request with the same `Idempotency-Key` costs no credits and gets the
        same export again; one of more than 1 MB has the same rows, as they are then.

        Args:
            feed_id: Default: all feeds

        ``POST /v1/exports``
        """
        answer: m.CreateExportResponse = self._send(
            Call(
                "POST",
                "/v1/exports",
                fields={"format": "json", "kind": kind, "feed_id": feed_id},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    def create_export_csv(
        self,
        *,
        kind: Literal["entities", "events"],
        feed_id: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> str:
        """Export up to 10,000 records or events as CSV with a header row.

        The newest 10,000 rows at most, one credit each, all taken before the first is sent. The
        header `X-Export-Truncated: true` says that there were more. CSV comes as an attachment: a
        header row, nested values as JSON, and a `'` before anything a spreadsheet would read as a
        formula. A repeated request with the same `Idempotency-Key` costs no credits and gets the
        same export again; one of more than 1 MB has the same rows, as they are then.

        Args:
            feed_id: Default: all feeds

        ``POST /v1/exports``
        """
        answer: str = self._send(
            Call(
                "POST",
                "/v1/exports",
                fields={"format": "csv", "kind": kind, "feed_id": feed_id},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    def get_usage(
        self,
        *,
        timeout: float | None = None,
    ) -> m.GetUsageResponse:
        """Read the use of this month, by the organization and by this key.

        ``GET /v1/usage``
        """
        answer: m.GetUsageResponse = self._send(
            Call(
                "GET",
                "/v1/usage",
                timeout=timeout,
            ),
        )
        return answer

    def list_endpoints(
        self,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        timeout: float | None = None,
    ) -> m.ListWebhookEndpointsResponse:
        """List webhook endpoints.

        Newest first.

        Args:
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/webhooks``
        """
        answer: m.ListWebhookEndpointsResponse = self._send(
            Call(
                "GET",
                "/v1/webhooks",
                query={"limit": limit, "cursor": cursor},
                timeout=timeout,
            ),
        )
        return answer

    def endpoints(
        self,
        *,
        limit: int | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.WebhookEndpoint]:
        """List webhook endpoints.

        Iterates over all pages of ``list_endpoints``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/webhooks",
                query={"limit": limit},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def create_endpoint(
        self,
        *,
        url: str,
        events: list[Literal["entity.created", "entity.updated", "intelligence_event.created", "intelligence_event.verified", "feed.status_changed", "source.failed", "source.recovered", "usage.threshold_reached", "export.completed", "ping"]],
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.CreateWebhookEndpointResponse:
        """Register a webhook endpoint.

        Returns the secret that signs deliveries, only this once. Endpoints of test keys receive
        events about demo records only, those of live keys about live ones. There are at most 50 of
        each.

        Args:
            url: Events are sent to it with POST
            events: The subscribed events; a `ping` is always sent

        ``POST /v1/webhooks``
        """
        answer: m.CreateWebhookEndpointResponse = self._send(
            Call(
                "POST",
                "/v1/webhooks",
                fields={"url": url, "events": events},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    def delete_endpoint(
        self,
        endpoint_id: str,
        *,
        timeout: float | None = None,
    ) -> None:
        """Delete a webhook endpoint.

        Its pending deliveries are deleted too.

        ``DELETE /v1/webhooks/{id}``
        """
        self._send(
            Call(
                "DELETE",
                "/v1/webhooks/{id}",
                (endpoint_id,),
                timeout=timeout,
            ),
        )

    def rotate_endpoint_secret(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.RotateWebhookSecretResponse:
        """Replace the secret of a webhook endpoint.

        Returns the new secret, only this once. For 24 hours deliveries are also signed with the
        previous one; another rotation ends that at once.

        ``POST /v1/webhooks/{id}/rotate-secret``
        """
        answer: m.RotateWebhookSecretResponse = self._send(
            Call(
                "POST",
                "/v1/webhooks/{id}/rotate-secret",
                (endpoint_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    def ping_endpoint(
        self,
        endpoint_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.PingWebhookEndpointResponse:
        """Send a ping to a webhook endpoint.

        An event of the type `ping`, whether the endpoint subscribes to it or not.

        ``POST /v1/webhooks/{id}/ping``
        """
        answer: m.PingWebhookEndpointResponse = self._send(
            Call(
                "POST",
                "/v1/webhooks/{id}/ping",
                (endpoint_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    def list_deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        cursor: str | None = None,
        status: Literal["pending", "delivered", "dead"] | None = None,
        timeout: float | None = None,
    ) -> m.ListWebhookDeliveriesResponse:
        """List the deliveries of a webhook endpoint.

        Newest first, each with its attempts. Kept for 30 days.

        Args:
            limit: Rows per page
            cursor: `pagination.next_cursor` of the previous page

        ``GET /v1/webhooks/{id}/deliveries``
        """
        answer: m.ListWebhookDeliveriesResponse = self._send(
            Call(
                "GET",
                "/v1/webhooks/{id}/deliveries",
                (endpoint_id,),
                query={"limit": limit, "cursor": cursor, "status": status},
                timeout=timeout,
            ),
        )
        return answer

    def deliveries(
        self,
        endpoint_id: str,
        *,
        limit: int | None = None,
        status: Literal["pending", "delivered", "dead"] | None = None,
        timeout: float | None = None,
    ) -> Iterator[m.WebhookDelivery]:
        """List the deliveries of a webhook endpoint.

        Iterates over all pages of ``list_deliveries``, one page at a time.
        """
        return self._rows(
            Call(
                "GET",
                "/v1/webhooks/{id}/deliveries",
                (endpoint_id,),
                query={"limit": limit, "status": status},
                timeout=timeout,
            ),
            "data",
            "envelope",
        )

    def redeliver_delivery(
        self,
        endpoint_id: str,
        delivery_id: str,
        *,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.RedeliverWebhookDeliveryResponse:
        """Redeliver one delivery.

        A delivery that has ended, delivered or failed, starts again with all its attempts, under
        the same ids.

        ``POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver``
        """
        answer: m.RedeliverWebhookDeliveryResponse = self._send(
            Call(
                "POST",
                "/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver",
                (endpoint_id, delivery_id,),
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer

    def redeliver_dead_letters(
        self,
        endpoint_id: str,
        *,
        since: str | NotGiven = NOT_GIVEN,
        until: str | NotGiven = NOT_GIVEN,
        status: Literal["dead", "all"] | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
        timeout: float | None = None,
    ) -> m.RedeliverDeadWebhookDeliveriesResponse:
        """Redeliver dead letters.

        All dead letters, or those of events of a range, oldest first. With `status` `all`,
        delivered ones, too.

        Args:
            since: Deliveries of events since then; all without it
            until: Deliveries of events before then
            status: `dead`: those that have failed. `all`: delivered ones, too

        ``POST /v1/webhooks/{id}/redeliver``
        """
        answer: m.RedeliverDeadWebhookDeliveriesResponse = self._send(
            Call(
                "POST",
                "/v1/webhooks/{id}/redeliver",
                (endpoint_id,),
                fields={"since": since, "until": until, "status": status},
                once=True,
                idempotency_key=idempotency_key,
                timeout=timeout,
            ),
        )
        return answer
