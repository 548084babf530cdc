import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServerResponse } from 'node:http';
import { type Seen, startHttpServer } from '#test/fakes/http-server.ts';
import { createChecker } from '#test/fuzz/checker.ts';
import {
  type OpenApiDocument,
  type Operation,
  operationsOf,
  resolve,
  type Schema,
} from '#test/fuzz/document.ts';
import type { FuzzRequest } from '#test/fuzz/draft.ts';

const file = join(import.meta.dirname, '../../docs/openapi/ops.json');
const document = JSON.parse(readFileSync(file, 'utf8')) as OpenApiDocument;
const operations = operationsOf(document);

/** A request that is expected, and its answer: `parts` of the body, the rest is the smallest that its schema allows. */
export interface Recorded {
  /** `GET /api/runs/run_1`, with a query and a tag. */
  line: string;
  status?: number;
  parts?: unknown;
}

const READ = 'GET /api/workflows/{id}';

/**
 * A service that answers as its OpenAPI document says. `problems` has each request and answer that the document does not
 * allow, so that neither can differ from those of the real service.
 */
export async function startRecordedService() {
  const checker = createChecker({ ops: document });
  const requests: { operation: Operation; line: string; body: unknown; seen: Seen }[] = [];
  const problems: unknown[] = [];
  let expected: Recorded[] = [];
  const latest = new Map<Operation, Recorded>();

  /** The answer to a request; without one of its own, the one before. */
  const answerOf = (operation: Operation): Recorded | undefined => {
    const next = expected[requests.length - 1];
    if (next?.parts !== undefined || next?.status !== undefined) latest.set(operation, next);
    return latest.get(operation);
  };
  const answer = (seen: Seen, response: ServerResponse): void => {
    const { pathname, searchParams } = new URL(seen.url, 'http://recorded');
    const operation = operationAt(seen.method, pathname);
    if (operation === undefined) {
      problems.push(`${seen.method} ${seen.url} is not documented`);
      return void response.writeHead(404).end();
    }
    // Runs are read again at intervals without their stream.
    if (operation.responses['101'] !== undefined) return void response.writeHead(401).end();
    const body: unknown = seen.body === '' ? undefined : JSON.parse(seen.body);
    const line = lineOf(seen);
    const isLeftOut = operation.name === READ && expected[requests.length]?.line !== line;
    if (!isLeftOut) requests.push({ operation, line, body, seen });
    problems.push(...queryProblems(operation, searchParams));
    const given = isLeftOut ? {} : answerOf(operation);
    const sent = answerTo(operation, { pathname, format: searchParams.get('format'), ...given });
    const request = { operation, method: seen.method, path: seen.url, json: body, how: [] };
    problems.push(...checker.check(request as unknown as FuzzRequest, { ...sent, ms: 0 }));
    response.writeHead(sent.status, sent.headers).end(sent.body);
  };

  const server = await startHttpServer(answer);
  return {
    ...server,
    requests,
    problems,
    begin: (recorded: Recorded[]): void => {
      expected = recorded;
      latest.clear();
      requests.length = 0;
      problems.length = 0;
    },
  };
}

/** The documented operation of a request; the one with the fewest parameters if there are several. */
export function operationAt(method: string, pathname: string): Operation | undefined {
  const fits = (path: string): boolean =>
    new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname);
  const variables = ({ path }: Operation): number => path.split('{').length;
  return operations
    .filter((each) => each.method === method && fits(each.path))
    .sort((a, b) => variables(a) - variables(b))[0];
}

function lineOf({ method, url, headers }: Seen): string {
  const tag = headers['if-match'] === undefined ? '' : ` if-match ${String(headers['if-match'])}`;
  return `${method} ${decodeURIComponent(url.replaceAll('+', ' '))}${tag}`;
}

const queryProblems = ({ name, parameters }: Operation, given: URLSearchParams): string[] =>
  [...given.keys()]
    .filter((key) => !parameters.some((each) => each.in === 'query' && each.name === key))
    .map((key) => `${name} has no query parameter ${key}`);

