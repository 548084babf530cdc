import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { arbitraryOf, type Taste } from './arbitrary.ts';
import {
  bytesOf,
  type Draft,
  type FuzzRequest,
  type Headers,
  pathOf,
  type RequestClass,
} from './draft.ts';
import type { Operation, Schema } from './document.ts';
import { giveMeaning, pathValues, queryValue, type Source } from './meaning.ts';
import { mcpHeaders, mcpMessage, type McpTool } from './mcp.ts';
import type { Credential } from './state.ts';
import { wrongs } from './wrong.ts';
import type { Wrong } from './wrong-bodies.ts';

/** The credentials of requests. */
export interface Cast {
  owner: Credential;
  /** Weighted by their share of requests, without the owner. */
  others: readonly (readonly [weight: number, who: Credential])[];
  /** For the data API. */
  dataKeys: readonly (readonly [weight: number, who: Credential])[];
  /** Always uses one address, so rate limits apply; the others vary theirs. */
  crowd: Credential;
}

export interface Composer extends Source {
  cast: Cast;
  tools: readonly McpTool[];
  /** All operations, by name. */
  operations: ReadonlyMap<string, Operation>;
}

/** Maximum characters of a parameter; some take twelve bytes, and a request's head is limited to 16 kB. */
const MAX_PARAMETER = 600;

const classes: readonly (readonly [number, RequestClass])[] = [
  [55, 'valid'],
  [15, 'boundary'],
  [30, 'invalid'],
];

/** One value of the schema, chosen by the request's own random source. */
function sample(schema: Schema, operation: Operation, taste: Taste, { random }: Source): unknown {
  const seed = random.int(0, 2 ** 31 - 1);
  const [value] = fc.sample(arbitraryOf(schema, operation.document, taste), { numRuns: 1, seed });
  return value;
}

/** Creates the request of this number, with objects from `composer.state`. */
export function compose(operation: Operation, number: number, composer: Composer): FuzzRequest {
  const { random } = composer;
  const kind = random.weighted(classes);
  const taste: Taste =
    kind === 'boundary' || (kind === 'invalid' && random.chance(0.2)) ? 'edge' : 'plain';
  const credential = chooseCredential(operation, composer);
  let draft = withCredential(validDraft(operation, taste, composer, credential), credential);
  let spoiled: Wrong[] = [];
  if (kind === 'invalid') ({ draft, spoiled } = spoil(draft, composer));
  const documented =
    draft.bend === undefined
      ? composer.operations.get(`${draft.method} ${operation.path}`)
      : undefined;
  const bytes = bytesOf(draft);
  return {
    number,
    class: kind,
    surface: operation.surface,
    ...(documented === undefined ? {} : { operation: documented }),
    method: draft.method,
    path: pathOf(draft),
    headers: finish(draft, composer, credential, bytes),
    credential: credential.name,
    ...(draft.json === undefined ? {} : { json: draft.json }),
    ...(bytes === undefined ? {} : { bytes }),
    how: spoiled.map(({ name }) => name),
    unreadable: documented === operation && spoiled.some((each) => each.unreadable === true),
  };
}

function validDraft(
  operation: Operation,
  taste: Taste,
  composer: Composer,
  credential: Credential,
): Draft {
  const { random } = composer;
  const query: [string, string][] = [];
  const headers: Headers = {};
  for (const { name, in: place, required, schema } of operation.parameters) {
    if (place === 'path' || (required !== true && random.chance(0.6))) continue;
    const drawn = String(sample(schema, operation, taste, composer)).slice(0, MAX_PARAMETER);
    if (place === 'query') {
      const value = taste === 'plain' ? queryValue(name, operation, composer) : undefined;
      // A cursor that the service did not return is invalid.
      if (name === 'cursor' && value === undefined) continue;
      query.push([name, value ?? drawn]);
    } else if (place === 'header') headers[name] = drawn.replaceAll(/[^\x20-\x7e]/g, '?');
  }
  const draft: Draft = {
    operation,
    method: operation.method,
    pathValues: pathValues(operation, composer),
    query,
    headers,
  };
  if (operation.id === 'streamRun' && random.chance(0.8)) return asHandshake(draft, credential);
  const json = keepInside(bodyOf(operation, taste, composer, credential), composer.outside);
  if (json === undefined) return draft;
  const more = operation.surface === 'mcp' ? mcpHeaders(json) : {};
  return { ...draft, json, headers: { ...headers, ...more, 'content-type': 'application/json' } };
}

