import {
  ApiError,
  type Client,
  type Gate,
  type JsonObject,
  type PendingGate,
  type Run,
} from '#client/index.ts';
import { printConsequences } from './consequences.ts';
import { Ending, exitCodes, misuse } from './endings.ts';
import { objectIn, readJsonObject } from './input.ts';
import { createOutput, exactJson, type Output } from './output.ts';
import { readYes } from './secrets.ts';
import { terminal } from './terminal.ts';
import { progressOf } from './watch.ts';

export interface DecisionFlags {
  node?: string;
  digest?: string;
  arguments?: string;
  yes?: true;
}

/** The open gate that the flags identify; without flags, the oldest. */
export const gateOf = (
  run: Run,
  { digest, node }: Pick<DecisionFlags, 'digest' | 'node'>,
): PendingGate | undefined =>
  run.pending_gates.find((gate) =>
    digest === undefined
      ? node === undefined || gate.node_id === node
      : gate.tool_call?.digest === digest,
  );

/** What a gate shows to someone who decides it. */
type Shown = Pick<Gate, 'digest' | 'consequences'>;

interface Asked {
  runId: string;
  approved: boolean;
  flags: DecisionFlags;
  /** What the gate of a step sets in motion with the input of the decision. Undefined without input. */
  shownWith: ((stepKey: string) => Promise<Shown | undefined>) | undefined;
}

/**
 * What a decision is bound to. On a terminal, this shows the tool call, or the gate with what the answer sets in motion,
 * and asks for confirmation before it returns. Without a terminal, only a tool call needs confirmation. A digest that is
 * given, but is not that of a tool call, is sent unchanged: the service explains why it refuses.
 */
export async function bindDecision(
  client: Client,
  output: Output,
  { runId, approved, flags, shownWith }: Asked,
): Promise<{ stepKey?: string; digest?: string | undefined; arguments?: JsonObject | undefined }> {
  const edited = flags.arguments === undefined ? undefined : await readArguments(flags.arguments);
  const gate = gateOf(await client.getRun(runId), flags);
  const call = gate?.tool_call;
  if (gate !== undefined && call !== undefined) {
    if (flags.yes !== true) {
      const read = () => client.getGate(runId, gate.step_key);
      await confirm(output, { gate, call, approved, edited, read });
    }
    return { stepKey: gate.step_key, digest: call.digest, arguments: edited };
  }
  if (flags.digest !== undefined) return { digest: flags.digest, arguments: edited };
  if (edited !== undefined) {
    throw misuse('--arguments is only for a tool call that waits for approval');
  }
  if (gate === undefined) return {};
  const { step_key: stepKey } = gate;
  const shown = (await shownWith?.(stepKey)) ?? (await client.getGate(runId, stepKey));
  const asks = flags.yes !== true && terminal().stdin.isTTY === true;
  if (asks || flags.yes === true) showGate(output, gate, { approved, shown });
  if (asks && !(await readYes(approved ? 'Approve?' : 'Reject?'))) throw nothingSent();
  return { stepKey, digest: shown.digest ?? undefined };
}

/** Sends a decision. When a recheck refuses it, this shows what has changed. */
export async function sendDecision(output: Output, send: () => Promise<Run>): Promise<Run> {
  try {
    return await send();
  } catch (error) {
    if (error instanceof ApiError && error.stale !== undefined) {
      showChanges(besides(output), error.stale as NonNullable<PendingGate['stale']>);
    }
    throw error;
  }
}

function showChanges(
  output: Output,
  { differences, more }: NonNullable<PendingGate['stale']>,
): void {
  output.list(differences, {
    step: 'step_key',
    path: ({ path }) => path.join('.'),
    before: ({ before, problem }) => problem ?? exactJson(before),
    now: ({ now, problem }) => (problem === undefined ? exactJson(now) : ''),
  });
  if (more > 0) output.line(`and ${more} more`);
}

const nothingSent = (): Ending => new Ending(exitCodes.refused, 'Nothing was sent');

/** Where people read while standard output goes to a program. */
const besides = ({ colour }: Output): Output =>
  createOutput(terminal().stderr, { format: 'table', colour });

function showGate(
  output: Output,
  gate: PendingGate,
  { approved, shown: { consequences } }: { approved: boolean; shown: Shown },
): void {
  const shown = besides(output);
  shown.line(`${gate.title}: ${gate.prompt}${progressOf(gate)}`);
  if (consequences === null) shown.line('It is not known what the answer sets in motion.');
  else printConsequences(shown, consequences, [approved ? 'approve' : 'reject']);
}

/** `@file`, or JSON. */
async function readArguments(given: string): Promise<JsonObject> {
  return given.startsWith('@') ? readJsonObject(given.slice(1)) : objectIn(given, '--arguments');
}

async function confirm(
  output: Output,
  {
    gate,
    call,
    approved,
    edited,
    read,
  }: {
    gate: PendingGate;
    call: NonNullable<PendingGate['tool_call']>;
    approved: boolean;
    edited: JsonObject | undefined;
    read: () => Promise<Gate>;
  },
): Promise<void> {
  const verb = approved ? 'Approve' : 'Reject';
  if (!terminal().stdin.isTTY) {
    throw misuse(
      `${verb} the call of ${call.tool} with --yes: there is no terminal to ask for a confirmation`,
    );
  }
  const { consequences } = await read();
  const shown = besides(output);
  const { tool, turn, digest } = call;
  const node = turn === null ? { step: gate.step_key } : { agent: gate.node_id, turn };
  shown.record({ tool, ...node, digest });
  shown.line('arguments');
  shown.line(exactJson(call.arguments));
  if (edited !== undefined) {
    shown.line('arguments to send instead');
    shown.line(exactJson(edited));
  }
  if (consequences !== null) {
    shown.line('');
    shown.line('After this call:');
    printConsequences(shown, consequences, [approved ? 'approve' : 'reject']);
  }
  if (!(await readYes(`${verb} this call?`))) throw nothingSent();
}
