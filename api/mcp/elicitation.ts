import {
  type InputRequest,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
} from '@modelcontextprotocol/server';
import { gatePage } from '#shared/contract/alerts/alerts.ts';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { Gate } from '#shared/contract/gates/gate.ts';
import type { PendingGate } from '#shared/contract/gates/pending-gate.ts';
import type { Stale } from '#shared/contract/gates/recheck.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import { AppError, conflict } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { readGate } from '#shared/operations/gates/read-gate.ts';
import { requireCapability } from '#shared/people/actor.ts';
import type { RouteContext } from '#api/deps.ts';
import { answerIn, answerSchemaOf, formFields, type PersonsAnswer } from './elicitation-form.ts';
import { ANSWER_MS, openQuestion, type Question, sealQuestion } from './elicitation-state.ts';
import { linkText, questionText } from './elicitation-text.ts';
import type { ToolCall } from './tool.ts';

/** The name of the question in a result, and of the answer in the next call. */
const QUESTION = 'decision';
/** How often one call asks. The SDK's clients give up after ten rounds. */
const MAX_ROUNDS = 8;
/** How many open gates of a run are looked at for one that the member can decide. */
const MAX_LOOKED = 5;

/** How a call got its run. */
export type Started = {
  /** An earlier call with the same idempotency key started it. */
  replayed: boolean;
  /** It joined a run that waited for further triggers. */
  joined?: true;
};

type StartedRun = Run & Started;

/** What a call has asked before. */
type Past = Pick<Question, 'rounds' | 'linked'>;

/** A call with the answer to an earlier question: it waits for its run again, or returns the result at once. */
type Taken = { run: Run; how: Started; past: Past } | { result: StartedRun | InputRequiredResult };

/** The page on which people decide a gate. */
export const pageOf = (
  { config }: Pick<RouteContext, 'config'>,
  runId: string,
  { node_id, step_key }: Pick<PendingGate, 'node_id' | 'step_key'>,
): string => config.api.publicUrl + gatePage(runId, node_id, step_key);

/**
 * The question about a paused run for the client's person: a form if they can decide one of its gates with this
 * credential, or else the address of the page on which they can. Undefined if the client offers neither, the member can
 * decide none of them, or the call has asked too often.
 */
export async function questionAbout(
  call: ToolCall,
  run: StartedRun,
  past: Past = { rounds: 0, linked: [] },
): Promise<InputRequiredResult | undefined> {
  const { elicitation, context, actor } = call;
  if (elicitation === undefined || context.sealer === undefined) return undefined;
  if (run.status !== 'paused' || past.rounds >= MAX_ROUNDS) return undefined;
  let link: InputRequiredResult | undefined;
  for (const pending of run.pending_gates.slice(0, MAX_LOOKED)) {
    const place = { actor, runId: run.id, stepKey: pending.step_key };
    const gate = await readGate(context.db, place);
    // It has opened again since the run was read: then its prompt can be another one.
    if (gate.since !== pending.since) continue;
    // Only of members who have not approved it yet.
    if (!gate.eligible_members.some(({ id }) => id === actor.id)) continue;
    const form = formQuestion(call, { run, pending, gate, past });
    if (form !== undefined) return form;
    link ??= linkQuestion(call, { run, pending, gate, past });
  }
  return link;
}

/**
 * Takes the answer of a person, if the call has one. Decides the gate that the question showed, and only that: the same
 * opening with the same digest. Asks again if the answer does not fit, or if something else would follow it than was
 * shown. Undefined without an answer. Throws AppError `invalid` for a question that is not of this call, and those of a
 * decision.
 */
export async function takeAnswer(call: ToolCall): Promise<Taken | undefined> {
  const { elicitation, context, actor, actions } = call;
  if (elicitation?.state === undefined) return undefined;
  if (context.sealer === undefined) {
    throw new AppError('invalid', 'This service asks no questions: it has no ENCRYPTION_KEY');
  }
  const { state, call: digest } = elicitation;
  const now = Date.now();
  const question = openQuestion(context.sealer, { actor, call: digest, state, now });
  const { how, rounds, linked } = question;
  const response = inputResponse(elicitation.responses, QUESTION);
  if (response.kind !== 'elicit') {
    throw new AppError('invalid', `The call has no answer to its question '${QUESTION}'`);
  }
  const run = await actions.read(actor, question.run_id);
  if (response.action !== 'accept') return { result: { ...run, ...withJoined(how) } };
  if (question.kind === 'link') {
    return {
      run,
      how: withJoined(how),
      past: { rounds, linked: [...linked, openingOf(question)] },
    };
  }
  const { pending, gate } = await askedGate(call, run, question);
  const answer = answerIn(response.content, pending.input_schema !== undefined);
  if (answer === undefined) {
    throw new AppError('invalid', "The answer has no decision: 'approve' or 'reject'");
  }
  const past = { rounds, linked };
  try {
    const decided = await decide(call, { question, gate, answer });
    return { run: decided, how: withJoined(how), past };
  } catch (error) {
    const again = reasonToAskAgain(error);
    if (again === undefined || rounds >= MAX_ROUNDS) throw error;
    const asked = { run: { ...run, ...withJoined(how) }, pending, gate, past, again, answer };
    const result = formQuestion(call, asked);
    if (result === undefined) throw error;
    return { result };
  }
}

const withJoined = ({ replayed, joined }: Question['how']): Started => ({
  replayed,
  ...(joined === undefined ? {} : { joined }),
});

