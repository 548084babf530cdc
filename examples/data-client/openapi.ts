// Written by `npm run openapi:dump` from docs/openapi/data.json. Not to be changed by hand.

export interface paths {
    "/v1/feeds": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the feeds that are not archived, newest first
         * @description Costs no credits.
         */
        get: operations["listFeeds"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/feeds/{feed_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a feed with its specification
         * @description Costs no credits.
         */
        get: operations["readFeed"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List records, newest first
         * @description One credit per record. Newest is the last first observation; with `updated_since`, the last update.
         */
        get: operations["listEntities"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/entities/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a record, optionally with its history
         * @description 5 credits; with the history 20 in total.
         */
        get: operations["readEntity"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes of records, attribute by attribute, newest first
         * @description One credit per change.
         */
        get: operations["listChanges"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List intelligence events, newest first
         * @description 3 credits per event, 10 if it is `human_reviewed` or `multi_source_verified`. Events are marked as delivered by the first page that contains them, and stay listed.
         */
        get: operations["listEvents"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/events/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an event with its evidence and its match reasons
         * @description Costs no credits.
         */
        get: operations["readEvent"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/sources": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sources of records and their health, newest first
         * @description Costs no credits.
         */
        get: operations["listSources"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/exports": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Export records or events as JSON or CSV
         * @description The newest 10,000 rows at most, one credit each, all taken before the first is sent. The header `X-Export-Truncated: true` says that there were more. CSV comes as an attachment: a header row, nested values as JSON, and a `'` before anything a spreadsheet would read as a formula. A repeated request with the same `Idempotency-Key` costs no credits and gets the same export again; one of more than 1 MB has the same rows, as they are then.
         */
        post: operations["createExport"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read the use of this month, by the organization and by this key */
        get: operations["getUsage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List webhook endpoints
         * @description Newest first.
         */
        get: operations["listWebhookEndpoints"];
        put?: never;
        /**
         * Register a webhook endpoint
         * @description Returns the secret that signs deliveries, only this once. Endpoints of test keys receive events about demo records only, those of live keys about live ones. There are at most 50 of each.
         */
        post: operations["createWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Delete a webhook endpoint
         * @description Its pending deliveries are deleted too.
         */
        delete: operations["deleteWebhookEndpoint"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret of a webhook endpoint
         * @description Returns the new secret, only this once. For 24 hours deliveries are also signed with the previous one; another rotation ends that at once.
         */
        post: operations["rotateWebhookSecret"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/ping": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a ping to a webhook endpoint
         * @description An event of the type `ping`, whether the endpoint subscribes to it or not.
         */
        post: operations["pingWebhookEndpoint"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a webhook endpoint
         * @description Newest first, each with its attempts. Kept for 30 days.
         */
        get: operations["listWebhookDeliveries"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/deliveries/{delivery_id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver one delivery
         * @description A delivery that has ended, delivered or failed, starts again with all its attempts, under the same ids.
         */
        post: operations["redeliverWebhookDelivery"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/v1/webhooks/{id}/redeliver": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Redeliver dead letters
         * @description All dead letters, or those of events of a range, oldest first. With `status` `all`, delivered ones, too.
         */
        post: operations["redeliverDeadWebhookDeliveries"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        Allowance: {
            used: number;
            /** @description Null: unlimited */
            limit: number | null;
        };
        Change: {
            id: string;
            feed_id: string;
            entity_id: string;
            entity_type: string;
            attribute: string;
            old_value: unknown;
            new_value: unknown;
            /** @description Of the record, after this change */
            version: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            changed_at: string;
            source_id: string | null;
        };
        CreateExportBody: {
            /** @enum {string} */
            kind: "entities" | "events";
            /** @enum {string} */
            format: "json" | "csv";
            /** @description Default: all feeds */
            feed_id?: string;
        };
        CreateExportResponse: {
            data: components["schemas"]["ExportedRow"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        CreateWebhookEndpointBody: {
            /** @description Events are sent to it with POST */
            url: string;
            /** @description The subscribed events; a `ping` is always sent */
            events: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping")[];
        };
        CreateWebhookEndpointResponse: {
            data: components["schemas"]["NewWebhookEndpoint"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        DataMeta: {
            /** @description Identifies the request in the logs */
            request_id: string;
            /** @constant */
            schema_version: "2026-07-01";
            /** @description The cost of this call */
            credits_consumed: number;
        };
        DataUsage: {
            /** @description Calendar month, UTC */
            month: string;
            /**
             * Format: date-time
             * @description First instant of the month
             */
            period_start: string;
            /**
             * Format: date-time
             * @description Last second of the month
             */
            period_end: string;
            /** @enum {string} */
            plan: "free" | "starter" | "pro" | "enterprise";
            /** @description Every call with a valid key, including refused ones */
            requests: components["schemas"]["Allowance"];
            credits: components["schemas"]["Allowance"];
            /** @description Paid records, events, changes and rows */
            records: number;
            webhook_deliveries: number;
            source_checks: number;
            key: components["schemas"]["DataUsageKey"];
        };
        DataUsageKey: {
            id: string;
            name: string;
            requests: components["schemas"]["Allowance"];
            credits: components["schemas"]["Allowance"];
        };
        DeliveryAttempt: {
            /** @description Increases with each redelivery */
            round: number;
            attempt: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            started_at: string;
            duration_ms: number;
            /** @description Null without a response */
            status_code: number | null;
            error: string | null;
        };
        EmptyBody: Record<string, never>;
        Entity: {
            id: string;
            feed_id: string;
            entity_type: string;
            canonical_name: string;
            aliases: unknown[];
            attributes: {
                [key: string]: unknown;
            };
            external_ids: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            status: string;
            /** @enum {string} */
            verification_status: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            confidence: number;
            version: number;
            /** @description The sources of the record */
            source_evidence: components["schemas"]["SourceEvidence"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_observed_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_observed_at: string;
            last_verified_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            is_demo: boolean;
        };
        EntityDetail: {
            id: string;
            feed_id: string;
            entity_type: string;
            canonical_name: string;
            aliases: unknown[];
            attributes: {
                [key: string]: unknown;
            };
            external_ids: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            status: string;
            /** @enum {string} */
            verification_status: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            confidence: number;
            version: number;
            /** @description The sources of the record */
            source_evidence: components["schemas"]["SourceEvidence"][];
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            first_observed_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            last_observed_at: string;
            last_verified_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            is_demo: boolean;
            /** @description Newest first, at most 1,000 */
            history?: components["schemas"]["EntityVersion"][];
        };
        EntityVersion: {
            version: number;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            changed_at: string;
            attributes: {
                [key: string]: unknown;
            };
            /** @description The attributes that this version changed */
            changed: string[];
        };
        /** @description Every error has this shape */
        Error: {
            /** @description The error message */
            detail: string;
        };
        /** @description All rows of an export are of the same kind */
        ExportedRow: components["schemas"]["Entity"] | components["schemas"]["IntelligenceEvent"];
        Feed: {
            id: string;
            name: string;
            description: string;
            /** @enum {string} */
            status: "active" | "paused" | "degraded" | "archived";
            freshness: components["schemas"]["FeedFreshness"];
            entity_types: string[];
            schema: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            is_demo: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        FeedDetail: {
            id: string;
            name: string;
            description: string;
            /** @enum {string} */
            status: "active" | "paused" | "degraded" | "archived";
            freshness: components["schemas"]["FeedFreshness"];
            entity_types: string[];
            schema: {
                [key: string]: unknown;
            };
            geography: {
                [key: string]: unknown;
            };
            is_demo: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
            specification: {
                [key: string]: unknown;
            };
        };
        FeedFreshness: {
            /** @description When a record or an event last came or changed */
            last_event_at: string | null;
            /** @description When records were last sent, even without changes */
            last_checked_at: string | null;
            /** @description Since `last_event_at` */
            lag_seconds: number | null;
        };
        GetUsageResponse: {
            data: components["schemas"]["DataUsage"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        IntelligenceEvent: {
            id: string;
            feed_id: string;
            event_type: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            occurred_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            detected_at: string;
            primary_entity_id: string;
            summary: string;
            relevance_score: number | null;
            opportunity_score: number | null;
            confidence: number;
            /** @enum {string} */
            verification_status: "unverified" | "machine_verified" | "human_reviewed" | "multi_source_verified";
            match_reason: string | null;
            /** @description The sources of the record */
            source_evidence: components["schemas"]["SourceEvidence"][];
            /** @description When a page of the list first contained it */
            delivered_at: string | null;
            is_demo: boolean;
        };
        ListChangesResponse: {
            data: components["schemas"]["Change"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ListEntitiesResponse: {
            data: components["schemas"]["Entity"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ListEventsResponse: {
            data: components["schemas"]["IntelligenceEvent"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ListFeedsResponse: {
            data: components["schemas"]["Feed"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ListSourcesResponse: {
            data: components["schemas"]["Source"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ListWebhookDeliveriesResponse: {
            data: components["schemas"]["WebhookDelivery"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ListWebhookEndpointsResponse: {
            data: components["schemas"]["WebhookEndpoint"][];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        NewWebhookEndpoint: {
            id: string;
            url: string;
            events: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested")[];
            /**
             * @description `failing` after 5 failed attempts in a row, until one succeeds
             * @enum {string}
             */
            status: "active" | "failing";
            /** @description Failed attempts since the last success */
            consecutive_failures: number;
            /** @description When the last attempt succeeded */
            last_delivery_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /** @description The key of the signatures. Shown only this once */
            secret: string;
        };
        Pagination: {
            /** @description Null on the last page */
            next_cursor: string | null;
        };
        PingWebhookEndpointResponse: {
            data: components["schemas"]["WebhookDelivery"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ReadEntityResponse: {
            data: components["schemas"]["EntityDetail"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ReadEventResponse: {
            data: components["schemas"]["IntelligenceEvent"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        ReadFeedResponse: {
            data: components["schemas"]["FeedDetail"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        RedeliverDeadWebhookDeliveriesBody: {
            /**
             * Format: date-time
             * @description Deliveries of events since then; all without it
             */
            since?: string;
            /**
             * Format: date-time
             * @description Deliveries of events before then
             */
            until?: string;
            /**
             * @description `dead`: those that have failed. `all`: delivered ones, too
             * @default dead
             * @enum {string}
             */
            status?: "dead" | "all";
        };
        RedeliverDeadWebhookDeliveriesResponse: {
            data: components["schemas"]["Redelivered"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        RedeliverWebhookDeliveryResponse: {
            data: components["schemas"]["WebhookDelivery"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        Redelivered: {
            redelivered: number;
            /** @description Deliveries beyond the limit of pending ones; call again later */
            left: number;
        };
        RotateWebhookSecretResponse: {
            data: components["schemas"]["RotatedSecret"];
            pagination: components["schemas"]["Pagination"];
            meta: components["schemas"]["DataMeta"];
        };
        RotatedSecret: {
            /** @description The key of the signatures. Shown only this once */
            secret: string;
            /**
             * Format: date-time
             * @description Until then every delivery is also signed with the previous secret
             */
            previous_secret_until: string;
        };
        Source: {
            id: string;
            name: string;
            type: string;
            jurisdiction: string | null;
            cadence: string | null;
            permission_status: string | null;
            license_status: string | null;
            reliability_score: number | null;
            health: components["schemas"]["SourceHealth"];
            is_demo: boolean;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            updated_at: string;
        };
        SourceEvidence: {
            source_id?: string | null;
            source_name?: string | null;
            url?: string | null;
            retrieved_at?: string | null;
            /** @default false */
            synthetic?: boolean;
        };
        SourceHealth: {
            /** @enum {string} */
            status: "unknown" | "healthy" | "failed";
            last_success_at: string | null;
            consecutive_failures: number;
        };
        WebhookDelivery: {
            /** @description As in the header `X-Service-Delivery` */
            id: string;
            event_id: string;
            /** @enum {string} */
            type: "entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested";
            /**
             * @description `dead`: failed permanently
             * @enum {string}
             */
            status: "pending" | "delivered" | "dead";
            /** @description Why it failed without an attempt */
            reason: string | null;
            /** @description In the current cycle */
            attempts: number;
            /** @description For a pending delivery */
            next_attempt_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
            ended_at: string | null;
            /** @description Every attempt, oldest first */
            log: components["schemas"]["DeliveryAttempt"][];
        };
        WebhookEndpoint: {
            id: string;
            url: string;
            events: ("entity.created" | "entity.updated" | "intelligence_event.created" | "intelligence_event.verified" | "feed.status_changed" | "source.failed" | "source.recovered" | "usage.threshold_reached" | "export.completed" | "ping" | "run.completed" | "run.failed" | "run.paused" | "approval.requested")[];
            /**
             * @description `failing` after 5 failed attempts in a row, until one succeeds
             * @enum {string}
             */
            status: "active" | "failing";
            /** @description Failed attempts since the last success */
            consecutive_failures: number;
            /** @description When the last attempt succeeded */
            last_delivery_at: string | null;
            /**
             * Format: date-time
             * @description ISO 8601, UTC
             */
            created_at: string;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    listFeeds: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListFeedsResponse"];
                };
            };
        };
    };
    readFeed: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                feed_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadFeedResponse"];
                };
            };
        };
    };
    listEntities: {
        parameters: {
            query?: {
                feed_id?: string;
                entity_type?: string;
                /** @description The city, region or country, in any letter case */
                geography?: string;
                /** @description At least this confidence, from 0 to 1 */
                confidence_min?: string;
                /** @description Updated at or after. The list is then sorted by the last update */
                updated_since?: string;
                /** @description First observed at or after */
                created_since?: string;
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEntitiesResponse"];
                };
            };
        };
    };
    readEntity: {
        parameters: {
            query?: {
                /** @description `history`: include the newest versions, for 20 credits in total */
                include?: "history";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadEntityResponse"];
                };
            };
        };
    };
    listChanges: {
        parameters: {
            query?: {
                feed_id?: string;
                /** @description Recorded at or after */
                updated_since?: string;
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListChangesResponse"];
                };
            };
        };
    };
    listEvents: {
        parameters: {
            query?: {
                feed_id?: string;
                event_type?: string;
                /** @description At least this confidence, from 0 to 1 */
                confidence_min?: string;
                /** @description Detected at or after */
                created_since?: string;
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListEventsResponse"];
                };
            };
        };
    };
    readEvent: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadEventResponse"];
                };
            };
        };
    };
    listSources: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListSourcesResponse"];
                };
            };
        };
    };
    createExport: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. 409 with `Retry-After` while the first one is in progress */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateExportBody"];
            };
        };
        responses: {
            /** @description The rows, in the `format` of the request */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateExportResponse"];
                    "text/csv": string;
                };
            };
        };
    };
    getUsage: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["GetUsageResponse"];
                };
            };
        };
    };
    listWebhookEndpoints: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWebhookEndpointsResponse"];
                };
            };
        };
    };
    createWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. 409 with `Retry-After` while the first one is in progress */
                "idempotency-key"?: string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                "application/json": components["schemas"]["CreateWebhookEndpointBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["CreateWebhookEndpointResponse"];
                };
            };
        };
    };
    deleteWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
        };
    };
    rotateWebhookSecret: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. 409 with `Retry-After` while the first one is in progress */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RotateWebhookSecretResponse"];
                };
            };
        };
    };
    pingWebhookEndpoint: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. 409 with `Retry-After` while the first one is in progress */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description Created */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["PingWebhookEndpointResponse"];
                };
            };
        };
    };
    listWebhookDeliveries: {
        parameters: {
            query?: {
                /** @description Rows per page */
                limit?: number;
                /** @description `pagination.next_cursor` of the previous page */
                cursor?: string;
                status?: "pending" | "delivered" | "dead";
            };
            header?: never;
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListWebhookDeliveriesResponse"];
                };
            };
        };
    };
    redeliverWebhookDelivery: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. 409 with `Retry-After` while the first one is in progress */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["EmptyBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedeliverWebhookDeliveryResponse"];
                };
            };
        };
    };
    redeliverDeadWebhookDeliveries: {
        parameters: {
            query?: never;
            header?: {
                /** @description A repeated request with the same key and body does nothing more, and gets the first answer again for 24 hours. 409 with `Retry-After` while the first one is in progress */
                "idempotency-key"?: string;
            };
            path: {
                id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": components["schemas"]["RedeliverDeadWebhookDeliveriesBody"];
            };
        };
        responses: {
            /** @description OK */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["RedeliverDeadWebhookDeliveriesResponse"];
                };
            };
        };
    };
}
