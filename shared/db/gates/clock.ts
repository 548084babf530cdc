import { z } from 'zod';
import { gateKinds, type GateVote } from '#shared/contract/gates/gate.ts';
import type { GateCheck } from '#shared/execution.ts';
import type { GateDecision } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';
import { timeoutReason } from '#shared/graph/gates/rejection.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Pool, statement, type Tx } from '#shared/db/pool.ts';
import { waitsToContinue } from '#shared/db/limits/slots.ts';
import { queueReminder } from '#shared/db/slack/messages.ts';
import { queueAlert } from '#shared/db/runs/outbox.ts';
import { acceptsWorkOf, hasKey } from '#shared/db/runs/row.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { readDecisions } from './answers.ts';
import { closeGate } from './close.ts';
import { queueRequests } from './decide-links.ts';
import type { RecheckDifference } from '#shared/contract/gates/recheck.ts';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import { auditedChanges, isFinished } from './recheck-rules.ts';
import type { GateRound, StoredRecheck } from './rechecks.ts';
import type { Situation } from '#shared/graph/schedule/scheduler.ts';
import { isOutdated } from './shown.ts';

/** The maximum number of reminders per gate, so that a short interval does not send alerts forever. */
const MAX_REMINDERS = 50;

/** How long before a deadline a recheck can have ended that counts for it, and how long after its end it counts. */
const DEADLINE_REUSES_MS = 5_000;
const RECENT_MS = 60_000;

const clockedGate = z.object({
  workspace_id: z.string(),
  node_id: z.string(),
  kind: z.enum(gateKinds),
  label: z.string(),
  prompt: z.string(),
  title: z.string().nullable(),
  status: z.string(),
  fails_on_reject: z.boolean(),
  digest: z.string().nullable(),
  input: storedJson<JsonObject | null>(),
  votes: storedJson<GateVote[] | null>(),
  timeout_seconds: z.number().nullable(),
  on_timeout: z.enum(['reject', 'approve', 'fail']).nullable(),
  settings: storedJson<GateSettings | null>(),
  expired: z.boolean(),
  reminds: z.boolean(),
  rechecks: z.boolean(),
  recheck: storedJson<StoredRecheck | null>(),
  /** Whether the last recheck ended for this deadline. */
  recent: z.boolean(),
  situation: storedJson<Situation | null>(),
  outdated: z.boolean(),
});
type ClockedGate = z.infer<typeof clockedGate>;

/** A gate whose deadline approves it, and whose reads must be repeated first. */
export interface UnrecheckedGate extends GateRound {
  workspaceId: string;
  node_id: string;
  settings: GateSettings | null;
  digest: string | null;
}

/** A gate at its deadline that shows something else since another one was decided. */
export interface OutdatedGate {
  step_key: string;
  round: number;
  prompt: string;
  title: string | null;
  input: JsonObject | null;
  settings: GateSettings | null;
  situation: Situation;
}

/**
 * Does what is due at an open gate, by the clock of the database: decides it at its deadline, or queues a reminder.
 * Returns the decision, made by the deadline or a person, or when to check again, or the gate if its reads must be
 * repeated before its deadline approves it, or if it must be found first what it shows now. Idempotent, even after the run has
 * ended: an execution that loses the workflow task in which it ended the run needs the decision again to end itself. A run that
 * waits for a slot gets the decision when it has it.
 */
export async function checkGate(
  db: Pool,
  call: GateCheck & { execution: string; alerts: boolean },
): Promise<{
  decision?: GateDecision;
  wait_ms?: number;
  unrechecked?: UnrecheckedGate;
  outdated?: OutdatedGate;
}> {
  return db.transaction(async (tx) => {
    const { accepted, limited } = await lockRun(tx, call);
    const gate = await readGate(tx, call);
    if (gate === null) return {};
    if (gate.status === 'open') {
      if (!accepted) return {};
      if (!gate.expired) {
        if (gate.reminds) await remind(tx, call, gate);
        return waitOf(tx, call);
      }
      if (gate.outdated) return { outdated: { ...call, ...gate, situation: gate.situation! } };
      const changes = gate.rechecks ? changesOf(gate) : [];
      if (changes === undefined) return { unrechecked: uncheckedOf(call, gate) };
      await timeOut(tx, call, gate, changes);
    }
    if (accepted && limited && (await waitsToContinue(tx, call.run_id))) return {};
    const decisions = await readDecisions(tx, call.run_id);
    const decision = decisions.find(
      ({ step_key, round }) => step_key === call.step_key && round === call.round,
    );
    return decision === undefined ? {} : { decision };
  });
}

/**
 * The maximum number of runs in one result. If more deadlines fall into a few seconds, they are late for other reasons.
 */
const MAX_DUE = 1_000;

/** The ids of the runs with an open gate that is due within `seconds`, earliest first. */
export async function runsDueWithin(db: Pool, seconds: number): Promise<readonly string[]> {
  return db.anyFirst(statement(z.object({ run_id: z.string() }))`
    SELECT run_id FROM gates
    WHERE status = 'open' AND expires_at < clock_timestamp() + ${seconds}::int * interval '1 s'
    ORDER BY expires_at LIMIT ${MAX_DUE}
  `);
}

