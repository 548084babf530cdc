import { setTimeout as sleep } from 'node:timers/promises';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { toMicros } from '#shared/money/money.ts';
import { answerUntrusted } from '#shared/platform/threads/untrusted.ts';
import { examplesOf } from './mock-examples.ts';
import { requireFitting } from './model-answer.ts';
import { type Consumption, type NodeCall, NodeError, type NodeResult } from './node.ts';

const ECHO_LENGTH = 120;

/**
 * The model of the examples. It needs no key, gives the same response every time, and can be slow, expensive or failing
 * on request. It costs nothing when it fails. Throws NodeError while `fail_times` lasts, and the signal's reason on
 * abort.
 */
export async function askMock(call: NodeCall<AgentNode>, prompt: string): Promise<NodeResult> {
  await waitAsMock(call);
  const spent = { model: 'mock', costMicros: toMicros(call.node.mock?.cost_usd ?? 0) };
  const given = givenOutput(call);
  const output = given === undefined ? await defaultOutput(call, prompt) : given;
  return { ...spent, output: await heldToSchema(call, output, spent) };
}

/** The mock's answer, which must match the node's response schema like any other. Throws NodeError. */
export async function heldToSchema(
  { node, workspaceId }: NodeCall<AgentNode>,
  output: Json,
  consumption: Consumption,
): Promise<Json> {
  if (node.response_schema === undefined) return output;
  const asked = { workspaceId, model: 'mock', consumption };
  return requireFitting(asked, node.response_schema, output);
}

/** Waits for the mock's delay, then simulates its failures. */
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

/** The rendered output if the caller rendered it, otherwise the node's own. Null is an output like any other. */
function givenOutput(call: NodeCall<AgentNode>): Json | undefined {
  const rendered = call.params['mock'];
  if (isObject(rendered) && 'output' in rendered) return rendered['output'];
  return call.node.mock?.output;
}

async function defaultOutput(
  { node, workspaceId }: NodeCall<AgentNode>,
  prompt: string,
): Promise<Json> {
  if (node.response_schema !== undefined) return fittingExample(workspaceId, node.response_schema);
  const line = prompt.replace(/\s+/g, ' ').trim();
  // By code points, so that no surrogate pair is split.
  const short = [...line].slice(0, ECHO_LENGTH).join('');
  return `Mock answer to: ${short}${short.length < line.length ? '...' : ''}`;
}

/** The first example that matches the schema; if none does, the first example, so that its problem is reported. */
async function fittingExample(workspaceId: string, schema: JsonObject): Promise<Json> {
  const examples = examplesOf(schema);
  for (const example of examples) {
    const outcome = await answerUntrusted(workspaceId, schema, example);
    if (outcome.schemaProblem !== undefined) break;
    if (outcome.problem === undefined) return example;
  }
  return examples[0]!;
}