const successOf = ({ responses }: Operation): number =>
  Number(
    Object.keys(responses)
      .sort()
      .find((status) => status.startsWith('2')),
  );

function answerTo(
  operation: Operation,
  { status = successOf(operation), parts, pathname, format }: Partial<Recorded> & Asked,
) {
  const content = operation.responses[status]?.content ?? {};
  const types = Object.keys(content);
  const type = types.find((each) => format !== null && each.includes(format)) ?? types[0];
  const value =
    typeof parts === 'string' ? parts : valueOf(content[type ?? '']?.schema ?? {}, parts);
  // The id of a record is that of the path.
  if (operation.path.endsWith('{id}') && Object.hasOwn(Object(value), 'id')) {
    const { id } = (parts ?? {}) as { id?: string };
    Object.assign(value as object, { id: id ?? pathname.split('/').at(-1) });
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return {
    status,
    headers: { ...(type !== undefined && { 'content-type': type }), 'x-request-id': 'req_1' },
    body: Buffer.from(type === undefined ? '' : text),
  };
}

interface Asked {
  pathname: string;
  format: string | null;
}

/** The smallest value that a schema allows, with these parts. */
function valueOf(given: Schema, parts: unknown): unknown {
  const schema = whole(given, parts);
  if (Array.isArray(parts)) return parts.map((part) => valueOf(schema.items ?? {}, part));
  if (typeof parts === 'object' && parts !== null) return objectOf(schema, parts);
  if (parts !== undefined) return parts;
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const types = [schema.type ?? 'object'].flat();
  if (types.includes('null')) return null;
  if (schema.examples?.[0] !== undefined) return schema.examples[0];
  switch (types[0]) {
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () =>
        valueOf(schema.items ?? {}, undefined),
      );
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 0, 0);
    case 'boolean':
      return false;
    default:
      return objectOf(schema, {});
  }
}

function objectOf({ properties = {}, required = [] }: Schema, parts: object): object {
  const names = new Set([...required, ...Object.keys(parts)]);
  return Object.fromEntries(
    [...names].map((name) => [
      name,
      valueOf(properties[name] ?? {}, (parts as Record<string, unknown>)[name]),
    ]),
  );
}

const textOf = ({ format, minLength = 0 }: Schema): string =>
  ({ 'date-time': '2026-11-21T09:30:00.000Z', uri: 'https://hook.example/' })[format ?? ''] ??
  'x'.repeat(minLength);

/** A schema with its references and alternatives resolved: null, or the first that the parts fit. */
function whole(given: Schema, parts: unknown): Schema {
  const { allOf, ...schema } = resolve(document, given);
  const all = (allOf ?? []).map((part) => whole(part, parts)).reduce(merged, schema);
  const branches = (all.anyOf ?? all.oneOf)?.map((branch) => whole(branch, parts));
  if (branches === undefined) return all;
  const { anyOf: _any, oneOf: _one, ...rest } = all;
  const chosen =
    branches.find(({ type }) => parts === undefined && type === 'null') ??
    branches.find((branch) => isFor(branch, parts));
  return merged(rest, chosen ?? branches[0] ?? {});
}

function isFor({ type, properties = {} }: Schema, parts: unknown): boolean {
  if (typeof parts !== 'object' || parts === null || Array.isArray(parts)) {
    return type === (Array.isArray(parts) ? 'array' : typeof parts);
  }
  return (
    type === 'object' &&
    Object.entries(parts).every(([name, value]) => {
      const property = properties[name] && resolve(document, properties[name]);
      const allowed =
        property?.enum ?? (property?.const === undefined ? undefined : [property.const]);
      return allowed === undefined ? property !== undefined : allowed.includes(value);
    })
  );
}

const merged = (a: Schema, b: Schema): Schema => ({
  ...a,
  ...b,
  properties: { ...a.properties, ...b.properties },
  required: [...(a.required ?? []), ...(b.required ?? [])],
});
