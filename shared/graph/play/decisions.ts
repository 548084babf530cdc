import { offeredTools } from '#shared/agents/offered-tools.ts';
import { refusedInput } from '#shared/graph/failure-texts.ts';
import { EDITED_BY_ONE, editProblem, ownArguments } from '#shared/graph/gates/edited-arguments.ts';
import { isAgentCall } from '#shared/graph/gates/gate-opening.ts';
import { timeoutReason } from '#shared/graph/gates/rejection.ts';
import { type StepTool, stepToolOf } from '#shared/graph/gates/step-tool.ts';
import { canAsk } from '#shared/graph/node-approval.ts';
import type { JsonObject } from '#shared/json.ts';
import { customToolName } from '#shared/tools.ts';
import { canonicalJson } from '#shared/values/canonical-json.ts';
import { textHash } from '#shared/values/text-hash.ts';
import { objectOf, secondsOf } from './answers.ts';
import type { Decision } from './options.ts';
import { PlayError } from './play-error.ts';
import type { OpenGate } from './played-run.ts';
import { type AppliedDecision, type AskedGate, entryOf, keyOf, type Playing } from './playing.ts';

/** The decision that the test gives for a gate, and how long the gate is open before; undefined if it gives none. */
export function decisionAt(
  run: Playing,
  gate: AskedGate,
): { seconds: number; decision: AppliedDecision } | undefined {
  const { node_id: id, label, settings } = gate.opening;
  const named = `decisions['${keyOf(run.name, id)}']`;
  const given = givenFor(run, gate);
  if (given === undefined) return undefined;
  const wanted = wantedFrom(given, named);
  const deadline = settings?.timeout_seconds;
  if (wanted === 'timeout' && deadline === undefined) {
    throw new PlayError(`${named}: gate '${label}' has no timeout_seconds, so no deadline decides`);
  }
  const after = wanted === 'timeout' ? Infinity : secondsOf(wanted.after_seconds ?? 0, named);
  if (deadline !== undefined && after >= deadline) {
    const timed_out = settings?.on_timeout ?? 'fail';
    const reason = timeoutReason(deadline);
    return {
      seconds: deadline,
      decision: { approved: timed_out === 'approve', reason, timed_out },
    };
  }
  if (wanted === 'timeout') return undefined;
  const refuse = (text: string): PlayError =>
    new PlayError(`The decision at gate '${label}' is refused: ${text}`);
  return { seconds: after, decision: checked(run, gate, wanted, { named, refuse }) };
}

function givenFor(run: Playing, gate: AskedGate): Decision | undefined {
  const { node_id: id } = gate.opening;
  const given = entryOf(run, run.world.options.decisions, id);
  const before = run.asked.get(id) ?? 0;
  run.asked.set(id, before + 1);
  if (typeof given === 'function') return given(openGateOf(run, gate));
  return isList(given) ? given[before] : given;
}

const isList = (
  given: Decision | readonly (Decision | undefined)[] | undefined,
): given is readonly (Decision | undefined)[] => Array.isArray(given);

type Wanted = Exclude<Decision, string>;
const FIELDS = ['approved', 'input', 'reason', 'arguments', 'digest', 'after_seconds'];

function wantedFrom(given: Decision, named: string): Wanted | 'timeout' {
  if (given === 'timeout') return given;
  if (given === 'approve' || given === 'reject') return { approved: given === 'approve' };
  const isRecord = typeof given === 'object' && (given as unknown) !== null;
  const extra = isRecord ? Object.keys(given).find((key) => !FIELDS.includes(key)) : undefined;
  if (extra !== undefined) {
    throw new PlayError(`${named}: unknown field '${extra}'; there are ${FIELDS.join(', ')}`);
  }
  if (isRecord && ['boolean', 'undefined'].includes(typeof given.approved)) return given;
  throw new PlayError(
    `${named}: a decision is 'approve', 'reject', 'timeout' or an object such as { approved: true, input: {} }, not ${JSON.stringify(given)}`,
  );
}

