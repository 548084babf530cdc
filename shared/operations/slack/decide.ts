import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import { modalTarget, type SlackSubmission } from '#shared/contract/slack/interaction.ts';
import { findMessage } from '#shared/db/slack/messages.ts';
import { AppError, messageOf } from '#shared/errors.ts';
import { isObject } from '#shared/graph/json-value.ts';
import { fieldProblems, readFields, VALUE } from '#shared/graph/slack/form.ts';
import {
  ARGUMENTS,
  decisionModal,
  type Entered,
  type ModalGate,
  REASON,
  resultModal,
} from '#shared/graph/slack/modal.ts';
import { section } from '#shared/graph/slack/text.ts';
import { type JsonObject, parsedJson } from '#shared/json.ts';
import { decideGate, type RunDeps } from '#shared/operations/runs/runs.ts';
import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import type { Actor } from '#shared/people/actor.ts';
import { SlackError } from '#shared/platform/calls/slack.ts';
import type { SlackAccount, SlackDeps } from './account.ts';
import { askedInSlack } from './asked-gate.ts';
import { memberOf } from './people.ts';

export type DecideDeps = SlackDeps &
  RunDeps &
  DryRunDeps & { inFlight: { add(dispatched: Promise<unknown>): Promise<void> } };

/** How a submitted modal ended: it closes, shows what is wrong with its fields, or shows something else. */
export type Outcome =
  | { kind: 'done' }
  | { kind: 'shows'; view: JsonObject; errors?: Record<string, string> };

const says = (text: string): Outcome => ({
  kind: 'shows',
  view: resultModal('Not decided', [section(text, 1_500)]),
});

const FAILED = 'The decision was not made, because of an internal error. Use the console.';

/**
 * Decides a gate with what a member has submitted, by what `approve` does: everything is checked again, since the modal can be
 * old. Never rejects.
 */
export async function decideSubmission(
  deps: DecideDeps,
  account: SlackAccount,
  submission: SlackSubmission,
): Promise<Outcome> {
  const { workspaceId } = account;
  try {
    return await decide(deps, account, submission);
  } catch (error) {
    if (error instanceof AppError && error.code !== 'internal') return says(error.message);
    deps.log.error({ workspaceId, err: error }, 'could not decide a gate in Slack');
    const isSlack = error instanceof SlackError;
    return says(isSlack ? 'Slack did not say who you are. Try again, or use the console.' : FAILED);
  }
}

async function decide(
  deps: DecideDeps,
  account: SlackAccount,
  { view, user, team }: SlackSubmission,
): Promise<Outcome> {
  const { workspaceId } = account;
  const target = modalTarget.safeParse(parsedJson(view.private_metadata)).data;
  const message =
    target === undefined
      ? undefined
      : await findMessage(deps.db, { workspaceId, id: target.message });
  if (target === undefined || message === undefined) return says('This gate no longer exists.');
  if (user.team_id != null && user.team_id !== team.id) {
    return says('Only full members of this Slack workspace can decide here.');
  }
  const actor = await memberOf(deps, account, { teamId: team.id, userId: user.id });
  if ('refusal' in actor) return says(actor.refusal);
  const { publicUrl } = deps.config.api;
  const asked = await askedInSlack(deps.db, { actor, message, target, publicUrl });
  const choice = {
    actor: actor satisfies Actor,
    runId: message.run_id,
    stepKey: message.step_key,
    approved: target.approves,
    slack: { id: message.id, teamId: team.id },
    ...(target.digest === null ? {} : { digest: target.digest }),
  };
  if ('refusal' in asked) {
    // The attempt belongs in the audit log.
    if (asked.byRules === true) await decideGate(deps, choice);
    return says(asked.refusal);
  }
  const { modal } = asked;
  const read = enteredIn(view.state.values, modal);
  if ('errors' in read) return againWith(modal, read.entered, read.errors);
  const { entered, args } = read;
  try {
    const { dispatched } = await decideGate(deps, {
      ...choice,
      ...(entered.reason === undefined ? {} : { reason: entered.reason }),
      ...(target.approves && hasForm(modal) ? { input: entered.input } : {}),
      ...(args === undefined ? {} : { arguments: args }),
    });
    await deps.inFlight.add(dispatched);
    return { kind: 'done' };
  } catch (error) {
    if (error instanceof AppError) return refused(error, modal, entered);
    throw error;
  }
}

const hasForm = ({ fields }: ModalGate): boolean => fields !== undefined && fields.length > 0;

type Values = SlackSubmission['view']['state']['values'];

/** What was entered, with the arguments if they are JSON; or what is wrong with it. */
function enteredIn(
  values: Values,
  { target, fields = [], changeable }: ModalGate,
):
  | { entered: Entered; args: JsonObject | undefined }
  | { entered: Entered; errors: Record<string, string> } {
  const textOf = (block: string): string | undefined => {
    const given = Object.hasOwn(values, block) ? values[block]?.[VALUE] : undefined;
    return given?.value ?? given?.selected_date ?? given?.selected_option?.value ?? undefined;
  };
  const { input, problems } = readFields(target.approves ? fields : [], textOf);
  const text = target.approves && changeable !== undefined ? textOf(ARGUMENTS) : undefined;
  const entered = { input, reason: textOf(REASON), arguments: text, notice: undefined };
  const args = text === undefined ? undefined : parsedJson(text);
  const isWrong = text !== undefined && !isObject(args);
  if (!isWrong && Object.keys(problems).length === 0) {
    return { entered, args: isObject(args) ? args : undefined };
  }
  return {
    entered,
    errors: isWrong ? { ...problems, [ARGUMENTS]: 'Must be a JSON object' } : problems,
  };
}

/** The modal with what was entered, and what is wrong with it at its fields. */
const againWith = (
  modal: ModalGate,
  entered: Entered,
  errors: Record<string, string>,
): Outcome => ({
  kind: 'shows',
  view: decisionModal(modal, { ...entered, notice: Object.values(errors).join('; ') }),
  errors,
});

const STALE =
  'What this sets in motion has changed since you opened it, or with what you entered. Nothing was decided yet: read it, and send it again.';

function refused(error: AppError, modal: ModalGate, entered: Entered): Outcome {
  const { code, message, current } = error;
  if (code === 'conflict' && isShown(current)) {
    const { digest, consequences } = current;
    const gate = { ...modal.gate, consequences, digest };
    const next = { ...modal, gate, target: { ...modal.target, digest } };
    return { kind: 'shows', view: decisionModal(next, { ...entered, notice: STALE }) };
  }
  if (code === 'input_invalid') {
    const errors = fieldProblems(modal.fields ?? [], message);
    return againWith(
      modal,
      entered,
      Object.keys(errors).length === 0 ? { [REASON]: message } : errors,
    );
  }
  if (code === 'invalid' && entered.arguments !== undefined) {
    return againWith(modal, entered, { [ARGUMENTS]: message.replace(/^Invalid body: /, '') });
  }
  if (code === 'unavailable') return againWith(modal, entered, { [REASON]: message });
  if (code === 'changed') {
    return says(`${messageOf(error)}. Decide in the console, which shows what has changed.`);
  }
  return says(message);
}

const isShown = (
  current: object | null | undefined,
): current is { digest: string; consequences: GateConsequences } =>
  current !== null && current !== undefined && 'digest' in current && 'consequences' in current;
