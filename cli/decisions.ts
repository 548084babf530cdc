import type { Client, JsonObject, PendingGate, Run } from '#client/index.ts';
import { Ending, exitCodes, misuse } from './endings.ts';
import { objectIn, readJsonObject } from './input.ts';
import { createOutput, exactJson, type Output } from './output.ts';
import { readYes } from './secrets.ts';
import { terminal } from './terminal.ts';

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

/**
 * What a decision is bound to. For a tool call, this shows the call and asks for confirmation before it returns. A gate
 * without a tool call needs no confirmation. A digest that is not open is sent unchanged, and the service explains why
 * it refuses.
 */
export async function bindDecision(
  client: Client,
  output: Output,
  { runId, approved, flags }: { runId: string; approved: boolean; flags: DecisionFlags },
): Promise<{ stepKey?: string; digest?: string; arguments?: JsonObject }> {
  const edited = flags.arguments === undefined ? undefined : await readArguments(flags.arguments);
  const gate = gateOf(await client.getRun(runId), flags);
  const call = gate?.tool_call;
  if (gate === undefined || call === undefined) {
    if (flags.digest !== undefined) {
      return { digest: flags.digest, arguments: edited };
    }
    if (edited === undefined) return {};
    throw misuse('--arguments is only for a tool call that waits for approval');
  }
  if (flags.yes !== true) await confirm(output, { gate, call, approved, edited });
  return {
    stepKey: gate.step_key,
    digest: call.digest,
    arguments: edited,
  };
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
  }: {
    gate: PendingGate;
    call: NonNullable<PendingGate['tool_call']>;
    approved: boolean;
    edited: JsonObject | undefined;
  },
): Promise<void> {
  const verb = approved ? 'Approve' : 'Reject';
  if (!terminal().stdin.isTTY) {
    throw misuse(
      `${verb} the call of ${call.tool} with --yes: there is no terminal to ask for a confirmation`,
    );
  }
  // Not on standard output, which may be read by a program.
  const shown = createOutput(terminal().stderr, { format: 'table', colour: output.colour });
  shown.record({ tool: call.tool, agent: gate.node_id, turn: call.turn, digest: call.digest });
  shown.line('arguments');
  shown.line(exactJson(call.arguments));
  if (edited !== undefined) {
    shown.line('arguments to send instead');
    shown.line(exactJson(edited));
  }
  if (!(await readYes(`${verb} this call?`))) {
    throw new Ending(exitCodes.refused, 'Nothing was sent');
  }
}
