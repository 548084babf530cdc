import { createHash } from 'node:crypto';
import { AppError } from '../../shared/errors.ts';
import { parseExactJson } from '../../shared/exact-json.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { refuseUnsafe } from '../http/input-guard.ts';

// A byte order mark is kept, and is no JSON: a sender that adds one is told so before somebody relies on it.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The input of a run; nothing but white space is not nothing, and no JSON. Throws AppError `invalid`. */
export function inputOf(body: Buffer): JsonObject {
  if (body.length === 0) return {};
  let value: Json;
  try {
    value = parseExactJson('body', utf8.decode(body)) as Json;
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError('invalid', 'Body must be JSON (or empty)');
  }
  refuseUnsafe('body', value);
  return isObject(value) ? value : { payload: value };
}

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What an id may have at most to be kept as it is. */
const MAX_EVENT_ID_LENGTH = 255;

/**
 * What names the event: the header, else the field of the input that the webhook is set to, else `id`. At most 255
 * characters; of a longer name it is a hash.
 */
export function eventIdOf(
  header: string | undefined,
  input: JsonObject,
  field: string,
): string | undefined {
  const named = [header, ...[field, 'id'].map((key) => nameOf(ownValue(input, key)))];
  return kept(named.find((each) => each !== undefined && each !== ''));
}

/** The event that a header names, which nothing in the body can overrule. */
export const eventIdOfHeader = (header: string | string[] | undefined): string | undefined =>
  typeof header === 'string' && header !== '' ? kept(header) : undefined;

function kept(id: string | undefined): string | undefined {
  if (id === undefined || id.length <= MAX_EVENT_ID_LENGTH) return id;
  return `sha256:${createHash('sha256').update(id).digest('hex')}`;
}

const ownValue = (input: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(input, key) ? input[key] : undefined;

// A fraction names nothing.
function nameOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}
