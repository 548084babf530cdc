import { createHash } from 'node:crypto';
import { AppError } from '../../errors.ts';
import { JsonLimitError, parseOutsideJson } from '../../outside-json.ts';
import type { Json, JsonObject } from '../../json.ts';
import { refuseUnsafe } from '../../values/unsafe-json.ts';

// A byte order mark is kept and is invalid JSON: a sender that adds one gets an error early.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The input of a run; white space alone is neither empty nor JSON. A number that no double holds becomes the text of its
 * digits: senders cannot send it otherwise. Throws AppError `invalid`.
 */
export function inputOf(body: Buffer): JsonObject {
  if (body.length === 0) return {};
  let value: Json;
  try {
    value = parseOutsideJson(utf8.decode(body));
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new AppError('invalid', `Invalid body: ${error.message}`);
    }
    throw new AppError('invalid', 'Body must be JSON (or empty)');
  }
  refuseUnsafe('body', value);
  return isObject(value) ? value : { payload: value };
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The longest id that is stored unchanged. */
const MAX_EVENT_ID_LENGTH = 255;

/**
 * The id of the event: the header, else the input field that the webhook is set to, else `id`. At most 255 characters;
 * a longer id is hashed.
 */
export function eventIdOf(
  header: string | undefined,
  input: JsonObject,
  field: string,
): string | undefined {
  const named = [header, ...[field, 'id'].map((key) => nameOf(ownValue(input, key)))];
  return kept(named.find((each) => each !== undefined && each !== ''));
}

/** The event id from a header, which the body cannot override. */
export const eventIdOfHeader = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' && header !== '' ? kept(header) : undefined;

function kept(id: string | undefined): string | undefined {
  if (id === undefined || id.length <= MAX_EVENT_ID_LENGTH) return id;
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}

const ownValue = (input: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(input, key) ? input[key] : undefined;

// A fraction is no event id.
function nameOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}
