import type { JsonObject } from '#shared/json.ts';
import type { BuiltinTool } from '#shared/tools.ts';

/** What a model needs to know about a tool. */
export interface ToolDefinition {
  description: string;
  /** JSON Schema of the arguments; its type is `object`. */
  schema: JsonObject;
}

/** Built-in tools that an agent cannot offer, each with the reason. */
export const notForAgents = {
  delay: 'it is a timer of the run; use a tool node',
  mcp: 'register the tools of a server with POST /api/tools/import, and offer these',
} as const satisfies Partial<Record<BuiltinTool, string>>;

type OfferedBuiltin = Exclude<BuiltinTool, keyof typeof notForAgents>;

/**
 * Providers reject `anyOf`, `oneOf` and `allOf` at the top of a schema, so the descriptions say which arguments go
 * together.
 */
const argumentsOf = (properties: JsonObject, required: string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const text = (description: string, limits: JsonObject = {}): JsonObject => ({
  type: 'string',
  description,
  ...limits,
});

const word = (description: string, maxLength: number): JsonObject =>
  text(description, { minLength: 1, maxLength });

const address: JsonObject = { type: 'string', minLength: 3, maxLength: 320, pattern: '@' };
const addresses = (description: string): JsonObject => ({
  description: `${description}: an email address, or a list of them`,
  anyOf: [address, { type: 'array', items: address, minItems: 1, maxItems: 50 }],
});

const scalars = ['string', 'number', 'boolean'];
const nullableScalars = [...scalars, 'null'];

const optionalText = (maxLength: number, description?: string): JsonObject => ({
  type: ['string', 'null'],
  maxLength,
  ...(description !== undefined && { description }),
});

const time = (description: string): JsonObject =>
  text(`${description}: ISO 8601 with a time zone, such as 2026-11-01T09:30:00Z`);

/** Names of types in feeds. */
const typeName = (description: string): JsonObject =>
  text(`${description}: a-z, 0-9 and _, beginning with a letter`, {
    pattern: '^[a-z][a-z0-9_]{0,63}$',
  });

const rows = (what: string): JsonObject => ({
  type: 'integer',
  minimum: 1,
  maximum: 100,
  description: `${what} to return at most; by default 25`,
});

const externalKey = word('Identifies the record in its feed; from its origin', 500);
const feedId = word('The feed to write to', 200);

const assessment: JsonObject = {
  verification_status: {
    enum: ['unverified', 'machine_verified', 'human_reviewed', 'multi_source_verified'],
  },
  confidence: { type: 'number', minimum: 0, maximum: 1 },
  source_evidence: {
    type: 'array',
    maxItems: 50,
    description: 'Where it was found',
    items: {
      type: 'object',
      properties: {
        source_id: optionalText(200),
        source_name: optionalText(500),
        url: optionalText(2_000),
        retrieved_at: { type: ['string', 'null'] },
        synthetic: { type: 'boolean' },
      },
      additionalProperties: false,
    },
  },
};

const score: JsonObject = { type: ['number', 'null'], minimum: -1e9, maximum: 1e9 };

/**
 * The built-in tools as models see them. The tools validate their arguments themselves, with the schemas of
 * `activities/tools`; a test compares the two. These are plain data, since workflow code cannot load zod.
 */
export const builtinDefinitions: Readonly<Record<OfferedBuiltin, ToolDefinition>> = {
  http_request: {
    description:
      'Sends an HTTP request and returns {status, headers, body}. Any status other than 200 to 299 is an error.',
    schema: argumentsOf(
      {
        url: word('The full URL, beginning with https:// or http://', 10_000),
        method: { enum: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] },
        headers: { type: 'object', additionalProperties: { type: scalars } },
        query: {
          type: 'object',
          description: 'Parameters that are appended to the URL; a list repeats its name',
          additionalProperties: {
            anyOf: [{ type: nullableScalars }, { type: 'array', items: { type: nullableScalars } }],
          },
        },
        body: { description: 'Text is sent unchanged, any other value as JSON' },
      },
      ['url'],
    ),
  },
  send_email: {
    description: 'Sends an email, and returns its id. Give text, html or both.',
    schema: argumentsOf(
      {
        to: addresses('Recipients'),
        subject: text('A single line', { minLength: 1, maxLength: 998 }),
        text: text('The message as plain text'),
        html: text('The message as HTML'),
        cc: addresses('Further recipients'),
        bcc: addresses('Recipients that the others do not see'),
        reply_to: addresses('Where answers go'),
      },
      ['to', 'subject'],
    ),
  },
  send_chat_message: {
    description: 'Posts a message to a chat channel.',
    schema: argumentsOf(
      {
        text: text('The message', { minLength: 1 }),
        webhook_url: text('The incoming webhook of another channel than the usual one', {
          minLength: 1,
        }),
      },
      ['text'],
    ),
  },
  json_transform: {
    description:
      'Computes the value of an expression over literal values, such as `round(12.5 * 3, 1)`, `len([1, 2])` or ' +
      "`upper('a') in ['A', 'B']`.",
    schema: argumentsOf({ expression: word('The expression', 2_000) }, ['expression']),
  },
  entity_upsert: {
    description:
      'Writes a record to a feed: creates it, or replaces the one with the same external_key. Give the whole record, ' +
      'since omitted fields get their defaults.',
    schema: argumentsOf(
      {
        feed_id: feedId,
        external_key: externalKey,
        entity_type: typeName('The type of the record'),
        canonical_name: word('The name to show', 500),
        attributes: { type: 'object', maxProperties: 500, description: 'Its facts' },
        aliases: {
          type: 'array',
          maxItems: 100,
          items: { type: 'string', minLength: 1, maxLength: 500 },
          description: 'Its other names',
        },
        external_ids: {
          type: 'object',
          maxProperties: 100,
          description: 'Its ids in other systems',
          additionalProperties: { type: ['string', 'number', 'null'], maxLength: 500 },
        },
        geography: {
          type: 'object',
          properties: {
            city: optionalText(200),
            region: optionalText(200),
            country: optionalText(200),
            postal_code: optionalText(200),
          },
          additionalProperties: false,
        },
        status: word('Default: active', 100),
        ...assessment,
        observed_at: time('When it was observed'),
      },
      ['feed_id', 'external_key', 'entity_type', 'canonical_name', 'attributes'],
    ),
  },
  event_emit: {
    description: 'Writes an event of a record to a feed.',
    schema: argumentsOf(
      {
        feed_id: feedId,
        external_key: word('Identifies the event in its feed', 500),
        event_type: typeName('The type of the event'),
        primary_external_key: word('The external_key of the record that it happened to', 500),
        occurred_at: time('When it happened'),
        summary: word('What happened', 5_000),
        relevance_score: score,
        opportunity_score: score,
        match_reason: optionalText(2_000, 'Why it matters'),
        ...assessment,
      },
      [
        ...['feed_id', 'external_key', 'event_type'],
        ...['primary_external_key', 'occurred_at', 'summary'],
      ],
    ),
  },
  entity_search: {
    description:
      "Finds records in the workspace's own feeds, newest first, and returns {data, has_more}. All filters given must " +
      'match. With has_more there are more than the limit: give further filters.',
    schema: argumentsOf(
      {
        feed_id: word('Only records of this feed', 100),
        external_key: word('The key of a record in its feed, exactly', 500),
        entity_type: word('The type of the records, such as order', 100),
        geography: word('The city, region or country, in any letter case', 200),
        confidence_min: { type: 'number', minimum: 0, maximum: 1 },
        updated_since: time('Updated at or after; sorts by the last update'),
        created_since: time('First observed at or after'),
        limit: rows('Records'),
      },
      [],
    ),
  },
  feed_list: {
    description:
      "Lists the workspace's own feeds of records with their status and freshness, newest first, and returns " +
      '{data, has_more}.',
    schema: argumentsOf({ name: word('The exact name of a feed', 200), limit: rows('Feeds') }, []),
  },
  source_report: {
    description:
      'Reports whether a source could be read. Name the source by source_id or by name, not both.',
    schema: argumentsOf(
      {
        source_id: word('The id of the source', 200),
        name: word('The exact name of the source', 200),
        ok: { type: 'boolean' },
        error: optionalText(2_000, 'Why it could not be read'),
        checked_at: time('When it was read'),
      },
      ['ok'],
    ),
  },
  send_event: {
    description:
      'Sends an event, which ends the waits of other runs for it and starts the runs of its triggers. Returns its id.',
    schema: argumentsOf(
      {
        name: word('The name of the event, such as invoice.paid', 100),
        data: { description: 'What those who wait for it read; by default {}' },
        id: word('Your own id of the event: the same id is sent once', 200),
      },
      ['name'],
    ),
  },
};