/** The gate of a question, while it is still open. Throws AppError `conflict`, and `forbidden` without the permission. */
async function askedGate(
  { actor, context }: ToolCall,
  run: Run,
  { step_key: stepKey, round, since }: Question,
): Promise<{ pending: PendingGate; gate: Gate }> {
  requireCapability(actor, 'approve_gates');
  const gate = await readGate(context.db, { actor, runId: run.id, stepKey });
  const pending = run.pending_gates.find((each) => each.step_key === stepKey);
  const { decision } = gate;
  if (decision !== null && gate.round === round) {
    const by = decision.by === null ? '' : ` by ${decision.by}`;
    throw conflict(`Gate '${stepKey}' has already been ${gate.status}${by}`);
  }
  if (pending === undefined || gate.round !== round || gate.since !== since) {
    throw conflict(`Gate '${stepKey}' is no longer open as the question showed it: read the run`);
  }
  const { decisions = [] } = pending;
  if (decisions.some(({ member_id, approved }) => approved && member_id === actor.id)) {
    throw conflict(`You have already approved gate '${stepKey}', which needs further approvals`);
  }
  return { pending, gate };
}

async function decide(
  { actor, actions }: ToolCall,
  { question, gate, answer }: { question: Question; gate: Gate; answer: PersonsAnswer },
): Promise<Run> {
  const { run_id: runId, step_key: stepKey, round, since, digest, stale_at } = question;
  if (digest === null) throw conflict(`Gate '${stepKey}' shows nothing that could be decided`);
  const acceptsChanges = answer.approved && stale_at !== null && gate.stale?.at === stale_at;
  return actions.decide(actor, runId, {
    ...answer,
    stepKey,
    digest,
    opening: { round, since },
    elicited: true,
    needsDigest: true,
    ...(acceptsChanges ? { accept_changes: true } : {}),
  });
}

interface Again {
  problem: string;
  shown?: { digest: string; consequences: GateConsequences };
  stale?: Stale;
}

/** Why the person is asked again after a refused decision, and what they have to see now. */
function reasonToAskAgain(error: unknown): Again | undefined {
  if (!(error instanceof AppError)) return undefined;
  const { code, message, current, stale } = error;
  if (code === 'changed' && stale !== undefined) {
    return { problem: 'Nothing was decided yet.', stale: stale as Stale };
  }
  if (code === 'conflict' && current != null) {
    const shown = current as NonNullable<Again['shown']>;
    return {
      problem: 'With this answer something else follows, and nothing was decided yet.',
      shown,
    };
  }
  return code === 'input_invalid' ? { problem: message } : undefined;
}

interface Asked {
  run: StartedRun;
  pending: PendingGate;
  gate: Gate;
  past: Past;
  /** What the person has answered before, and why they are asked again. */
  again?: Again;
  answer?: PersonsAnswer;
}

/** A form that decides the gate; undefined if it cannot be decided that way. */
function formQuestion(call: ToolCall, asked: Asked): InputRequiredResult | undefined {
  const { run, pending, gate, again, answer } = asked;
  const consequences = again?.shown?.consequences ?? gate.consequences;
  const digest = again?.shown?.digest ?? gate.digest;
  if (call.elicitation?.modes.form !== true || !gate.can_decide) return undefined;
  // Who has to sign in decides in the console, not in another program.
  if (pending.signed_in === true || gate.schema_problem !== null) return undefined;
  if (digest === null || consequences === null) return undefined;
  const stale = again?.stale ?? gate.stale;
  const problem = again?.problem;
  const shown = { gate: pending, workflow: run.workflow_name, consequences, stale, problem };
  const message = questionText(shown);
  const fields = formFields(pending.input_schema, answer?.input as JsonObject | undefined);
  if (message === undefined || fields === undefined) return undefined;
  const approve = stale === undefined ? 'Approve' : 'Approve although values have changed';
  return result(call, asked, {
    ...{ kind: 'form', digest, stale_at: stale?.at ?? null },
    request: inputRequired.elicit({ message, requestedSchema: answerSchemaOf(fields, approve) }),
  });
}

/** The address of the gate's page, once per opening. Opening it decides nothing. */
function linkQuestion(call: ToolCall, asked: Asked): InputRequiredResult | undefined {
  const { run, pending, gate, past } = asked;
  if (call.elicitation?.modes.url !== true) return undefined;
  if (past.linked.includes(openingOf({ ...gate, round: gate.round }))) return undefined;
  const url = pageOf(call.context, run.id, pending);
  return result(call, asked, {
    ...{ kind: 'link', digest: null, stale_at: null },
    request: inputRequired.elicitUrl({ message: linkText(pending, run.workflow_name), url }),
  });
}

const openingOf = ({
  step_key,
  round,
  since,
}: Pick<Gate, 'step_key' | 'round' | 'since'>): string => JSON.stringify([step_key, round, since]);

function result(
  { context, actor, elicitation }: ToolCall,
  { run, gate, past }: Asked,
  question: Pick<Question, 'kind' | 'digest' | 'stale_at'> & {
    request: InputRequest;
  },
): InputRequiredResult {
  const { request, ...shown } = question;
  const { sealer } = context;
  if (sealer === undefined || elicitation === undefined) throw new Error('cannot ask');
  const { step_key, round, since } = gate;
  const requestState = sealQuestion(sealer, actor, {
    ...shown,
    ...{ run_id: run.id, step_key, round, since, call: elicitation.call },
    how: { replayed: run.replayed, ...(run.joined === undefined ? {} : { joined: run.joined }) },
    ...{ rounds: past.rounds + 1, linked: past.linked },
    expires_at: Date.now() + ANSWER_MS,
  });
  return inputRequired({ inputRequests: { [QUESTION]: request }, requestState });
}
