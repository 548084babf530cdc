import type { Json } from '#shared/json.ts';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?$/;
const ZONE = /(Z|[+-]\d{2}:\d{2})$/;

/**
 * An ISO time in ms since 1970; without a zone it is UTC, and a date alone is its midnight. Throws Error for anything
 * else.
 */
export function timeOf(given: Json): number {
  const text = typeof given === 'string' ? given.trim() : '';
  const isTime = DATE.test(text) || TIME.test(text);
  const ms = isTime ? Date.parse(DATE.test(text) || ZONE.test(text) ? text : `${text}Z`) : NaN;
  if (!Number.isNaN(ms)) return ms;
  const shown = JSON.stringify(given).slice(0, 100);
  throw new Error(`until must be an ISO time such as 2027-01-31T09:00:00Z, not ${shown}`);
}
