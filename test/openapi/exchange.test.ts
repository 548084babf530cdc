import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { request } from 'undici';
import type { Json, JsonObject } from '#shared/json.ts';
import { parseText } from '#shared/openapi/document.ts';
import type { ImportedOperation } from '#shared/openapi/imported.ts';
import { buildRequest } from '#shared/openapi/request.ts';
import { type Received, startDescribedServer } from './described-server.ts';
import { documentText, imported } from './documents.ts';
import { argumentsFor } from './generated-arguments.ts';

/** Sets of arguments for each document: all of them in the soak. */
const SETS = process.env['SOAK_TESTS'] === 'on' ? 500 : 20;

const files = [
  ...['github.json', 'kubernetes.json', 'slack.json', 'petstore-2.json', 'twilio-2010.json'],
  ...['box.json', 'adyen-management-3.json', 'parameters-style.json', 'readme.json'],
  ...['star-trek.json', 'schema-encoding-style.json', 'blockfrost.yaml'],
  'stripe.json',
];

describe('a server that reads requests as the document describes them receives the arguments', () => {
  test.each(files)('of %s', async (file) => {
    const text = documentText(file);
    const parsed = parseText(text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    const server = await startDescribedServer(parsed.value as JsonObject);
    try {
      const { operations } = imported(text, { server: server.url, limit: 2_000 });
      for (let set = 0; set < SETS; set += 1) {
        // A prime: each document has another number of operations.
        const operation = operations[(set * 7_919) % operations.length]!;
        const [args = {}] = fc.sample(argumentsFor(operation), { seed: set, numRuns: 1 });
        const built = buildRequest({ ...operation.request, server: server.url }, args);
        if ('problem' in built && built.problem.includes('separates its parts')) continue;
        if ('problem' in built) throw new Error(`${operation.operation}: ${built.problem}`);
        const { url, ...rest } = built;
        await (await request(url, { method: operation.method, ...rest })).body.dump();
        const received = server.read(operation.path, operation.method);
        const about = { operation: operation.operation, url };
        const expected = expectedOf(operation, args);
        readLists(operation, received, expected);
        expect({ ...about, ...received }).toEqual({ ...about, ...expected });
      }
    } finally {
      await server.close();
    }
  });
});

/** What is sent of the arguments: under their original names, as texts except in JSON. */
function expectedOf({ request: mapping }: ImportedOperation, args: JsonObject): Received {
  const sent: Received = { path: {}, query: {}, header: {}, cookie: {}, body: undefined };
  for (const { argument, name, in: place, style, content_type } of mapping.parameters) {
    const value = content_type === undefined ? asText(args[argument], style) : args[argument];
    if (value !== undefined) sent[place][name] = value;
  }
  const { body } = mapping;
  if (body === null) return sent;
  const isJson = body.content_type.includes('json');
  if ('argument' in body) {
    sent.body = args[body.argument];
    return sent;
  }
  const fields = body.fields.flatMap(({ argument, name, style }) => {
    const given = args[argument];
    const value = isJson ? given : asText(given, style ?? 'json');
    return value === undefined ? [] : [[name, value] as const];
  });
  const some = body.fields.some(({ argument }) => args[argument] !== undefined);
  if (some || body.required) sent.body = Object.fromEntries(fields);
  return sent;
}

/** Of a choice between a text and a list, a server cannot tell a list of one from a text. */
function readLists(
  { request: mapping, input_schema }: ImportedOperation,
  received: Received,
  expected: Received,
): void {
  const properties = input_schema['properties'] as Record<string, JsonObject>;
  for (const { argument, name, in: place } of mapping.parameters) {
    const schema = properties[argument] ?? {};
    const [sent, read] = [expected[place][name], received[place][name]];
    if (!('oneOf' in schema) && !('anyOf' in schema)) continue;
    if (Array.isArray(sent) && sent.length === 1 && typeof read === 'string') {
      received[place][name] = [read];
    }
  }
}

const leaf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The value as texts, without what is not sent. `json`: an object is one text. */
function asText(value: Json | undefined, style: string): Json | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object') return leaf(value);
  if (style === 'deepObject') return deepText(value);
  if (style === 'json' && !Array.isArray(value)) return value;
  const parts = Object.entries(value).filter(([, part]) => part !== null);
  if (parts.length === 0) return undefined;
  const texts = parts.map(([name, part]) => [name, leaf(part as Json)] as const);
  return Array.isArray(value) ? texts.map(([, part]) => part) : Object.fromEntries(texts);
}

function deepText(value: Json): Json | undefined {
  if (typeof value !== 'object' || value === null) return value === null ? undefined : leaf(value);
  const parts = Object.entries(value).flatMap(([name, part]) => {
    const inner = deepText(part as Json);
    return inner === undefined ? [] : [[name, inner] as const];
  });
  return parts.length === 0 ? undefined : Object.fromEntries(parts);
}
