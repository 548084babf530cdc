import type { CodeNode, GateNode, GraphNode, WaitNode } from '#shared/contract/workflows/graph.ts';
import type { CaughtError } from '#shared/graph/caught-error.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { rendered, valueOf } from './values.ts';

/** How a round of a gate ends. `failed`: its deadline fails it. */
export type GateEnd = { approved: boolean; input?: JsonObject } | { failed: true };

/** What happens outside of the engine. It depends only on the step and, for results, on the state that the step sees. */
export interface World {
  /** How many attempts at the step fail before one succeeds; `state`: what it sees, where that is known. */
  failingAttempts: (node: GraphNode, stepKey: string, state?: JsonObject) => number;
  result: (node: GraphNode, stepKey: string, state: JsonObject) => Json;
  /** Rounds count from 1; from the second, every gate is approved. */
  gate: (node: GateNode, stepKey: string, round: number) => GateEnd;
}

export function hash(text: string): number {
  let value = 7;
  for (let at = 0; at < text.length; at += 1) {
    value = Math.imul(value ^ text.charCodeAt(at), 2_654_435_761);
    value ^= value >>> 15;
  }
  return value >>> 0;
}

/** No one decides the gate before its deadline, unless it asks again. */
export const missesDeadline = ({ timeout_seconds }: GateNode): boolean =>
  timeout_seconds !== undefined && timeout_seconds < 60;

/** A short deadline: nothing comes in time, and it fails or continues. */
const isLate = (node: WaitNode): boolean =>
  node.timeout_seconds !== undefined && node.timeout_seconds < 60;

const isNever = ({ kind, ...node }: GraphNode): boolean => {
  if (kind === 'wait') {
    const wait = { kind, ...node } as WaitNode;
    return isLate(wait) && wait.on_timeout !== 'continue';
  }
  if (kind === 'code') return (node as CodeNode).source.includes('throw');
  if (kind !== 'tool') return false;
  const { tool_name, params } = node as Extract<GraphNode, { kind: 'tool' }>;
  return (
    tool_name === 'send_email' ||
    params['expression'] === '1 / 0' ||
    (params['url'] as string | undefined)?.endsWith('?slow') === true
  );
};

/** The outside world of generated graphs; another `salt` gives another one. */
export function worldOf(salt: number): World {
  const chance = (stepKey: string, about: string): number => hash(`${salt} ${about} ${stepKey}`);
  return {
    failingAttempts: (node, stepKey) => {
      if (isNever(node)) return Infinity;
      if (node.kind === 'agent') return node.mock?.fail_times ?? 0;
      if (node.kind !== 'tool' || node.tool_name !== 'http_request') return 0;
      return [0, 0, 0, 0, 1, 2, 3][chance(stepKey, 'http') % 7]!;
    },
    result: (node, stepKey, state) => {
      if (node.kind === 'agent') return rendered(node.mock?.output ?? null, state);
      if (node.kind === 'workflow') return { child: rendered(node.input['at'] as Json, state) };
      if (node.kind === 'wait') return isLate(node) ? null : {};
      if (node.kind === 'code') return { by: node.id };
      if (node.kind !== 'tool') throw new Error(`${node.kind} does no work`);
      const { expression } = node.params;
      if (node.tool_name === 'http_request') return { status: 200, body: { by: stepKey } };
      return valueOf(expression as string, state);
    },
    gate: (node, stepKey, round) => {
      if (round === 1 && missesDeadline(node)) {
        return node.on_timeout === 'fail'
          ? { failed: true }
          : { approved: node.on_timeout === 'approve' };
      }
      const approved = round > 1 || chance(stepKey, 'gate') % 3 !== 0;
      const shared = `from ${stepKey} ${round}`;
      return { approved, ...(chance(stepKey, 'input') % 3 === 0 && { input: { shared } }) };
    },
  };
}

/** The failed rounds of attempts at a step: each fails the run, or is caught. */
export function failedRounds(
  world: World,
  node: GraphNode,
  stepKey: string,
  state: JsonObject,
): number {
  return Math.floor(world.failingAttempts(node, stepKey, state) / attemptsOf(node));
}

const attemptsOf = (node: GraphNode): number =>
  node.kind === 'wait' ? 1 : (node.retry?.max_attempts ?? 1);

/** The error of a failed round. `*` matches any text. */
export function workError(node: GraphNode): CaughtError {
  const attempts = attemptsOf(node);
  const isTool = node.kind === 'tool';
  const slow = node.kind === 'wait' || (isTool && node.timeout_seconds !== undefined);
  const refused = isTool && node.tool_name === 'send_email';
  return { message: '*', kind: slow ? 'timeout' : refused ? 'policy' : 'node', attempts };
}

/** The error of a gate that fails at its deadline, or is rejected without an edge for that. */
export function gateError(node: GateNode, end: GateEnd): CaughtError {
  const { timeout_seconds: seconds = 0 } = node;
  const reason = `no decision within ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
  if ('failed' in end) return { message: `Timed out: ${reason}`, kind: 'timeout', attempts: 1 };
  const message = `Rejected at gate '${node.id}'${missesDeadline(node) ? `: ${reason}` : ''}`;
  return { message, kind: 'rejected', attempts: 1 };
}
