import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { AppError } from '#shared/errors.ts';
import { JsonLimitError, parseOutsideJson } from '#shared/outside-json.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { formFields } from './form.ts';
import { refuseUnsafe } from '#shared/values/unsafe-json.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });
const unzip = promisify(gunzip);

/** The maximum size of an unzipped body in bytes, the same as for a body that is not compressed. */
const MAX_UNZIPPED_BYTES = 1_048_576;

/** How a body was sent, and what its webhook accepts. */
export interface Sending {
  /** The content type, if known. */
  type: string | undefined;
  acceptForms: boolean;
}

/**
 * The input of a run. White space alone is neither empty nor JSON; a byte order mark is ignored. A body that is
 * compressed with gzip is unzipped, off the main thread. Senders cannot send it differently, so a number that no double
 * can represent becomes the text of its digits, and a lone surrogate becomes U+FFFD. Throws AppError `invalid`,
 * `too_large`.
 */
export async function inputOf(sent: Buffer, { type, acceptForms }: Sending): Promise<JsonObject> {
  const body = await unzipped(sent);
  if (body.length === 0) return {};
  const fields = acceptForms ? formFields(body, type) : undefined;
  const value = fields ?? jsonOf(body);
  refuseUnsafe('body', value);
  return isObject(value) ? value : { payload: value };
}

/** Any JSON. Otherwise like `inputOf`, except that an empty body is not JSON. Throws AppError `invalid`, `too_large`. */
export async function jsonBody(sent: Buffer): Promise<Json> {
  const value = jsonOf(await unzipped(sent), 'Body must be JSON');
  refuseUnsafe('body', value);
  return value;
}

function jsonOf(body: Buffer, refusal?: string): Json {
  try {
    const text = utf8.decode(body);
    const value = parseOutsideJson(text);
    return SURROGATE.test(text) ? wellFormed(value) : value;
  } catch (error) {
    if (error instanceof JsonLimitError) {
      throw new AppError('invalid', `Invalid body: ${error.message}`);
    }
    throw notJson(refusal);
  }
}

/** Only an escape can be a lone surrogate: its bytes would be invalid UTF-8. */
const SURROGATE = /\\u[dD][89a-fA-F]/;

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key.toWellFormed(), wellFormed(item)]),
  );
}

/** Its first bytes show whether it is zipped, even if a header says otherwise: no JSON begins with them. */
async function unzipped(body: Buffer): Promise<Buffer> {
  if (body[0] !== 0x1f || body[1] !== 0x8b) return body;
  try {
    return await unzip(body, { maxOutputLength: MAX_UNZIPPED_BYTES });
  } catch (error) {
    if (error instanceof RangeError) {
      throw new AppError('too_large', `The body is larger than ${MAX_UNZIPPED_BYTES} bytes`);
    }
    throw notJson();
  }
}

const notJson = (detail = 'Body must be JSON (or empty)'): AppError =>
  new AppError('invalid', detail);

const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The longest id that is stored unchanged. */
const MAX_EVENT_ID_LENGTH = 255;

/** Where an event's id is found, by the settings of its webhook. */
export interface IdSettings {
  event_id_field: string;
  event_id_header: string | null;
}

/**
 * The id of the event. If the webhook is set to a header, only that header counts. Otherwise it is the header of the
 * service, then the input field that the webhook is set to, then `id`. At most 255 characters; a longer id is hashed.
 */
export function eventIdOf(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  input: JsonObject,
  { event_id_field: field, event_id_header: own }: IdSettings,
): string | undefined {
  if (own !== null) return eventIdOfHeader(headers[own.toLowerCase()]);
  const header = eventIdOfHeader(headers['x-service-event-id']);
  if (header !== undefined) return header;
  const named = [field, 'id'].map((key) => nameOf(ownValue(input, key)));
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

// A fraction is not an event id.
function nameOf(value: Json | undefined): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : undefined;
}