/** A stream accepts a session in its query, where a browser can put it. */
function asHandshake(draft: Draft, { headers }: Credential): Draft {
  const token = headers['authorization']?.replace(/^Bearer /, '') ?? '';
  return {
    ...draft,
    query: token === '' ? [] : [['token', token]],
    headers: {
      ...draft.headers,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    },
  };
}

const otherHosts = /\b(?:https?|wss?|ftp):\/\/(?!127\.0\.0\.1|localhost|\[::1\])[^/\s"'\\?#]*/gi;

/** Replaces other hosts by the fake's: the service would call them. */
const keepInside = (json: unknown, outside: string): unknown =>
  json === undefined
    ? undefined
    : (JSON.parse(JSON.stringify(json).replaceAll(otherHosts, outside)) as unknown);

function bodyOf(
  operation: Operation,
  taste: Taste,
  composer: Composer,
  credential: Credential,
): unknown {
  const { random, tools } = composer;
  if (operation.surface === 'mcp') {
    return mcpMessage({ ...composer, tools, taste, operation }, random);
  }
  const { body } = operation;
  if (body === undefined || (!body.required && random.chance(0.3))) return undefined;
  const drawn =
    body.example !== undefined && random.chance(0.25)
      ? body.example
      : sample(body.schema, operation, taste, composer);
  const json =
    taste === 'edge' && random.chance(0.5) ? drawn : giveMeaning(drawn, operation, composer);
  if (operation.id === 'changePassword' && credential.password !== undefined) {
    return { ...(json as object), current_password: credential.password };
  }
  if (operation.id === 'login' && random.chance(0.3)) return composer.cast.owner.login;
  return json;
}

function spoil(given: Draft, { random, state }: Source): { draft: Draft; spoiled: Wrong[] } {
  let draft = given;
  const spoiled: Wrong[] = [];
  const times = random.chance(0.85) ? 1 : 2;
  for (let tries = 0; tries < 20 && spoiled.length < times; tries += 1) {
    const wrong = random.weighted(wrongs.map((each) => [each.weight, each] as const));
    const changed = wrong.spoil(draft, random, state);
    if (changed === undefined) continue;
    draft = changed;
    spoiled.push(wrong);
  }
  return { draft, spoiled };
}

function chooseCredential(operation: Operation, { random, state, cast }: Composer): Credential {
  if (operation.id === 'changePassword' && random.chance(0.8)) {
    const session = state.credentials.sessions.findLast(({ password }) => password !== undefined);
    if (session !== undefined) return session;
  }
  const { others, dataKeys } = cast;
  if (operation.surface === 'data') {
    const given = state.credentials.data.slice(-8);
    return given.length > 0 && random.chance(0.1) ? random.pick(given) : random.weighted(dataKeys);
  }
  if (random.chance(0.78)) return cast.owner;
  const given = [
    ...state.credentials.operations.slice(-5),
    ...state.credentials.sessions.slice(-5),
  ];
  return given.length > 0 && random.chance(0.3) ? random.pick(given) : random.weighted(others);
}

const withCredential = (draft: Draft, { headers }: Credential): Draft => ({
  ...draft,
  headers: { ...headers, ...draft.headers },
});

/** Adds headers that depend on the body (the signature of an event) and the address for rate limits. */
function finish(
  draft: Draft,
  composer: Composer,
  credential: Credential,
  bytes: Buffer | undefined,
): Headers {
  const { random, cast } = composer;
  const n = random.int(0, 2 ** 24 - 1);
  const address =
    credential === cast.crowd ? '192.0.2.7' : `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`;
  const headers: Headers = { 'x-forwarded-for': address, ...draft.headers };
  if (draft.operation.surface !== 'hooks') return headers;
  const { 'x-api-key': _key, authorization: _token, ...open } = headers;
  if (random.chance(0.4)) return open;
  const at = String(Math.floor(Date.now() / 1_000) - (random.chance(0.1) ? 10_000 : 0));
  const secret = random.chance(0.9) ? (draft.pathValues['secret'] ?? '') : 'x';
  const signature = createHmac('sha256', secret)
    .update(`${at}.`)
    .update(bytes ?? '')
    .digest('hex');
  return { ...open, 'x-service-timestamp': at, 'x-service-signature': `sha256=${signature}` };
}
