import { z } from 'zod';
import type { Json, JsonObject } from '#shared/json.ts';
import { MICROS_PER_DOLLAR, toDollars } from '#shared/money/money.ts';
import { parseTime } from '#shared/time.ts';

/**
 * Types that several API resources share. Responses are declared in full: fields that are not in a schema are not sent.
 * Requests are strict: an unknown field is refused by name.
 */

// Payloads come from JSON text and return to it, so parsing them would only cost time.
export const jsonValue = z.unknown() as unknown as z.ZodType<Json>;
// A custom type instead of a record: one check instead of a copy, key by key, of every input and output.
export const jsonObject = z
  .custom<JsonObject>(
    (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
    {
      error: 'must be a JSON object',
    },
  )
  .meta({ type: 'object', additionalProperties: true });

/** ISO 8601 UTC with `Z`, as the database layer formats it. */
export const timestamp = z.string().meta({
  format: 'date-time',
  description: 'ISO 8601, UTC',
  examples: ['2026-11-21T09:30:00.000Z'],
});

/** Dollars with at most six decimals. */
export const dollars = z
  .number()
  .meta({ description: 'US dollars, at most six decimals', examples: [0.0125] });

const timeProblems = {
  syntax:
    'must be an ISO 8601 date (2026-11-01, midnight UTC) or date-time with a time zone (2026-11-01T09:30:00Z)',
  range: 'must be in the years 0001 to 9999 (UTC)',
};

/** A point in time from a caller, as ISO 8601 with any offset or as a date; converted to the format of `timestamp`. */
// A check that replaces the text, not a transform, because JSON Schema cannot give a transform examples or defaults.
export const timeInput = z
  .string()
  .check((given) => {
    const read = parseTime(given.value);
    if ('time' in read) given.value = read.time;
    else {
      const message = timeProblems[read.problem];
      given.issues.push({ code: 'custom', message, input: given.value, continue: false });
    }
  })
  .meta({
    format: 'date-time',
    description: 'ISO 8601 with a time zone; a date alone is its midnight in UTC',
    examples: ['2026-11-01T00:00:00Z'],
  });

const wholeMicros = (amount: number): boolean =>
  toDollars(Math.round(amount * MICROS_PER_DOLLAR)) === amount;
const NOT_WHOLE = 'must have at most six decimals';

/**
 * An amount from a caller: at least one micro-dollar, and a whole number of them, so that nothing is rounded. The upper
 * bound keeps micro-dollars within safe integers.
 */
export const dollarsInput = z
  .number()
  .min(0.000001, 'must be at least 0.000001 (one micro-dollar)')
  .max(1_000_000_000)
  .refine(wholeMicros, NOT_WHOLE);

/** Like `dollarsInput`, for prices and thresholds, which can be 0. */
export const dollarsOrZero = (max: number) =>
  z.number().min(0).max(max).refine(wholeMicros, NOT_WHOLE);

/** Like `dollarsOrZero`, in a query: digits with at most six decimals, as a number. */
export const dollarsText = z
  .string()
  .transform((text, context) => {
    const amount = /^\d{1,9}(\.\d{1,6})?$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isNaN(amount)) return amount;
    context.addIssue({
      code: 'custom',
      message: 'must be an amount in US dollars from 0, with at most six decimals',
    });
    return z.NEVER;
  })
  .meta({ type: 'number', minimum: 0, maximum: 999_999_999.999999 });

export const errorBody = z
  .object({ detail: z.string().meta({ description: 'The error message' }) })
  .meta({
    id: 'Error',
    description: 'Every error has this shape',
    examples: [{ detail: 'Workflow not found' }],
  });

export const MAX_PAGE = 200;

/**
 * A whole number in a query or path. Only digits are accepted: a coercion would read the empty text as 0. Bounds are
 * inclusive. Set a default as text, with `prefault`.
 */
export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .transform((text, context) => {
      const number = /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
      if (number >= min && number <= max) return number;
      context.addIssue({
        code: 'custom',
        message: `must be a whole number from ${min} to ${max}`,
      });
      return z.NEVER;
    })
    .meta({ type: 'integer', minimum: min, maximum: max });

/** The query of every list that returns a bare array. Without `limit`, it returns the maximum. */
export const offsetQuery = z.strictObject({
  limit: wholeNumber(1, MAX_PAGE)
    .prefault(String(MAX_PAGE))
    .meta({ description: 'Maximum number of rows' }),
  offset: wholeNumber(0, 1_000_000).prefault('0').meta({ description: 'Rows to skip' }),
});
export type OffsetPage = z.infer<typeof offsetQuery>;

/** The query of a list that returns `{<noun>s, next_cursor}`. */
export const pageQuery = z.strictObject({
  limit: wholeNumber(1, MAX_PAGE).prefault('50').meta({ description: 'Rows per page' }),
  cursor: z
    .string()
    .min(1)
    .max(500)
    .optional()
    .meta({ description: '`next_cursor` of the previous page' }),
});

export const nextCursor = z.string().nullable().meta({ description: 'Null on the last page' });

/** The body of an action that takes no input: absent, null and `{}` are equivalent. */
export const emptyBody = z.strictObject({}).meta({ id: 'EmptyBody' }).nullish();

/** A check of objects: in each pair of fields, the first must not be greater than the second. */
export const refuseEmpty =
  <Name extends string>(pairs: readonly (readonly [Name, Name])[]) =>
  ({
    value,
    issues,
  }: z.core.ParsePayload<{ [Each in Name]?: string | number | undefined }>): void => {
    for (const [from, to] of pairs) {
      const [first, last] = [value[from], value[to]];
      if (first === undefined || last === undefined || first <= last) continue;
      const message = `must not be less than ${from}`;
      issues.push({ code: 'custom', message, path: [to], input: value });
    }
  };

/** Refuses a period that ends before it begins. */
export const refuseEmptyPeriod = refuseEmpty([['since', 'until']]);
