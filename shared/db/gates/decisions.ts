import { z } from 'zod';
import type { GateVote } from '#shared/contract/gates/gate.ts';
import { AppError, conflict, forbiddenWithout, notFound } from '#shared/errors.ts';
import { withoutNulls } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';
import { storedTime } from '#shared/time.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { waitsToContinue } from '#shared/db/limits/slots.ts';
import { jsonOrNull, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { enqueueDecision, type OutboxRow } from '#shared/db/runs/outbox.ts';
import { hasKey } from '#shared/db/runs/row.ts';
import type { WaitingStep } from '#shared/db/waits/sign-ins.ts';
import { closeGate } from './close.ts';
import type { Decision, Shown, ShownFor } from './decision.ts';
import { findGateToDecide, type GateToDecide, refusalFor } from './gate-to-decide.ts';
import { acceptedChanges, auditedChanges, needsRecheck } from './recheck-rules.ts';
import { useLink } from './decide-links.ts';
import { requireMessage } from '#shared/db/slack/messages.ts';
import { findShown } from './shown.ts';
import { mayStillDecide } from './standing.ts';
import { findWaiting, notApprovable, rejectWait } from './waiting-steps.ts';

/**
 * The outcome of a decision.
 *
 * - `decided`: the gate is decided. `row` notifies the execution; it can be sent now if it is the `first`.
 * - `queued`: the gate is decided. The run waits for a slot, and then gets the decision.
 * - `open`: the gate stays open, because it needs more approvals, or the member has already approved it.
 * - `refused`: the rules of the gate do not let the actor decide it. The attempt is in the audit log.
 * - `failing`: the step was waiting for a sign-in, and fails now.
 * - `unchecked`: nothing is written. The gate has a form: check the input, and decide again with the gate's step key as
 *   `checked`.
 * - `unshown`: nothing is written. The input can change what the gate sets in motion: find out, and decide again with it
 *   as `shown`.
 * - `unrechecked`: nothing is written. The gate has a recheck: repeat its reads, and decide again with the id of that
 *   recheck as `rechecked`.
 */
export type Outcome =
  | { outcome: 'decided'; row: OutboxRow; first: boolean }
  | { outcome: 'queued' }
  | { outcome: 'open' }
  | { outcome: 'refused'; reason: string }
  | { outcome: 'failing' }
  | Unprepared
  | Unrechecked;

/** A decision that needs something first. */
export type Unprepared =
  | { outcome: 'unchecked'; gate: GateToDecide }
  | { outcome: 'unshown'; gate: GateToDecide };

interface Unrechecked {
  outcome: 'unrechecked';
  gate: GateToDecide;
}

/**
 * Records a person's decision at a gate, in one transaction: lock, read, judge, write. All decisions about a run wait
 * for the lock on its row, so each sees the earlier ones: a gate is decided once, by the last approval it needs.
 *
 * Throws AppError `not_found`, `conflict` with the state of the gate, and with what it shows if the digest is of another,
 * `invalid` for a tool call without its digest, and `forbidden` for a member who has lost the permission in the meantime.
 */
export async function decideGate(db: Pool, decision: Decision): Promise<Outcome> {
  return db.transaction(async (tx) => {
    const run = await lockRun(tx, decision);
    const judged = await judge(tx, run, decision);
    if (judged.outcome === 'refused') {
      await recordRefusal(tx, decision, judged);
      return { outcome: 'refused', reason: judged.reason };
    }
    if (judged.outcome === 'waits') {
      await rejectWait(tx, decision, judged.step);
      return { outcome: 'failing' };
    }
    return judged.outcome === 'counts' ? count(tx, decision, { run, gate: judged.gate }) : judged;
  });
}

/**
 * What `decideGate` would return or throw for the decision. Changes nothing: a refusal is not written to the audit log,
 * because no one tried to decide.
 */
export async function judgeDecision(db: Pool, decision: Decision): Promise<Judged> {
  // Waits for a decision in progress, so that its outcome is read.
  return db.transaction(async (tx) => judge(tx, await lockRun(tx, decision, 'share'), decision));
}

const runToDecide = z.object({
  status: z.string(),
  rehearsed: z.boolean(),
  limited: z.boolean(),
});
type RunToDecide = z.infer<typeof runToDecide>;

const locks = { update: sql.fragment`FOR UPDATE`, share: sql.fragment`FOR SHARE` };

/** Locks the run of a gate until the transaction ends. Throws AppError `not_found`. */
export async function lockRun(
  tx: Tx,
  { actor, runId }: Pick<Decision, 'actor' | 'runId'>,
  lock: keyof typeof locks = 'update',
): Promise<RunToDecide> {
  const run = await tx.maybeOne(statement(runToDecide)`
    SELECT status, rehearsal IS NOT NULL AS rehearsed, ${hasKey} AS limited FROM runs
    WHERE id = ${runId} AND workspace_id = ${actor.workspaceId} ${locks[lock]}
  `);
  if (run === null) throw notFound('Run');
  return run;
}

export type Judged =
  | { outcome: 'counts'; gate: GateToDecide }
  | { outcome: 'open' }
  | { outcome: 'refused'; gate: GateToDecide; reason: string }
  | { outcome: 'waits'; step: WaitingStep }
  | Unprepared
  | Unrechecked;

/** Applies the rules in the order of docs/approvals.md, to the rows as they are after the lock. */
async function judge(tx: Tx, run: RunToDecide, decision: Decision): Promise<Judged> {
  const { actor, approved, input } = decision;
  if (!(await mayStillDecide(tx, actor))) throw forbiddenWithout('approve_gates');
  const gate = await findGateToDecide(tx, decision);
  if (gate !== undefined && isReopened(gate, decision)) throw reopened(gate.step_key);
  if (gate !== undefined && hasApproved(gate, decision)) return { outcome: 'open' };
  if (isOpen(run) && gate?.status !== 'open') {
    const step = await findWaiting(tx, decision, gate);
    if (step !== undefined && approved) throw notApprovable(step);
    if (step !== undefined) return { outcome: 'waits', step };
  }
  if (gate === undefined || !isDecidable(run, gate)) {
    if (gate !== undefined && isOutdated(run, gate)) {
      throw changedSince(gate.step_key, await findShown(tx, { runId: decision.runId, ...gate }));
    }
    throw refusalOfState(run, gate, decision);
  }
  const reason = await refusalFor(tx, gate, actor);
  if (reason !== undefined) return { outcome: 'refused', gate, reason };
  if (decision.needsDigest === true && decision.digest === undefined && gate.digest !== null) {
    throw new AppError('invalid', unread(gate.step_key));
  }
  // An approval needs the input that the gate requires. A rejection needs none, but its input must also be valid.
  const asksForInput =
    gate.settings?.input_schema !== undefined && (approved || input !== undefined);
  if (asksForInput && decision.checked !== gate.step_key) return { outcome: 'unchecked', gate };
  if (!isShown(decision, gate)) return { outcome: 'unshown', gate };
  const { shown, digest } = decision;
  if (shown !== undefined && digest !== undefined && digest !== shown.digest) {
    throw changedSince(gate.step_key, shown);
  }
  return { outcome: needsRecheck(decision, gate) ? 'unrechecked' : 'counts', gate };
}

const unread = (stepKey: string): string =>
  `Gate '${stepKey}' has a digest: call get_gate, show the person what the answer sets in motion, and send the digest`;

/** Whether it is known what the gate sets in motion with the input, and after the decisions about other gates. */
function isShown(
  { input, shown }: Decision,
  { kind, step_key, digest, votes, outdated, last_decision: last }: GateToDecide,
): boolean {
  const changes = kind === 'human_gate' && input !== undefined;
  if (digest === null || (!changes && !outdated)) return true;
  if (shown?.step_key !== step_key) return false;
  return shown.basis === digest && shown.votes === votes.length && shown.last === last;
}

/** Whether a decision is refused only because its digest is not that of the gate. */
const isOutdated = (run: RunToDecide, { status, kind, expired }: GateToDecide): boolean =>
  isOpen(run) && !run.rehearsed && status === 'open' && !expired && kind === 'human_gate';

/** `shown`: what the gate sets in motion now. */
function changedSince(stepKey: string, shown: Shown | undefined): AppError {
  const current =
    shown === undefined
      ? {}
      : { current: { digest: shown.digest, consequences: shown.consequences } };
  const detail = `What gate '${stepKey}' sets in motion has changed since you read it: read it again`;
  return new AppError('conflict', detail, current);
}

/** Whether the gate has closed and opened again since the approver saw it. */
const isReopened = ({ round, since }: GateToDecide, { opening }: Decision): boolean =>
  opening !== undefined && (opening.round !== round || opening.since !== storedTime(since));

const reopened = (stepKey: string): AppError =>
  conflict(`Gate '${stepKey}' has opened again since you read it: read it again`);

/** Whether the member's approval already counts: while the gate is open, and after it was approved. */
const hasApproved = ({ status, votes }: GateToDecide, { actor, approved }: Decision): boolean =>
  approved &&
  (status === 'open' || status === 'approved') &&
  actor.id !== null &&
  votes.some((vote) => vote.member_id === actor.id);

const isOpen = ({ status }: RunToDecide): boolean => status === 'running' || status === 'paused';

const isDecidable = (run: RunToDecide, { status, fits, expired }: GateToDecide): boolean =>
  isOpen(run) && !run.rehearsed && status === 'open' && fits && !expired;

/**
 * Why a gate cannot be decided or assigned: because of its own state, or else that of the run. The caller has locked
 * the run.
 */
export function refusalOfState(
  run: RunToDecide,
  gate: GateToDecide | undefined,
  { nodeId, stepKey, digest }: Pick<Decision, 'nodeId' | 'stepKey' | 'digest'>,
): Error {
  if (gate !== undefined) {
    const { step_key: key, status, expired, decided_by_name: name } = gate;
    if (run.rehearsed) {
      return conflict(
        `No one decides the gates of a rehearsal: start another one with '${key}' in its decisions`,
      );
    }
    if (expired) return conflict(`Gate '${key}' has timed out: its deadline has passed`);
    if (status === 'open' && isOpen(run)) {
      return digest === undefined
        ? new AppError('invalid', `Gate '${key}' is a tool call: send its digest with the decision`)
        : conflict(`The digest is not that of the call at gate '${key}': read the run again`);
    }
    if (status === 'approved' || status === 'rejected') {
      const by = name === null ? '' : ` by ${name}`;
      return conflict(`Gate '${key}' has already been ${status}${by}`);
    }
    if (isOpen(run)) {
      return conflict(`Gate '${key}' is not open: the resumed run has not reached it yet`);
    }
  }
  if (!isOpen(run)) return conflict(`Run is ${run.status}, not paused at a gate`);
  const node = nodeId === undefined ? '' : ` at node '${nodeId}'`;
  const step = stepKey === undefined ? '' : ` with step key '${stepKey}'`;
  return conflict(`Run has no open gate${node}${step}`);
}

/**
 * Stores a decision that counts. The last one that the gate needs closes it. An input that changes what the gate sets in
 * motion withdraws earlier approvals, which were for something else.
 */
async function count(
  tx: Tx,
  decision: Decision,
  { run, gate }: { run: RunToDecide; gate: GateToDecide },
): Promise<Outcome> {
  const { approved, runId, shown } = decision;
  const required = gate.settings?.required ?? 1;
  const changes =
    decision.input !== undefined && shown !== undefined && shown.digest !== gate.digest;
  const before = changes ? [] : gate.votes;
  const accepted = acceptedChanges(decision, gate);
  const votes = [...before, voteOf(decision, accepted)];
  const given = decision.input ?? null;
  const input = gate.input === null ? given : { ...gate.input, ...given };
  const closes = !approved || votes.length >= required;
  if (decision.link !== undefined) await useLink(tx, decision.link, { ...gate, approved });
  if (decision.slack !== undefined) await requireMessage(tx, decision.slack, gate);
  if (closes) await close(tx, decision, gate, { votes, input });
  else await keepOpen(tx, runId, gate, { votes, input, shown });
  const withdraws = changes && gate.votes.length > 0;
  await recordVote(tx, decision, gate, {
    ...(required === 1 ? {} : { approvals: approvalsIn(votes), required }),
    ...(required > 1 && withdraws ? { withdrawn: approvalsIn(gate.votes) } : {}),
    ...(accepted === undefined ? {} : { accepted_changes: auditedChanges(accepted) }),
  });
  if (!closes) return { outcome: 'open' };
  if (run.limited && (await waitsToContinue(tx, runId))) return { outcome: 'queued' };
  // The reason for a decision about a tool call belongs to the conversation, which is not part of executions.
  const answer = gate.of_agent ? {} : { input, reason: decision.reason || null };
  const { step_key, round } = gate;
  const payload = withoutNulls({ approved, ...answer, step_key, round }) as JsonObject;
  return { outcome: 'decided', ...(await enqueueDecision(tx, { runId, payload })) };
}

const voteOf = (
  { actor, approved, reason, input, link, slack }: Decision,
  accepted: GateVote['accepted_changes'],
): GateVote => ({
  member_id: actor.id,
  by: actor.name,
  approved,
  at: new Date().toISOString(),
  reason: reason || null,
  ...(link === undefined ? {} : { by_link: true }),
  ...(slack === undefined ? {} : { by_slack: true }),
  ...(input === undefined ? {} : { input }),
  ...(accepted === undefined ? {} : { accepted_changes: accepted }),
});

const approvalsIn = (votes: readonly GateVote[]): number =>
  votes.filter(({ approved }) => approved).length;

interface Collected {
  votes: GateVote[];
  input: JsonObject | null;
  /** What the gate shows from now on. */
  shown?: ShownFor | undefined;
}

async function keepOpen(
  tx: Tx,
  runId: string,
  { step_key, round }: GateToDecide,
  { votes, input, shown }: Collected,
): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE gates SET decisions = ${jsonOrNull(votes)}, input = ${jsonOrNull(input)},
      digest = coalesce(${shown?.digest ?? null}, digest),
      consequences = coalesce(${jsonOrNull(shown?.consequences ?? null)}, consequences),
      items = CASE WHEN ${shown === undefined}::boolean THEN items ELSE ${jsonOrNull(shown?.items ?? null)}::json END
    WHERE run_id = ${runId} AND step_key = ${step_key} AND round = ${round}::int
  `);
}

async function close(
  tx: Tx,
  { runId, actor, approved, reason, changed, shown, link, slack }: Decision,
  gate: GateToDecide,
  { votes, input }: Collected,
): Promise<void> {
  await closeGate(
    tx,
    { ...gate, runId },
    {
      approved,
      by: { id: actor.id, name: actor.name, kind: 'member' },
      byLink: link !== undefined,
      bySlack: slack !== undefined,
      input,
      reason,
      votes: gate.settings === null ? null : votes,
      // What a rejected gate showed is kept, too.
      digest:
        approved || gate.kind === 'human_gate'
          ? (changed?.digest ?? shown?.digest ?? gate.digest)
          : null,
      shown,
      arguments: changed?.arguments,
    },
  );
}

async function recordVote(
  tx: Tx,
  { actor, runId, approved, reason, changed, shown, link, slack, elicited }: Decision,
  { node_id, step_key, tool, digest }: GateToDecide,
  progress: JsonObject,
): Promise<void> {
  await recordAudit(tx, actor, {
    action: approved ? 'approve' : 'reject',
    targetType: 'run',
    targetId: runId,
    details: withoutNulls({
      node_id,
      step_key,
      reason: reason || null,
      tool,
      digest,
      decided_digest: changed?.digest ?? (shown?.digest === digest ? undefined : shown?.digest),
      signed_in: actor.signedIn,
      by_link: link === undefined ? null : true,
      elicited,
      by_slack: slack === undefined ? null : true,
      ...progress,
    }) as JsonObject,
  });
}

async function recordRefusal(
  tx: Tx,
  { actor, runId, approved, link, slack, elicited }: Decision,
  { gate: { node_id, step_key }, reason }: { gate: GateToDecide; reason: string },
): Promise<void> {
  await recordAudit(tx, actor, {
    action: 'decision_refused',
    targetType: 'run',
    targetId: runId,
    details: {
      ...{ node_id, step_key, approved, reason },
      ...(link && { by_link: true }),
      ...(elicited && { elicited }),
      ...(slack && { by_slack: true }),
    },
  });
}