/** Whether the run accepts work from the execution, and counts for a limit of runs in flight. */
async function lockRun(
  tx: Tx,
  { run_id, execution }: GateCheck & { execution: string },
): Promise<{ accepted: boolean; limited: boolean }> {
  const run = await tx.maybeOne(statement(
    z.object({ accepted: z.boolean(), limited: z.boolean() }),
  )`
    SELECT (${acceptsWorkOf(execution)}) AS accepted, ${hasKey} AS limited FROM runs WHERE id = ${run_id} FOR UPDATE
  `);
  return run ?? { accepted: false, limited: false };
}

const readGate = (tx: Tx, { run_id, step_key, round }: GateCheck): Promise<ClockedGate | null> =>
  tx.maybeOne(statement(clockedGate)`
    SELECT r.workspace_id, g.node_id, g.kind, g.label, g.prompt, g.title, g.status, g.fails_on_reject, g.digest, g.input, g.decisions AS votes,
           (g.settings ->> 'timeout_seconds')::float8 AS timeout_seconds, g.settings ->> 'on_timeout' AS on_timeout,
           coalesce(g.expires_at <= clock_timestamp(), false) AS expired,
           coalesce(g.remind_at <= clock_timestamp(), false) AS reminds, g.settings, g.recheck,
           g.settings ->> 'on_timeout' = 'approve' AND g.settings -> 'recheck' IS NOT NULL AS rechecks,
           coalesce((g.recheck ->> 'finished_at')::timestamptz > greatest(
             g.expires_at - ${DEADLINE_REUSES_MS}::float8 * interval '1 ms',
             clock_timestamp() - ${RECENT_MS}::float8 * interval '1 ms'), false) AS recent,
           g.situation, ${isOutdated} AS outdated
    FROM gates g JOIN runs r ON r.id = g.run_id
    WHERE g.run_id = ${run_id} AND g.step_key = ${step_key} AND g.round = ${round}
  `);

/** What has changed since the gate opened; undefined if that is not known for this deadline. */
function changesOf({ recheck, digest, recent }: ClockedGate): RecheckDifference[] | undefined {
  if (recheck === null || !isFinished(recheck) || !recent) return undefined;
  return recheck.digest === digest ? recheck.differences : undefined;
}

const uncheckedOf = (
  { run_id: runId, step_key, round }: GateCheck,
  { workspace_id: workspaceId, node_id, settings, digest }: ClockedGate,
): UnrecheckedGate => ({ runId, step_key, round, workspaceId, node_id, settings, digest });

/** Decides a gate at its deadline. It approves nothing if what the gate shows has changed: then it rejects. */
async function timeOut(
  tx: Tx,
  call: GateCheck,
  gate: ClockedGate,
  changes: readonly RecheckDifference[],
): Promise<void> {
  const { on_timeout, timeout_seconds, input, votes, digest } = gate;
  const stale = changes.length > 0;
  const timedOut = stale ? 'reject' : on_timeout;
  const late = timeoutReason(timeout_seconds ?? 0);
  const reason = stale ? `${late}, and what it shows has changed` : late;
  const { run_id: runId, step_key, round } = call;
  await closeGate(
    tx,
    { ...gate, runId, step_key, round },
    {
      approved: timedOut === 'approve',
      digest: timedOut === 'approve' ? digest : null,
      by: { id: null, name: null, kind: 'deadline' },
      timedOut,
      reason,
      input,
      votes,
      // What follows was shown for a rejection, not for the deadline.
      ...(stale ? { answer: 'reject' as const } : {}),
    },
  );
  await recordAudit(
    tx,
    { workspaceId: gate.workspace_id, id: null, name: null },
    {
      action: 'gate_timeout',
      targetType: 'run',
      targetId: runId,
      details: {
        ...{ node_id: gate.node_id, step_key, on_timeout, reason },
        ...(stale ? { changes: auditedChanges(changes) } : {}),
      },
    },
  );
}

/** Queues the reminder. The next one is due after the same interval. */
async function remind(
  tx: Tx,
  { run_id, step_key, round, alerts }: GateCheck & { alerts: boolean },
  { node_id: nodeId, prompt }: ClockedGate,
): Promise<void> {
  await tx.query(statement(z.object({}))`
    UPDATE gates SET reminders = reminders + 1,
      remind_at = CASE WHEN reminders + 1 < ${MAX_REMINDERS}
                       THEN clock_timestamp() + (settings ->> 'remind_seconds')::float8 * interval '1 s' END
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND round = ${round}
  `);
  const gate = { runId: run_id, nodeId, stepKey: step_key };
  const text = `Reminder: ${prompt}`;
  await queueAlert(tx, { ...gate, event: 'paused', text, byService: alerts });
  await queueRequests(tx, { runId: run_id, stepKeys: [step_key], reminds: true });
  await queueReminder(tx, { runId: run_id, stepKey: step_key, round });
}

const wait = z.object({ wait_ms: z.number().nullable() });

async function waitOf(
  tx: Tx,
  { run_id, step_key, round }: GateCheck,
): Promise<{ wait_ms?: number }> {
  const { wait_ms } = await tx.one(statement(wait)`
    SELECT CASE WHEN coalesce(expires_at, remind_at) IS NOT NULL THEN greatest(1,
             ceil(extract(epoch FROM least(expires_at, remind_at) - clock_timestamp()) * 1000))::bigint END AS wait_ms
    FROM gates WHERE run_id = ${run_id} AND step_key = ${step_key} AND round = ${round}
  `);
  return wait_ms === null ? {} : { wait_ms };
}
