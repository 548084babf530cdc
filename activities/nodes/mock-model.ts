import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentNode } from '../../shared/contract/graph.ts';
import { isObject } from '../../shared/graph/json-value.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { toMicros } from '../../shared/money.ts';
import { type NodeCall, NodeError, type NodeResult } from './node.ts';

const ECHO_LENGTH = 120;

/**
 * The model of the examples: needs no key, gives the same response every time, and can be slow, expensive or failing on
 * request. Costs nothing when it fails. Throws NodeError while `fail_times` lasts, and the signal's reason on abort.
 */
export async function askMock(call: NodeCall<AgentNode>, prompt: string): Promise<NodeResult> {
  await waitAsMock(call);
  const given = givenOutput(call);
  return {
    output: given === undefined ? defaultOutput(call.node, prompt) : given,
    model: 'mock',
    costMicros: toMicros(call.node.mock?.cost_usd ?? 0),
  };
}

/** The mock's delay, then its failures. */
export async function waitAsMock(call: NodeCall<AgentNode>): Promise<void> {
  const mock = call.node.mock ?? {};
  if (mock.delay_ms !== undefined && mock.delay_ms > 0) {
    await sleep(mock.delay_ms, undefined, { signal: call.signal }).catch((error: unknown) => {
      throw call.signal.aborted ? call.signal.reason : error;
    });
  }
  const failures = mock.fail_times ?? 0;
  if (call.attempt <= failures) throw new NodeError(`Mock failure ${call.attempt} of ${failures}`);
}

/** The rendered output when the caller rendered it, else the node's own; null is an output like any other. */
function givenOutput(call: NodeCall<AgentNode>): Json | undefined {
  const rendered = call.params['mock'];
  if (isObject(rendered) && 'output' in rendered) return rendered['output'];
  return call.node.mock?.output;
}

function defaultOutput(node: AgentNode, prompt: string): Json {
  if (node.response_schema !== undefined) return exampleOf(node.response_schema, 0);
  const line = prompt.replace(/\s+/g, ' ').trim();
  // By code points, so that no surrogate pair is split.
  const short = [...line].slice(0, ECHO_LENGTH).join('');
  return `Mock answer to: ${short}${short.length < line.length ? '...' : ''}`;
}

/** The simplest value that fits the common keywords of a JSON Schema, so that later nodes find their keys. */
function exampleOf(schema: Json | undefined, depth: number): Json {
  if (schema === null || typeof schema !== 'object' || Array.isArray(schema) || depth > 16) {
    return null;
  }
  if (schema['const'] !== undefined) return schema['const'];
  if (Array.isArray(schema['enum'])) return schema['enum'][0] ?? null;
  const type = Array.isArray(schema['type']) ? schema['type'][0] : schema['type'];
  switch (type) {
    case 'string':
      return 'mock';
    case 'number':
    case 'integer':
      return typeof schema['minimum'] === 'number' ? schema['minimum'] : 0;
    case 'boolean':
      return false;
    case 'array':
      return Array.from({ length: minItems(schema) }, () => exampleOf(schema['items'], depth + 1));
    case 'object':
      return exampleObject(schema, depth);
    default:
      return schema['properties'] === undefined ? null : exampleObject(schema, depth);
  }
}

function exampleObject(schema: JsonObject, depth: number): JsonObject {
  const properties = schema['properties'];
  if (properties === null || typeof properties !== 'object' || Array.isArray(properties)) return {};
  return Object.fromEntries(
    Object.entries(properties).map(([key, value]) => [key, exampleOf(value, depth + 1)]),
  );
}

const minItems = (schema: JsonObject): number =>
  typeof schema['minItems'] === 'number'
    ? Math.min(Math.max(0, Math.floor(schema['minItems'])), 10)
    : 0;
