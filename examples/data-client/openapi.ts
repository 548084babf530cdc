// Written by `npm run openapi:dump` from docs/openapi/data.json. Not to be changed by hand.

export interface paths {
    "/v1/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Read what was used this month, by the organization and by this key */
        get: operations["getUsage"];
        put?: never;
        post?: never;
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
        /** @description Every refusal has this shape */
        Error: {
            /** @description What is wrong, for a person to read */
            detail: string;
        };
        DataMeta: {
            /** @description Names the request in the logs */
            request_id: string;
            /** @constant */
            schema_version: "2026-07-01";
            /** @description What this call cost */
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
            /** @description Every call with a valid key, refused ones too */
            requests: {
                used: number;
                /** @description Null: without limit */
                limit: number | null;
            };
            credits: {
                used: number;
                /** @description Null: without limit */
                limit: number | null;
            };
            /** @description Records, events, changes and rows that were paid for */
            records: number;
            webhook_deliveries: number;
            source_checks: number;
            key: {
                id: string;
                name: string;
                requests: {
                    used: number;
                    /** @description Null: without limit */
                    limit: number | null;
                };
                credits: {
                    used: number;
                    /** @description Null: without limit */
                    limit: number | null;
                };
            };
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
                    "application/json": {
                        data: components["schemas"]["DataUsage"];
                        pagination: {
                            /** @description Null on the last page */
                            next_cursor: string | null;
                        };
                        meta: components["schemas"]["DataMeta"];
                    };
                };
            };
        };
    };
}
