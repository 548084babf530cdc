import type { Gate } from '#shared/contract/gates/gate.ts';
import type { Db } from '#shared/db/pool.ts';
import type { StoredMessage } from '#shared/db/slack/messages.ts';
import { formFields } from '#shared/graph/slack/form.ts';
import type { ShownGate } from '#shared/graph/slack/message.ts';
import type { ModalGate, ModalTarget } from '#shared/graph/slack/modal.ts';
import { readGate } from '#shared/operations/gates/read-gate.ts';
import type { Actor } from '#shared/people/actor.ts';
import { readShownGate } from './messages.ts';

/** The gate of a message as a member can decide it now; or why they cannot. */
export type AskedInSlack =
  | { refusal: string; outdated: boolean; byRules?: true }
  | { modal: ModalGate; shown: ShownGate };

/** `outdated`: the message shows something else than the gate now. Throws AppError, WorkBusyError. */
export async function askedInSlack(
  db: Db,
  {
    actor,
    message,
    target,
    publicUrl,
  }: {
    actor: Actor;
    message: StoredMessage;
    target: ModalTarget;
    publicUrl: string;
  },
): Promise<AskedInSlack> {
  const shown = await readShownGate(db, message);
  if (shown === undefined || shown.superseded || shown.status !== 'open') {
    return { refusal: endedText(shown), outdated: true };
  }
  const { run_id: runId, step_key: stepKey } = message;
  const gate = await readGate(db, { actor, runId, stepKey });
  if (gate.refusal !== null) return { refusal: gate.refusal, outdated: false, byRules: true };
  if (!gate.can_decide) {
    return { refusal: 'This gate cannot be decided any more: open the console.', outdated: true };
  }
  if (target.approves && gate.schema_problem !== null) {
    return { refusal: 'No input fits the form of this gate: reject it.', outdated: false };
  }
  const { input_schema: schema } = shown.settings;
  const fields = schema === undefined ? [] : formFields(schema);
  const modal = { gate: shown, target, publicUrl, fields, changeable: changeable(gate, shown) };
  return { modal, shown };
}

/** The arguments that an approver can change: those of a call that one approval sends. */
function changeable(gate: Gate, { settings }: ShownGate): ModalGate['changeable'] {
  const { tool, arguments: given } = gate;
  if (tool === null || given === null || given === undefined) return undefined;
  return (settings.required ?? 1) > 1 ? undefined : given;
}

/** Why a gate is no longer open. */
function endedText(gate: ShownGate | undefined): string {
  if (gate === undefined || gate.superseded || gate.decision === null) {
    return 'This is no longer open: its run was cancelled, has ended, or asks again.';
  }
  const { approved, by, timed_out: timedOut } = gate.decision;
  if (timedOut !== undefined) return 'This has timed out: no one decided in time.';
  return `This has already been ${approved ? 'approved' : 'rejected'} by ${by ?? 'an API key'}.`;
}
