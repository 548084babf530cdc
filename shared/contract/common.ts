import { z } from 'zod';
import type { Json, JsonObject } from '../json.ts';

/**
 * Pieces that several nouns of the API share. Responses are declared in full: what a schema does not name is not
 * sent. Requests are strict: what a schema does not name is refused by name.
 */

// Payloads come from JSON text and go back to it, so walking them would only cost time.
export const jsonValue = z.unknown() as unknown as z.ZodType<Json>;
// A custom type, not a record: one check instead of a copy, key by key, of every input and output.
export const jsonObject = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    {
      error: 'must be a JSON object',
    },
  )
  .meta({ type: 'object', additionalProperties: true });

/** ISO 8601 UTC with `Z`, as the database layer renders it. */
export const timestamp = z.string().meta({
  format: 'date-time',
  description: 'ISO 8601, UTC',
  examples: ['2026-11-21T09:30:00.000Z'],
});

/** Dollars with at most six decimals. */
export const dollars = z
  .number()
  .meta({ description: 'US dollars, at most six decimals', examples: [0.0125] });

/** Postgres knows no year 0. A day in hand, for an offset. */
const EARLIEST = Date.parse('0001-01-02T00:00:00Z');

/** A point in time given by a caller: any offset is taken. */
export const timeInput = z.iso
  .datetime({
    offset: true,
    error: 'must be an ISO 8601 date and time with a time zone',
    abort: true,
  })
  .refine((time) => Date.parse(time) >= EARLIEST, { error: 'is too long ago', abort: true })
  .meta({ examples: ['2026-11-01T00:00:00Z'] });

/** An amount given by a caller. The bound keeps micro-dollars inside the integers a double can hold. */
export const dollarsInput = z.number().positive().max(1_000_000_000);

export const errorBody = z
  .object({ detail: z.string().meta({ description: 'What is wrong, for a person to read' }) })
  .meta({
    id: 'Error',
    description: 'Every refusal has this shape',
    examples: [{ detail: 'Workflow not found' }],
  });

export const MAX_PAGE = 200;

/** Query of a list that answers `{<noun>s, next_cursor}`. */
export const pageQuery = z.strictObject({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MAX_PAGE)
    .default(50)
    .meta({ description: 'Rows per page' }),
  cursor: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: '`next_cursor` of the page before' }),
});

export const nextCursor = z.string().nullable().meta({ description: 'Null on the last page' });

/** The body of an action that takes none: absent, null and `{}` are the same. */
export const emptyBody = z.strictObject({}).nullish();