/** The decision as it counts. Throws what the service answers to a decision that it refuses. */
function checked(
  run: Playing,
  gate: AskedGate,
  { approved = true, input, reason, arguments: args, digest }: Wanted,
  { named, refuse }: { named: string; refuse: (text: string) => PlayError },
): AppliedDecision {
  const { settings, step_key, tool_call: call } = gate.opening;
  const answers = input === undefined ? undefined : objectOf(input, `${named}.input`);
  if (call === undefined && (args !== undefined || digest !== undefined)) {
    throw refuse('Invalid body: arguments need the digest of a tool call');
  }
  if (digest !== undefined && digest !== openGateOf(run, gate).tool_call?.digest) {
    throw refuse(`The digest is not that of the call at gate '${step_key}': read the run again`);
  }
  const schema = settings?.input_schema;
  if (schema !== undefined && (approved || answers !== undefined)) {
    const refusal = refusedInput(run.world.schemas.input(schema, answers ?? {}), 'gate');
    if (refusal !== undefined) throw refuse(refusal);
  }
  const sent = args === undefined ? undefined : objectOf(args, `${named}.arguments`);
  if (sent !== undefined && !approved) {
    throw refuse('Invalid body: a rejected call has no arguments');
  }
  const problem = sent && problemOfArguments(run, gate, sent);
  if (problem !== undefined) throw refuse(`Invalid body: ${problem}`);
  return {
    approved,
    ...(answers === undefined ? {} : { input: answers }),
    ...(reason === undefined || reason === '' ? {} : { reason }),
    ...(sent === undefined ? {} : { arguments: sent }),
  };
}

function problemOfArguments(run: Playing, gate: AskedGate, wanted: JsonObject): string | undefined {
  const { tool = '', arguments: args = {} } = openGateOf(run, gate).tool_call ?? {};
  if (canonicalJson(args) === canonicalJson(wanted)) return undefined;
  if ((gate.opening.settings?.required ?? 1) > 1) return EDITED_BY_ONE;
  const { tool_call: call } = gate.opening;
  const ofAgent = call !== undefined && isAgentCall(call);
  const definition = toolOf(run, gate, tool);
  const refused = editProblem({ tool, arguments: args, ofAgent }, definition, wanted);
  if (refused !== undefined) return refused;
  const own = ownArguments(definition, wanted);
  const { problem, schemaProblem } = run.world.schemas.arguments(definition.schema, own);
  const text = problem ?? schemaProblem;
  return text === undefined ? undefined : `arguments ${text}`;
}

function toolOf({ scheduler, world }: Playing, { step }: AskedGate, tool: string): StepTool {
  const node = scheduler.node(step.node_id);
  if (node.kind === 'agent') {
    const { tools } = offeredTools(node, world.definitions, canonicalJson);
    return tools.find(({ name }) => name === tool) ?? { schema: { type: 'object' }, fixed: [] };
  }
  if (!canAsk(node)) throw new Error(`${node.id} does not ask`);
  const name = node.kind === 'tool' ? customToolName(node.tool_name) : undefined;
  const custom = name === undefined ? undefined : world.definitions.customTools.get(name);
  return stepToolOf(node, name === undefined ? undefined : (custom?.input_schema ?? null));
}

/** An open gate as its approvers see it. */
export function openGateOf(run: Playing, { opening, since }: AskedGate): OpenGate {
  const { settings = {}, tool_call: call } = opening;
  const { step_key, node_id, label, iteration, round, prompt, title } = opening;
  const opened = since ?? run.world.clock.now;
  const { timeout_seconds: seconds, on_timeout, input_schema } = settings;
  return {
    kind: call === undefined ? 'human_gate' : 'tool_call',
    ...{ node_id, step_key, label, title: title ?? label, prompt, iteration: [...iteration] },
    ...{ round, since: new Date(opened).toISOString() },
    ...(seconds === undefined
      ? {}
      : { timeout_at: new Date(opened + seconds * 1_000).toISOString() }),
    ...(on_timeout === undefined ? {} : { on_timeout }),
    ...(input_schema === undefined ? {} : { input_schema: structuredClone(input_schema) }),
    ...(run.name === undefined ? {} : { workflow: run.name }),
    ...(call === undefined ? {} : { tool_call: callOf(opening) }),
  };
}

function callOf({ tool_call: call, redacted }: AskedGate['opening']): OpenGate['tool_call'] {
  if (call === undefined) return undefined;
  const args = isAgentCall(call) ? (redacted as JsonObject) : call.arguments;
  const digest = `play:${textHash(canonicalJson([call.tool, args]))}`;
  return { tool: call.tool, arguments: structuredClone(args), digest };
}
