import { setTimeout as sleep } from 'node:timers/promises';
import { echoedPrompt, examplesOf } from '#shared/agents/mock-examples.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { toMicros } from '#shared/money/money.ts';
import { answerUntrusted } from '#shared/platform/threads/untrusted.ts';
import { requireFitting } from './model-answer.ts';
import { type Consumption, type NodeCall, NodeError, type NodeResult } from './node.ts';
import { mockFailed } from '#shared/graph/failure-texts.ts';

/** How often a slow answer continues, and the least number of its pieces. */
const PIECE_EVERY_MS = 100;
const LEAST_PIECES = 4;

/**
 * The model of the examples. It needs no key, gives the same response every time, and can be slow, expensive or failing
 * on request. It costs nothing when it fails. Throws NodeError while `fail_times` lasts, and the signal's reason on
 * abort.
 */
export async function askMock(call: NodeCall<AgentNode>, prompt: string): Promise<NodeResult> {
  const output = await mockOutput(call, prompt);
  // Without a delay, the answer itself arrives as soon.
  await (isSlow(call) ? speakAsMock(call, textOf(output)) : waitAsMock(call));
  const spent = { model: 'mock', costMicros: toMicros(call.node.mock?.cost_usd ?? 0) };
  return { ...spent, output: await heldToSchema(call, output, spent) };
}

/** What the mock answers, before it is compared with the schema. */
export async function mockOutput(call: NodeCall<AgentNode>, prompt: string): Promise<Json> {
  const given = givenOutput(call);
  return given === undefined ? await defaultOutput(call, prompt) : given;
}

export const textOf = (output: Json): string =>
  typeof output === 'string' ? output : JSON.stringify(output);

const isSlow = ({ node }: NodeCall<AgentNode>): boolean => (node.mock?.delay_ms ?? 0) > 0;

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
  await pause(call, call.node.mock?.delay_ms ?? 0);
  const failures = call.node.mock?.fail_times ?? 0;
  if (call.attempt <= failures) throw new NodeError(mockFailed(call.attempt, failures));
}

/** Like `waitAsMock`, and streams the text in pieces, over the whole delay. A call that will fail says nothing. */
export async function speakAsMock(call: NodeCall<AgentNode>, text: string): Promise<void> {
  const { onText, node } = call;
  if (onText === undefined || call.attempt <= (node.mock?.fail_times ?? 0)) return waitAsMock(call);
  const delay = node.mock?.delay_ms ?? 0;
  // By code points, so that no surrogate pair is split.
  const characters = [...text];
  const most = Math.max(LEAST_PIECES, Math.ceil(delay / PIECE_EVERY_MS));
  const length = Math.max(1, Math.ceil(characters.length / most));
  const count = Math.ceil(characters.length / length);
  const started = performance.now();
  for (let piece = 0; piece < count; piece += 1) {
    onText(characters.slice(piece * length, (piece + 1) * length).join(''), 'mock');
    await pause(call, ((piece + 1) * delay) / count - (performance.now() - started));
  }
  await pause(call, delay - (performance.now() - started));
}

async function pause({ signal }: NodeCall<AgentNode>, ms: number): Promise<void> {
  if (ms <= 0) return;
  await sleep(ms, undefined, { signal }).catch((error: unknown) => {
    throw signal.aborted ? signal.reason : error;
  });
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
  return echoedPrompt(prompt);
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
